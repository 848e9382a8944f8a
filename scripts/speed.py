"""The tables of docs/speed.md, and that of cost in README: commands and other aligners as processes, side by side.

    python scripts/speed.py --write                            # Hansards of 10,000 and 100,000 pairs
    python scripts/speed.py --write --full                     # 674,324 pairs too, three runs of eflomal
    python scripts/speed.py --sizes 10000 --fast-align PATH

eflomal takes part where `eflomal-align` is installed, fast_align where its path is given; both with their defaults, in
both directions. The gold sets' text is added to the corpus, lower-cased, and gold-dev is judged. eflomal draws new
random numbers at every run: of several runs that of median AER is shown.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tables import ROOT, markdown, parser_of, publish, with_interval

if TYPE_CHECKING:
    from corpora.links import Links

PAGE, README = "docs/speed.md", "README.md"
COUNTS = "bias,association,position,orthography,competition,neighbours"
OF_RU_MAXRSS = 2**30 if sys.platform == "darwin" else 2**20
ALIGNER = (sys.executable, "-m", "aligner")


@dataclass(frozen=True)
class Text:
    """Files of a corpus followed by gold sets.  joint: one file of ``source ||| target`` lines.  gold: of the last."""

    source: Path
    target: Path
    joint: Path
    pairs: int
    gold: Links


@dataclass(frozen=True)
class Run:
    """What a process took, with the processes it started.  peak: GiB of the largest.

    aer, ends: in percent, and of its 95 % interval, where it was judged.
    """

    wall: float
    cpu: float
    peak: float
    aer: float | None = None
    ends: Sequence[float] = ()

    def __add__(self, other: Run) -> Run:
        """One after the other."""
        return Run(self.wall + other.wall, self.cpu + other.cpu, max(self.peak, other.peak))


def write_text(data: Path, pairs: int, folder: Path) -> Text:
    """The first pairs of the Hansards, then gold-train, gold-trial and gold-dev, whose links are kept."""
    from corpora.links import Links
    from corpora.readers import open_corpus

    hansards = data / "hansards"
    gold = [open_corpus(hansards / f"gold-{part}") for part in ("train", "trial", "dev")]
    lines = [*islice(open_corpus(hansards / "train").texts(), pairs), *(line for part in gold for line in part.texts())]
    source, target = ([line[side].decode().lower() + "\n" for line in lines] for side in (1, 2))
    files = [folder / name for name in ("text.en", "text.fr", "text.joint")]
    files[0].write_text("".join(source), "utf-8")
    files[1].write_text("".join(target), "utf-8")
    files[2].write_text("".join(f"{a[:-1]} ||| {b}" for a, b in zip(source, target, strict=True)), "utf-8")
    return Text(files[0], files[1], files[2], len(lines), Links.from_pairs(gold[-1].links()))


MEASURE = """if True:
    import json, os, subprocess, sys, time
    began, process = time.perf_counter(), subprocess.Popen(sys.argv[2:])
    _, status, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss
    os.write(int(sys.argv[1]), json.dumps(took).encode())
    sys.exit(os.waitstatus_to_exitcode(status))
"""
"""A small process between: the memory of the one that starts a program is counted with the program's."""


def execute(command: Sequence[object], output: Path | None = None) -> Run:
    """Run a program to its end, its standard output into a file; exits where it fails."""
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        "PYTHONDONTWRITEBYTECODE": "",  # as where pip has compiled all modules
    }  # fmt: skip
    parts, (told, tell) = [str(part) for part in command], os.pipe()
    with (output or Path(os.devnull)).open("wb") as file, os.fdopen(told, "rb") as report:
        measured = sys.executable, "-S", "-c", MEASURE, str(tell), *parts
        done = subprocess.run(measured, stdout=file, stderr=subprocess.PIPE, env=environment, pass_fds=[tell])
        os.close(tell)
        if done.returncode != 0:
            sys.exit(f"{' '.join(parts)} failed:\n{done.stderr.decode(errors='replace')[-2000:]}")
        wall, cpu, peak = json.loads(report.read())
    return Run(wall, cpu, peak / OF_RU_MAXRSS)


def judged(run: Run, text: Text, *outputs: Path) -> Run:
    """The run with the AER of `best_links`."""
    from gold import judge

    result = judge(text.gold, best_links(text, *outputs))
    return Run(run.wall, run.cpu, run.peak, 100 * result.aer, [100 * end for end in result.intervals["aer"]])


def best_links(text: Text, *outputs: Path, error: Callable[[Links], float] | None = None) -> Links:
    """Links of the gold pairs.  outputs: one file of links, or two directions, combined by the best of all methods.

    error: by which they are the best; by default AER.
    """
    from gold import aer

    from corpora.formats.pharaoh import parse_pharaoh
    from corpora.links import Links, PairLinks
    from corpora.symmetrize import METHODS, symmetrize

    read = []
    for output in outputs:
        with output.open("rb") as lines:
            last = islice(lines, text.pairs - len(text.gold), None)
            read.append([pair.sure for pair in parse_pharaoh(last, output)])
    answers = [read[0]]
    if len(read) == 2:
        answers = [[frozenset(symmetrize(*pair, method)) for pair in zip(*read, strict=True)] for method in METHODS]
    found = [Links.from_pairs(PairLinks(pair) for pair in answer) for answer in answers]
    return min(found, key=error or (lambda links: aer(text.gold, links)))


def ours(text: Text, data: Path, folder: Path) -> dict[str, Run]:
    """Each command with its run; the models stay in the folder."""
    learnt, counts, links = (folder / name for name in ("all.model", "counts.model", "ours.links"))
    files, gold = (text.source, text.target), ("--gold", data / "hansards" / "gold-train")
    train, align = (*ALIGNER, "train", "-q", "--force"), (*ALIGNER, "align", "-q", *files)
    runs = {
        "align SRC TGT": execute(align, links),
        "align --unsupervised": execute((*align, "--unsupervised"), folder / "bare.links"),
        "train --gold (100 pairs)": execute((*train, *files, *gold, "-m", learnt)),
        "align -m": execute((*align, "-m", learnt), folder / "learnt.links"),
        "train --gold, counts": execute((*train, *files, *gold, "-m", counts, "--set", f"families={COUNTS}")),
        "align -m, counts": execute((*align, "-m", counts), folder / "counts.links"),
    }
    for name, file in (
        ("align SRC TGT", links),
        ("align --unsupervised", folder / "bare.links"),
        ("align -m", folder / "learnt.links"),
        ("align -m, counts", folder / "counts.links"),
    ):
        runs[name] = judged(runs[name], text, file)
    return runs


def run_eflomal(text: Text, folder: Path) -> Run | None:
    """Both directions, into eflomal.forward and eflomal.reverse; None where it is not installed."""
    program = shutil.which(
        "eflomal-align", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    )
    if program is None:
        print("eflomal is not installed", file=sys.stderr)
        return None
    outputs = "-f", folder / "eflomal.forward", "-r", folder / "eflomal.reverse"
    return execute((program, "--overwrite", "-s", text.source, "-t", text.target, *outputs))


def run_fast_align(text: Text, folder: Path, program: Path) -> Run:
    """Both directions, one after the other, into fast_align.forward and fast_align.reverse."""
    command = (program, "-i", text.joint, "-d", "-o", "-v")  # as its README recommends
    return execute(command, folder / "fast_align.forward") + execute((*command, "-r"), folder / "fast_align.reverse")


def judged_peers(text: Text, folder: Path, repeats: int, program: Path | None) -> dict[str, Run]:
    """Runs of the other aligners that are here."""
    runs, directions = {}, ("forward", "reverse")
    outputs = {name: [folder / f"{name}.{way}" for way in directions] for name in ("eflomal", "fast_align")}
    of_eflomal = [judged(run, text, *outputs["eflomal"]) for _ in range(repeats) if (run := run_eflomal(text, folder))]
    if of_eflomal:
        runs["eflomal"] = sorted(of_eflomal, key=lambda run: run.aer or 0.0)[(repeats - 1) // 2]
    if program is not None:
        runs["fast_align"] = judged(run_fast_align(text, folder, program), text, *outputs["fast_align"])
    return runs


def library(text: Text, model_file: Path) -> list[list[str]]:
    """Reading, counting and one pair a call, in this process."""
    import aligner
    from corpora.bitext import read_bitext
    from corpora.normalize import Normalizer
    from corpora.readers import open_corpus
    from features.cooccurrence import count_cooccurrences

    corpus = open_corpus((text.source, text.target))
    model = aligner.load(model_file)
    pairs = [(a.decode().split(), b.decode().split()) for _, a, b in islice(corpus.texts(), 500)]
    start = [time.perf_counter()]
    bitext = read_bitext([corpus], Normalizer(), Normalizer())
    start.append(time.perf_counter())
    count_cooccurrences(bitext)
    start.append(time.perf_counter())
    for source, target in pairs[:100]:  # reads the arrays, compiles
        model.align(source, target)
    start.append(time.perf_counter())
    for source, target in pairs:
        model.align(source, target)
    start.append(time.perf_counter())
    took = {
        "read_bitext": (0, text.pairs),
        "count_cooccurrences": (1, text.pairs),
        "model.align, a pair a call": (3, 500),
    }
    return [
        [name, f"{n:,}", f"{start[i + 1] - start[i]:.2f}", f"{n / (start[i + 1] - start[i]):,.0f}"]
        for name, (i, n) in took.items()
    ]


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--sizes", default="10000,100000", help="pairs of the Hansards")
    parser.add_argument("--full", action="store_true", help="674,324 pairs too, and three runs of eflomal")
    parser.add_argument("--runs", type=int, default=1, help="of eflomal")
    parser.add_argument("--fast-align", type=Path, metavar="PATH", help="the program")
    options = parser.parse_args()
    sizes = "10000,100000,674324" if options.full else options.sizes
    rows, calls = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours(write_text(options.data, 300, folder), options.data, folder)  # compiles
        for size in map(int, sizes.split(",")):
            text = write_text(options.data, size, folder)
            runs = {f"`aligner {command}`": run for command, run in ours(text, options.data, folder).items()}
            runs |= judged_peers(text, folder, 3 if options.full else options.runs, options.fast_align)
            for command, run in runs.items():
                error = "" if run.aer is None else with_interval(run.aer, *run.ends)
                cost = f"{run.wall:.1f}", f"{run.cpu:.1f}", f"{run.peak:.2f}"
                rows.append([command, f"{text.pairs:,}", *cost, f"{text.pairs / run.wall:,.0f}", error])
                print(*rows[-1], flush=True)
            calls = calls or library(text, folder / "all.model")
    header = ["process", "pairs", "seconds", "CPU s", "GiB"]
    settings = {"write": options.write, "peers": ["eflomal"]}
    publish("commands", markdown([*header, "pairs/s", "AER of gold-dev"], rows), pages=[PAGE], **settings)
    publish("library", markdown(["call", "pairs", "seconds", "pairs/s"], calls), pages=[PAGE], **settings)
    compared = {name: runs.get(name) for name in ("fast_align", "eflomal", "`aligner align SRC TGT`")}
    figures = {
        "AER in %, 95 % interval": lambda run: with_interval(run.aer, *run.ends),
        "CPU seconds": lambda run: f"{run.cpu:.1f}",
        "GiB": lambda run: f"{run.peak:.2f}",
    }
    short = [[name, *("" if run is None else of(run) for run in compared.values())] for name, of in figures.items()]
    heads = [f"{text.pairs:,} pairs of English and French", "fast_align", "eflomal", "`aligner`"]
    publish("cost", markdown(heads, short), pages=[README], **settings)


if __name__ == "__main__":
    main()
