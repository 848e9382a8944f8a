r"""Unsupervised aligners side by side: ours, eflomal and fast_align on the same files, in one go, on the same cores.

Each aligner is a process of its own: `aligner align SRC TGT --unsupervised` (the weights that come with the program
have seen gold sets), `eflomal-align` where it is installed, and fast_align where --fast-align tells its path; all with
their defaults, eflomal and fast_align in both directions.
The text of the gold sets is added to the corpus, as published systems do (pairs of the corpus that are gold pairs
are left out), and only its lines are judged.

The links of two directions are combined by every method of `corpora.symmetrize`; the table shows the best on these very
gold sets and its name, which favours the peers, and JSON lines show all. eflomal draws new random numbers at every run:
the run of median AER is shown. Not counted for the peers: combining the directions. Peak memory is that of the largest
process of each aligner. CPU seconds are those of all its processes.

    python scripts/bench_aligners.py --pairs 10000,100000
    python scripts/bench_aligners.py --corpus ../shared/data/cs-en/text --gold ../shared/data/cs-en/gold-dev \
        --source en --target cs --pairs all
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

from machine import describe_machine

from aligner.report.evaluation import count, scores
from corpora.alignment import Links, PairLinks
from corpora.formats.pharaoh import parse_pharaoh
from corpora.readers import open_corpus
from corpora.symmetrize import METHODS, symmetrize

PROGRAMS = Path(sys.executable).parent
UNSUPERVISED = ("--unsupervised",)
RUNS = 3
"""Of aligners that draw random numbers."""

OF_RU_MAXRSS = 2**30 if sys.platform == "darwin" else 2**20


@dataclass(frozen=True)
class Text:
    """Files of a corpus followed by gold sets.  joint: one file of ``source ||| target`` lines."""

    source: Path
    target: Path
    joint: Path
    pairs: int
    gold: Links


@dataclass(frozen=True)
class Cost:
    """What a process took, with the processes it started.  peak: GiB of the largest of them."""

    wall: float
    cpu: float
    peak: float

    def __add__(self, other: Cost) -> Cost:
        """One after the other."""
        return Cost(self.wall + other.wall, self.cpu + other.cpu, max(self.peak, other.peak))


@dataclass(frozen=True)
class Score:
    """Of links, as fractions."""

    aer: float
    f1: float
    precision: float
    recall: float


@dataclass(frozen=True)
class Run:
    """One run of an aligner.  results: by the name of what makes links of its output, its default first."""

    system: str
    pairs: int
    cores: int
    cost: Cost
    results: dict[str, Score]

    @property
    def best(self) -> str:
        return min(self.results, key=lambda name: self.results[name].aer)


def write_text(options: argparse.Namespace, pairs: int | None, folder: Path) -> Text:
    """The first pairs of the corpus (all: None) and the gold sets after them."""
    cased, languages = options.cased, {"source": options.source, "target": options.target}
    case: Callable[[bytes], bytes] = (lambda line: line) if cased else (lambda line: line.decode().lower().encode())
    added, links = [], []
    for prefix in options.gold:
        gold = open_corpus(prefix, **languages)
        added += [(case(source), case(target)) for _, source, target in gold.texts()]
        links += gold.links()
    left_out = set(added)

    def lines() -> Iterator[tuple[bytes, bytes]]:
        own = ((case(source), case(target)) for _, source, target in open_corpus(options.corpus, **languages).texts())
        yield from islice((line for line in own if line not in left_out), pairs)
        yield from added

    total = 0
    files = [folder / name for name in ("text.source", "text.target", "text.joint")]
    with files[0].open("wb") as sources, files[1].open("wb") as targets, files[2].open("wb") as joint:
        for source, target in lines():
            sources.write(source + b"\n")
            targets.write(target + b"\n")
            joint.write(source + b" ||| " + target + b"\n")
            total += 1
    return Text(*files, total, Links.from_pairs(links))


def execute(command: Sequence[str | Path], output: Path | None = None) -> Cost:
    """Run a program to its end, its standard output into a file; exits where it fails."""
    start = time.perf_counter()
    with (output or Path(os.devnull)).open("wb") as file:
        process = subprocess.Popen([str(part) for part in command], stdout=file, stderr=subprocess.PIPE)
        assert process.stderr is not None
        messages = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{messages.decode(errors='replace')[-2000:]}")
    return Cost(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / OF_RU_MAXRSS)


def gold_links(file: Path, text: Text) -> list[frozenset[tuple[int, int]]]:
    """The links of the last lines of a file, those of the gold sets."""
    with file.open("rb") as lines:
        last = list(islice(lines, text.pairs - len(text.gold), None))
    return [pair.sure for pair in parse_pharaoh(iter(last), file)]


def judge(text: Text, links: Sequence[frozenset[tuple[int, int]]]) -> Score:
    found = scores(count(text.gold, Links.from_pairs(PairLinks(pair, frozenset()) for pair in links)).total())
    return Score(float(found.aer), float(found.f1), float(found.precision), float(found.recall))


def judge_directions(text: Text, forward: Path, reverse: Path) -> dict[str, Score]:
    directions = list(zip(gold_links(forward, text), gold_links(reverse, text), strict=True))
    return {
        method: judge(text, [frozenset(symmetrize(one, other, method)) for one, other in directions])
        for method in METHODS
    }


def ours(text: Text, folder: Path, arguments: Sequence[str]) -> tuple[Cost, dict[str, Score]]:
    output = folder / "ours.links"
    command = [sys.executable, "-m", "aligner.cli", "align", text.source, text.target, "-q", *arguments]
    cost = execute([*command, "--force", "-o", output])
    return cost, {" ".join(arguments): judge(text, gold_links(output, text))}


def eflomal(text: Text, folder: Path) -> tuple[Cost, dict[str, Score]]:
    forward, reverse = folder / "eflomal.forward", folder / "eflomal.reverse"
    program = shutil.which("eflomal-align", path=f"{PROGRAMS}{os.pathsep}{os.environ.get('PATH', '')}")
    assert program is not None
    cost = execute([program, "--overwrite", "-s", text.source, "-t", text.target, "-f", forward, "-r", reverse])
    return cost, judge_directions(text, forward, reverse)


def fast_align(program: Path, text: Text, folder: Path) -> tuple[Cost, dict[str, Score]]:
    forward, reverse = folder / "fast_align.forward", folder / "fast_align.reverse"
    command = [program, "-i", text.joint, "-d", "-o", "-v"]  # as its README recommends
    cost = execute(command, forward) + execute([*command, "-r"], reverse)
    return cost, judge_directions(text, forward, reverse)


def show(run: Run) -> None:
    score, cost = run.results[run.best], run.cost
    print(
        f"{run.pairs:>9,} {run.system:<12}{run.best:<22}{100 * score.aer:>6.2f}{100 * score.f1:>7.2f}"
        f"{cost.cpu:>9.1f}{cost.wall:>9.1f}{run.cores:>6}{1e6 * cost.cpu / run.pairs:>9.0f}{cost.peak:>7.2f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    hansards = "../shared/data/hansards"
    parser.add_argument("--corpus", default=f"{hansards}/train", help="prefix of the two texts")
    parser.add_argument("--pairs", default="10000,100000", help="first pairs of the corpus, several sizes; or all")
    parser.add_argument(
        "--gold", action="append", metavar="PREFIX", help="repeatable; gold-train, gold-dev and gold-trial of Hansards"
    )
    parser.add_argument("--source", help="language (file suffix) of the source side; of the prefixes' first otherwise")
    parser.add_argument("--target", help="language (file suffix) of the target side")
    parser.add_argument("--cased", action="store_true", help="do not lower-case the text")
    parser.add_argument("--systems", default="ours,eflomal,fast_align", help="those that are not there are left out")
    parser.add_argument("--fast-align", type=Path, metavar="PATH", help="the program")
    parser.add_argument("--runs", type=int, default=RUNS, help="of eflomal")
    parser.add_argument("--cores", help="to run on, such as 0,1; those of this process otherwise")
    parser.add_argument("--one-core", action="store_true", help="ours on one of the cores as well")
    parser.add_argument(
        "--with", dest="settings", action="append", default=[], metavar="OPTIONS",
        help="ours once more with these options in place of --unsupervised, such as '--decoding=union'; repeatable",
    )  # fmt: skip
    parser.add_argument("--jsonl", type=Path, metavar="FILE", help="append every run, with all results")
    options = parser.parse_args()
    options.settings = [UNSUPERVISED, *(settings.split() for settings in options.settings)]
    options.gold = options.gold or [f"{hansards}/{name}" for name in ("gold-train", "gold-dev", "gold-trial")]
    cores = {int(core) for core in options.cores.split(",")} if options.cores else os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)  # of this process and of all it starts
    wanted = options.systems.split(",")
    found = shutil.which("eflomal-align", path=f"{PROGRAMS}{os.pathsep}{os.environ.get('PATH', '')}")
    if "eflomal" in wanted and found is None:
        print("eflomal is not installed", file=sys.stderr)
        wanted.remove("eflomal")
    if "fast_align" in wanted and options.fast_align is None:
        wanted.remove("fast_align")

    def told(system: str, text: Text, taken: set[int], result: tuple[Cost, dict[str, Score]]) -> Run:
        run = Run(system, text.pairs, len(taken), *result)
        if options.jsonl is not None:
            record = {
                "corpus": options.corpus,
                "gold": options.gold,
                "machine": machine,
                "best": run.best,
                **asdict(run),
            }
            with options.jsonl.open("a") as file:
                file.write(json.dumps(record) + "\n")
        return run

    machine = describe_machine()
    print(machine)
    print(f"{'pairs':>9} {'system':<12}{'links':<22}{'AER':>6}{'F1':>7}{'CPU s':>9}{'wall s':>9}"
          f"{'cores':>6}{'µs/pair':>9}{'GiB':>7}")  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "ours" in wanted:
            for settings in options.settings:  # compiles
                ours(write_text(options, 100, folder), folder, settings)
        for size in options.pairs.split(","):
            text = write_text(options, None if size == "all" else int(size), folder)
            if "ours" in wanted:
                for settings in options.settings:
                    show(told("ours", text, cores, ours(text, folder, settings)))
                if options.one_core:
                    one = {min(cores)}
                    os.sched_setaffinity(0, one)
                    show(told("ours", text, one, ours(text, folder, UNSUPERVISED)))
                    os.sched_setaffinity(0, cores)
            if "eflomal" in wanted:
                runs = [told("eflomal", text, cores, eflomal(text, folder)) for _ in range(options.runs)]
                show(sorted(runs, key=lambda run: run.results[run.best].aer)[(len(runs) - 1) // 2])
            if "fast_align" in wanted:
                show(told("fast_align", text, cores, fast_align(options.fast_align, text, folder)))


if __name__ == "__main__":
    main()
