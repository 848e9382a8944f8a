"""The table of bulk in docs/pipelines.md: 20 million drawn pairs, a sample counted, all aligned by two processes.

    python scripts/bench_bulk.py my.model --folder /data/bulk --write

The pairs are drawn from the model by scripts/make_corpus.py. What a step took is kept in the folder beside what it made
and not measured again. A process that aligns has one thread. At first: the second tenth of the pairs; at last: the
ninth.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from speed import ALIGNER, OF_RU_MAXRSS, execute
from tables import ROOT, markdown, parser_of, publish

EVERY = 2.0
"""Seconds between two looks at the processes."""
LOOKS = 100
"""At fewer of them there is no telling how the speed changes."""


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--pairs", type=int, default=20_000_000)
    parser.add_argument("--sample", type=int, default=1_000_000)
    parser.add_argument("--mean", type=int, default=7, help="words of a source sentence")
    asked = parser.parse_args()
    folder, pairs = asked.folder, asked.pairs
    texts, sampled = (folder / "big.en", folder / "big.fr"), folder / "sampled.model"
    draw = sys.executable, str(ROOT / "scripts" / "make_corpus.py"), asked.model, *texts, "--pairs", pairs
    train = *ALIGNER, "train", *texts, "--sample", asked.sample, "-m", sampled, "-q"
    align = *ALIGNER, "align", *texts, "-m", sampled, "--threads", 1, "-q"
    if not texts[1].exists():
        execute((*draw, "--mean", asked.mean))
    took = {
        f"`train --sample {asked.sample:,}`": once(folder, "train", lambda: whole(train, pairs)),
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
    size = sum(text.stat().st_size for text in texts) / (1 << 30)
    out = sum(file.stat().st_size for file in folder.glob("*.of.2.by.2.links")) / (1 << 30)
    note = (
        f"Source sentences have {asked.mean} words in the mean, as subtitles do. The text takes {size:.1f} GiB, "
        f"its links {out:.1f}, the model {sampled.stat().st_size / (1 << 30):.2f}."
    )
    publish("bulk", f"{markdown(header, rows)}\n\n{note}", pages=["docs/pipelines.md"], write=asked.write)


def once(folder: Path, name: str, measure: Any) -> dict[str, Any]:
    """What a step took, now or the last time."""
    kept = folder / f"{name}.json"
    if not kept.exists():
        kept.write_text(json.dumps(measure()), "utf-8")
    step: dict[str, Any] = json.loads(kept.read_text("utf-8"))
    print(name, step, flush=True)
    return step


def whole(command: Sequence[object], pairs: int) -> dict[str, Any]:
    run = execute(command)
    return {"pairs": pairs, "wall": run.wall, "cpu": run.cpu, "peak": run.peak}


def shards(command: Sequence[object], folder: Path, pairs: int, of: int, processes: int) -> dict[str, Any]:
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


if __name__ == "__main__":
    main()
