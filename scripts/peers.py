"""Commands and other aligners as processes, side by side, and what they cost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from gold import aer
from tables import ROOT

import aligner
from corpora.formats.pharaoh import parse_pharaoh
from corpora.links import Links, PairLinks
from corpora.symmetrize import METHODS, symmetrize

OF_RU_MAXRSS = 2**30 if sys.platform == "darwin" else 2**20
ALIGNER = (sys.executable, "-m", "aligner")


@dataclass(frozen=True)
class Text:
    """Files of text, the last pairs of which have gold.  joint: one file of ``source ||| target`` lines."""

    source: Path
    target: Path
    joint: Path
    pairs: int
    gold: Links

    @classmethod
    def write(cls, folder: Path, lines: Iterable[Sequence[str]], gold: Links) -> Text:
        """Write pairs of lines, lower-cased."""
        paths, pairs = [folder / name for name in ("source", "target", "joint")], 0
        files = [path.open("w", encoding="utf-8") for path in paths]
        for pairs, line in enumerate(lines, 1):  # noqa: B007
            pair = [side.lower() for side in line]
            for file, text in zip(files, (*pair, " ||| ".join(pair)), strict=True):
                file.write(f"{text}\n")
        for file in files:
            file.close()
        return cls(*paths, pairs, gold)


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
    result = aligner.evaluate(text.gold, best_links(text, *outputs))
    return replace(run, aer=100 * result.aer, ends=[100 * end for end in result.intervals["aer"]])


def best_links(text: Text, *outputs: Path, error: Callable[[Links], float] | None = None) -> Links:
    """Links of the gold pairs.  outputs: one file of links, or two directions, combined by the best of all methods.

    error: by which they are the best; by default AER.
    """
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


def run_eflomal(text: Text, folder: Path) -> Run | None:
    """Both directions, into eflomal.forward and eflomal.reverse; None where it is not installed."""
    folders = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    program = shutil.which("eflomal-align", path=folders)
    if program is None:
        print("eflomal is not installed", file=sys.stderr)
        return None
    outputs = "-f", folder / "eflomal.forward", "-r", folder / "eflomal.reverse"
    return execute((program, "--overwrite", "-s", text.source, "-t", text.target, *outputs))


def run_fast_align(text: Text, folder: Path, program: Path | None) -> Run | None:
    """Both directions, one after the other, into fast_align.forward and fast_align.reverse; None without a program."""
    if program is None:
        return None
    command = (program, "-i", text.joint, "-d", "-o", "-v")  # as its README recommends
    return execute(command, folder / "fast_align.forward") + execute((*command, "-r"), folder / "fast_align.reverse")


def directions(folder: Path, name: str) -> list[Path]:
    return [folder / f"{name}.{way}" for way in ("forward", "reverse")]


def run_peers(text: Text, folder: Path, fast_align: Path | None) -> dict[str, Run]:
    """The runs of the other aligners that are here."""
    runs = {"eflomal": run_eflomal(text, folder), "fast_align": run_fast_align(text, folder, fast_align)}
    return {name: run for name, run in runs.items() if run is not None}
