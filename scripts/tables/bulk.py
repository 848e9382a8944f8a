"""What much text costs, counted and aligned.

What a step took is kept in the folder beside what it made, and not measured again.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from peers import ALIGNER, execute

from corpora.readers import open_corpus
from tables import DATA, ROOT, markdown, table
from tables.speed import copies

Step = dict[str, float]

EVERY = 2.0
"""Seconds between two looks at the processes."""
LOOKS = 100
"""At fewer of them there is no telling how the speed changes."""

PAIRS = 100_000, 400_000, 1_600_000, 5_000_000, 20_000_000


def drawn(folder: Path, model: Path, pairs: int, mean: int) -> tuple[Path, Path]:
    """Files of so many pairs; few of them are the first of many.  mean: words of a source sentence."""
    texts = folder / f"{pairs}.en", folder / f"{pairs}.fr"
    draw = sys.executable, ROOT / "scripts" / "make_corpus.py", model, *texts, "--pairs", pairs, "--mean", mean
    if not texts[1].exists():
        execute(draw)
    return texts


def again(texts: Sequence[Path], files: Sequence[Path], pairs: int) -> None:
    """Write the pairs of a text, which come again as in `copies`."""
    lines = [[side.decode() for side in sides] for _, *sides in open_corpus(texts).texts()]
    with files[0].open("w", encoding="utf-8") as source, files[1].open("w", encoding="utf-8") as target:
        for one, other in islice(copies(lines), pairs):
            source.write(f"{one}\n")
            target.write(f"{other}\n")


@table("bulk")
def bulk(folder: Path, data: Path = DATA, pairs: int = 20_000_000) -> str:
    """Europarl's pairs again and again, counted and aligned whole, by two processes of one thread; and shards of it.

    After its 1.8 million pairs Europarl comes again, with a new form of each word that is there once or twice. At
    first: the second tenth of the pairs; at last: the ninth. Ends where lines are missing, or a shard of 40 differs
    from the same lines of the whole.
    folder: of the text and the links.  pairs: of the text.
    """
    files = folder / "source", folder / "target"
    if not files[1].exists():
        again([data / "europarl" / f"train.{side}.xz" for side in ("en", "fr")], files, pairs)
    model = folder / "bulk.model"
    train = *ALIGNER, "train", *files, "-m", model, "--force", "-q"
    align = *ALIGNER, "align", *files, "-m", model, "--threads", 1, "-q"
    took = {
        "`train`": once(folder, "train", lambda: whole(train, pairs)),
        "`align`, two processes": once(folder, "whole", lambda: shards(align, folder, pairs, 2, (1, 2))),
        "`align`, the first and the last shard of 40": once(
            folder, "few", lambda: shards(align, folder, pairs, 40, (1, 40))
        ),
    }
    check(folder, pairs)
    rows = []
    for name, step in took.items():
        speeds = [f"{step[key]:,.0f}" if key in step else "" for key in ("begin", "end")]
        figures = f"{step['wall']:,.0f}", f"{step['cpu']:,.0f}", f"{step['peak']:.2f}"
        rows.append([name, f"{step['pairs']:,}", *figures, f"{step['pairs'] / step['wall']:,.0f}", *speeds])
    header = ["step", "pairs", "seconds", "CPU s", "GiB a process", "pairs/s", "pairs/CPU s at first", "at last"]
    return markdown(header, rows)


def check(folder: Path, pairs: int) -> None:
    """End where a line of links is missing, or the shards of 40 are not the same lines of the halves."""
    first, last = ((folder / f"{n}.of.40.links").read_bytes() for n in (1, 40))
    halves = [folder / f"{n}.of.2.links" for n in (1, 2)]
    lines = 0
    for half in halves:
        with half.open("rb") as file:
            lines += sum(part.count(b"\n") for part in iter(partial(file.read, 1 << 24), b""))
    with halves[0].open("rb") as begin, halves[1].open("rb") as end:
        end.seek(-len(last), os.SEEK_END)
        if lines != pairs or (begin.read(len(first)), end.read()) != (first, last):
            sys.exit(f"{folder}: {lines:,} lines of {pairs:,}, or shards differ")


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


def shards(command: Sequence[object], folder: Path, pairs: int, of: int, numbers: Sequence[int]) -> Step:
    """Some shards, each a process, all at once."""
    began, running = time.perf_counter(), {}
    for number in numbers:
        output = folder / f"{number}.of.{of}.links"
        parts = map(str, [*command, "--shard", f"{number}/{of}", "-o", output, "--resume"])
        process = subprocess.Popen([*parts], env={**os.environ, "PYTHONPATH": str(ROOT)})
        running[process.pid] = Path(f"{output}.partial.journal")
    cpu, peak, wall, seen = 0.0, 0.0, 0.0, []
    journals = [*running.values()]
    while running:
        time.sleep(EVERY)
        seen.append((cpu + sum(map(cpu_of, running)), sum(map(done, journals))))
        peak = max(peak, *map(peak_of, running))
        for pid in [*running]:
            found, status, usage = os.wait4(pid, os.WNOHANG)
            if found:
                if status:
                    sys.exit(f"{' '.join(map(str, command))} failed")
                cpu += usage.ru_utime + usage.ru_stime
                wall = time.perf_counter() - began
                del running[pid]
    total = pairs * len(numbers) // of
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


def peak_of(pid: int) -> float:
    """GiB of a process at its peak so far; 0 where it has just ended."""
    found = re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{pid}/status").read_text("utf-8"))
    return int(found[1]) / 2**20 if found else 0.0


def speed(seen: Sequence[tuple[float, int]], first: int, last: int) -> float:
    """Pairs per CPU second between two numbers of pairs."""
    ends = [min((at for at, pairs in seen if pairs >= bound), default=seen[-1][0]) for bound in (first, last)]
    return (last - first) / max(ends[1] - ends[0], 1e-9)


def trained(folder: Path, model: Path, pairs: int, mean: int) -> Step:
    texts = drawn(folder, model, pairs, mean)
    return whole((*ALIGNER, "train", *texts, "-m", folder / f"{pairs}.model", "--force", "-q"), pairs)


@table("training")
def training(model: Path, folder: Path, pairs: tuple[int, ...] = PAIRS, mean: int = 25) -> str:
    """CPU time and memory of training by the number of pairs, and a law of both.

    Pairs are drawn from a model by scripts/make_corpus.py. The law is a + b · pairs with the least relative errors, of
    all runs but the last, which checks it.
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
    return markdown(["pairs", "CPU s", "CPU s by the law", "GiB", "GiB by the law"], rows, words=0)
