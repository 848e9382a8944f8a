"""What much text costs: drawn pairs, counted and aligned.

Pairs are drawn from a model by scripts/make_corpus.py. What a step took is kept in the folder beside what it made, and
not measured again.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from peers import ALIGNER, OF_RU_MAXRSS, execute

from tables import ROOT, markdown, table

Step = dict[str, float]

EVERY = 2.0
"""Seconds between two looks at the processes."""
LOOKS = 100
"""At fewer of them there is no telling how the speed changes."""

PAIRS = 100_000, 400_000, 1_600_000, 5_000_000, 20_000_000


def drawn(folder: Path, name: str, model: Path, pairs: int, mean: int) -> tuple[Path, Path]:
    """Files of so many pairs; few of them are the first of many.  mean: words of a source sentence."""
    texts = folder / f"{name}.en", folder / f"{name}.fr"
    draw = sys.executable, ROOT / "scripts" / "make_corpus.py", model, *texts, "--pairs", pairs, "--mean", mean
    if not texts[1].exists():
        execute(draw)
    return texts


@table("bulk")
def bulk(model: Path, folder: Path, pairs: int = 20_000_000, sample: int = 1_000_000, mean: int = 7) -> str:
    """Drawn pairs, a sample of which is counted, all aligned by two processes of one thread.

    At first: the second tenth of the pairs; at last: the ninth.
    model: to draw from.  folder: of the text.  pairs: to draw.  sample: pairs.  mean: words of a source sentence.
    """
    texts, sampled = drawn(folder, "big", model, pairs, mean), folder / "sampled.model"
    train = *ALIGNER, "train", *texts, "--sample", sample, "-m", sampled, "-q"
    align = *ALIGNER, "align", *texts, "-m", sampled, "--threads", 1, "-q"
    took = {
        f"`train --sample {sample:,}`": once(folder, "train", lambda: whole(train, pairs)),
        "`align`, one process, a shard of 40": once(folder, "one", lambda: shards(align, folder, pairs, 40, 1)),
        "`align`, two processes, a shard of 40 each": once(folder, "few", lambda: shards(align, folder, pairs, 40, 2)),
        "`align`, two processes, all": once(folder, "two", lambda: shards(align, folder, pairs, 2, 2)),
    }
    rows = []
    for name, step in took.items():
        speeds = [f"{step[key]:,.0f}" if key in step else "" for key in ("begin", "end")]
        figures = f"{step['wall']:,.0f}", f"{step['cpu']:,.0f}", f"{step['peak']:.2f}"
        rows.append([name, f"{step['pairs']:,}", *figures, f"{step['pairs'] / step['wall']:,.0f}", *speeds])
    header = ["step", "pairs", "seconds", "CPU s", "GiB a process", "pairs/s", "pairs/CPU s at first", "at last"]
    of = {"text": texts, "links": folder.glob("*.of.2.by.2.links"), "model": [sampled]}
    size = {name: sum(file.stat().st_size for file in files) / (1 << 30) for name, files in of.items()}
    note = (
        f"Source sentences have {mean} words in the mean, as subtitles do. The text takes {size['text']:.1f} GiB, "
        f"its links {size['links']:.1f}, the model {size['model']:.2f}."
    )
    return f"{markdown(header, rows)}\n\n{note}"


def once(folder: Path, name: str, measure: Callable[[], Step]) -> Step:
    """What a step took, now or the last time."""
    kept = folder / f"{name}.json"
    if not kept.exists():
        kept.write_text(json.dumps(measure()), "utf-8")
    step: Step = json.loads(kept.read_text("utf-8"))
    print(name, step, flush=True)
    return step


def whole(command: Sequence[object], pairs: int) -> Step:
    run = execute(command)
    return {"pairs": pairs, "wall": run.wall, "cpu": run.cpu, "peak": run.peak}


def shards(command: Sequence[object], folder: Path, pairs: int, of: int, processes: int) -> Step:
    """Some shards, each a process, all at once."""
    began, running = time.perf_counter(), {}
    for number in range(1, processes + 1):
        output = folder / f"{number}.of.{of}.by.{processes}.links"
        parts = map(str, [*command, "--shard", f"{number}/{of}", "-o", output, "--resume"])
        process = subprocess.Popen([*parts], env={**os.environ, "PYTHONPATH": str(ROOT)})
        running[process.pid] = Path(f"{output}.partial.journal")
    cpu, peak, wall, seen = 0.0, 0.0, 0.0, []
    journals = [*running.values()]
    while running:
        time.sleep(EVERY)
        seen.append((cpu + sum(map(cpu_of, running)), sum(map(done, journals))))
        for pid in [*running]:
            found, status, usage = os.wait4(pid, os.WNOHANG)
            if found:
                if status:
                    sys.exit(f"{' '.join(map(str, command))} failed")
                cpu, peak = cpu + usage.ru_utime + usage.ru_stime, max(peak, usage.ru_maxrss / OF_RU_MAXRSS)
                wall = time.perf_counter() - began
                del running[pid]
    total = pairs * processes // of
    step = {"pairs": total, "wall": wall, "cpu": cpu, "peak": peak}
    if len(seen) > LOOKS:
        step |= {"begin": speed(seen, total // 10, total // 5), "end": speed(seen, 4 * total // 5, 9 * total // 10)}
    return step


def done(journal: Path) -> int:
    """Pairs that an output has so far, by its journal; 0 where it is not begun, or whole."""
    try:
        last = json.loads(journal.read_text("utf-8").splitlines()[-1])
    except (OSError, ValueError, IndexError):
        return 0
    return int(last.get("counts", [0])[0])


def cpu_of(pid: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def speed(seen: Sequence[tuple[float, int]], first: int, last: int) -> float:
    """Pairs per CPU second between two numbers of pairs."""
    ends = [min((at for at, pairs in seen if pairs >= bound), default=seen[-1][0]) for bound in (first, last)]
    return (last - first) / max(ends[1] - ends[0], 1e-9)


def trained(folder: Path, model: Path, pairs: int, mean: int) -> Step:
    texts = drawn(folder, f"{pairs}", model, pairs, mean)
    return whole((*ALIGNER, "train", *texts, "-m", folder / f"{pairs}.model", "--force", "-q"), pairs)


@table("training")
def training(model: Path, folder: Path, pairs: tuple[int, ...] = PAIRS, mean: int = 25) -> str:
    """CPU time and memory of training by the number of pairs, and a law of both.

    The law is a + b · pairs with the least relative errors, of all runs but the last, which checks it.
    model: to draw from.  folder: of the texts.  pairs: of each run.  mean: words of a source sentence.
    """
    sizes, runs, laws = np.sort(pairs), [], []
    for n in sizes.tolist():
        runs.append(once(folder, f"{n}", partial(trained, folder, model, n, mean)))
    for what in ("cpu", "peak"):
        measured = np.array([run[what] for run in runs])
        terms = np.stack([np.ones(len(sizes)), sizes], axis=1) / measured[:, None]
        law, *_ = np.linalg.lstsq(terms[:-1], np.ones(len(sizes) - 1), rcond=None)
        laws.append(law[0] + law[1] * sizes)
    rows = [
        [f"{n:,}", f"{run['cpu']:,.0f}", f"{cpu:,.0f}", f"{run['peak']:.2f}", f"{peak:.2f}"]
        for n, run, cpu, peak in zip(sizes, runs, *laws, strict=True)
    ]
    return markdown(["pairs", "CPU s", "by the law", "GiB", "by the law"], rows, words=0)
