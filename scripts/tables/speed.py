"""What commands and other aligners cost, as processes side by side on the Hansards."""

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count, islice
from pathlib import Path

from peers import ALIGNER, Run, Text, directions, execute, judged, run_peers

import aligner
from corpora.bitext import read_bitext
from corpora.links import Links
from corpora.normalize import Normalizer
from corpora.readers import open_corpus
from features.cooccurrence import count_cooccurrences
from tables import DATA, markdown, table, with_interval

COUNTS = "bias,association,position,orthography,competition,neighbours"
SIZES = 10_000, 100_000
TO_GROW = 100, 1_000, 10_000, 100_000, 674_324, 5_000_000
MOST = {"eflomal": 674_324, "fast_align": 100_000}
"""Pairs that other aligners align in `growth`."""
SAMPLES = 10_000, 100_000


def hansards(data: Path, pairs: int, folder: Path) -> Text:
    """The first pairs of the Hansards, then gold-train, gold-trial and gold-dev, whose links are kept."""
    corpus, *gold = (
        open_corpus(data / "hansards" / name) for name in ("train", "gold-train", "gold-trial", "gold-dev")
    )
    texts = [*islice(corpus.texts(), pairs), *(line for part in gold for line in part.texts())]
    lines = ([side.decode() for side in sides] for _, *sides in texts)
    return Text.write(folder, lines, Links.from_pairs(gold[-1].links()))


def ours(text: Text, data: Path, folder: Path) -> dict[str, Run]:
    """Each command with its run; the models stay in the folder."""
    files, gold = (text.source, text.target), ("--gold", data / "hansards" / "gold-train")
    train, align = (*ALIGNER, "train", "-q", "--force", *files, *gold, "-m"), (*ALIGNER, "align", "-q", *files)
    commands = {
        "align SRC TGT": align,
        "align --unsupervised": (*align, "--unsupervised"),
        "train --gold (100 pairs)": (*train, folder / "all.model"),
        "align -m": (*align, "-m", folder / "all.model"),
        "train --gold, counts": (*train, folder / "counts.model", "--set", f"families={COUNTS}"),
        "align -m, counts": (*align, "-m", folder / "counts.model"),
    }
    runs, links = {}, folder / "ours.links"
    for name, command in commands.items():
        runs[name] = execute(command, links)
        if name.startswith("align"):
            runs[name] = judged(runs[name], text, links)
    return runs


def median_of_peers(text: Text, folder: Path, repeats: int, fast_align: Path | None) -> dict[str, Run]:
    """Runs of the other aligners that are here; eflomal draws new numbers each time: the run of median AER."""
    found: dict[str, list[Run]] = {}
    for number in range(repeats):
        for name, run in run_peers(text, folder, None if number else fast_align).items():
            found.setdefault(name, []).append(judged(run, text, *directions(folder, name)))
    return {name: sorted(runs, key=lambda run: run.aer or 0.0)[(len(runs) - 1) // 2] for name, runs in found.items()}


def library(text: Text, model_file: Path) -> list[list[str]]:
    """Reading, counting and one pair a call, in this process."""
    corpus, model = open_corpus((text.source, text.target)), aligner.load(model_file)
    pairs = [(a.decode().split(), b.decode().split()) for _, a, b in islice(corpus.texts(), 500)]
    for source, target in pairs[:100]:  # reads the arrays, compiles
        model.align(source, target)
    start = [time.perf_counter()]
    bitext = read_bitext([corpus], Normalizer(), Normalizer())
    start.append(time.perf_counter())
    count_cooccurrences(bitext)
    start.append(time.perf_counter())
    for source, target in pairs:
        model.align(source, target)
    start.append(time.perf_counter())
    called = {"read_bitext": text.pairs, "count_cooccurrences": text.pairs, "model.align, a pair a call": 500}
    rows = []
    for (name, n), began, ended in zip(called.items(), start, start[1:], strict=False):
        rows.append([name, f"{n:,}", f"{ended - began:.2f}", f"{n / (ended - began):,.0f}"])
    return rows


@table("commands", "library", "cost")
def commands(
    data: Path = DATA, sizes: tuple[int, ...] = SIZES, runs: int = 1, fast_align: Path | None = None
) -> dict[str, str]:
    """Time, memory and AER of the commands and of other aligners; calls from Python; and the table of README.

    eflomal takes part where `eflomal-align` is installed, fast_align where its path is given; both with their defaults,
    in both directions. The gold sets' text is added to the corpus, lower-cased, and gold-dev is judged.
    sizes: pairs of the Hansards.  runs: of eflomal, of which that of median AER is shown.  fast_align: the program.
    """
    rows, calls = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours(hansards(data, 300, folder), data, folder)  # compiles
        for size in sizes:
            text = hansards(data, size, folder)
            found = {f"`aligner {command}`": run for command, run in ours(text, data, folder).items()}
            found |= median_of_peers(text, folder, runs, fast_align)
            for command, run in found.items():
                error = "" if run.aer is None else with_interval(run.aer, *run.ends)
                cost = f"{run.wall:.1f}", f"{run.cpu:.1f}", f"{run.peak:.2f}"
                rows.append([command, f"{text.pairs:,}", *cost, f"{text.pairs / run.wall:,.0f}", error])
                print(*rows[-1], flush=True)
            calls = calls or library(text, folder / "all.model")
    compared = [found.get(name) for name in ("fast_align", "eflomal", "`aligner align SRC TGT`")]
    figures = {
        "AER in %, 95 % interval": lambda run: with_interval(run.aer, *run.ends),
        "CPU seconds": lambda run: f"{run.cpu:.1f}",
        "GiB": lambda run: f"{run.peak:.2f}",
    }
    short = [[name, *("" if run is None else of(run) for run in compared)] for name, of in figures.items()]
    heads = [f"{text.pairs:,} pairs of English and French", "fast_align", "eflomal", "`aligner`"]
    header = ["process", "pairs", "seconds", "CPU s", "GiB", "pairs/s", "AER of gold-dev"]
    return {
        "commands": markdown(header, rows),
        "library": markdown(["call", "pairs", "seconds", "pairs/s"], calls),
        "cost": markdown(heads, short),
    }


def copies(lines: list[Sequence[str]]) -> Iterator[list[str]]:
    """The pairs without end; words that a side has once or twice are others each time."""
    seen = [Counter(word for line in side for word in line.split()) for side in zip(*lines, strict=True)]
    for number in count(1):
        for line in lines:
            yield [
                " ".join(f"{word}{number}" if number > 1 and words[word] < 3 else word for word in side.split())
                for words, side in zip(seen, line, strict=True)
            ]


def grown(text: Text, folder: Path, fast_align: Path | None) -> dict[str, Run]:
    """The runs of a size, with the other aligners that take part in it."""
    files, model = (text.source, text.target), folder / "model"
    align = (*ALIGNER, "align", "-q", "--force", *files, "-o", folder / "links")
    runs = {
        "align": execute(align),
        "train": execute((*ALIGNER, "train", "-q", "--force", *files, "-m", model)),
        "align -m": execute((*align, "-m", model)),
    }
    if text.pairs <= MOST["eflomal"]:
        runs |= run_peers(text, folder, fast_align if text.pairs <= MOST["fast_align"] else None)
    return runs


@table("growth")
def growth(data: Path = DATA, sizes: tuple[int, ...] = TO_GROW, fast_align: Path | None = None) -> str:
    """CPU time a pair and memory by the pairs of text; up to 5,000,000 an hour and a half.

    The text is the Hansards. Beyond their 674,324 pairs they come again, with a new form of each word that is there
    once or twice, so that the vocabulary grows as that of new text does. eflomal and fast_align align both directions;
    they take part up to the sizes that an evening allows.
    sizes: pairs.  fast_align: the program.
    """
    corpus = open_corpus(data / "hansards" / "train").texts()
    lines, found = [[side.decode().lower() for side in sides] for _, *sides in corpus], {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def measure(size: int, program: Path | None) -> dict[str, Run]:
            return grown(Text.write(folder, islice(copies(lines), size), Links.from_pairs([])), folder, program)

        measure(300, None)  # compiles
        for size in sizes:
            found[size] = measure(size, fast_align)
            print(f"{size:,}", {name: (round(run.cpu, 2), round(run.peak, 3)) for name, run in found[size].items()})
    names = list(dict.fromkeys(name for runs in found.values() for name in runs))

    def cell(run: Run | None, size: int) -> str:
        return "" if run is None else f"{1000 * run.cpu / size:.3g} ms, {run.peak:.2f} GiB"

    header = ["pairs", *(name if name in MOST else f"`{name}`" for name in names)]
    rows = [[f"{size:,}", *(cell(runs.get(name), size) for name in names)] for size, runs in found.items()]
    return markdown(header, rows, words=0)


@table("sample")
def sample(data: Path = DATA, pairs: int = 674_324) -> str:
    """What counting a part of the Hansards costs, and the AER of gold-dev.

    The text of gold-dev stands among the whole; a sample has hardly any of it.
    pairs: of the Hansards.
    """
    gold, rows = data / "hansards" / "gold-dev", []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text, model, links = hansards(data, pairs, folder), folder / "model", folder / "links"
        for counted in (*(size for size in SAMPLES if size < text.pairs), text.pairs):
            train = *ALIGNER, "train", "-q", "--force", text.source, text.target, "-m", model
            run = execute((*train, "--sample", counted))
            execute((*ALIGNER, "align", "-q", f"{gold}.en", f"{gold}.fr", "-m", model), links)
            found = aligner.evaluate(f"{gold}.wa", links)
            size = model.stat().st_size / (1 << 20)
            rows.append([f"{counted:,}", f"{100 * found.aer:.2f}", f"{run.cpu:.0f}", f"{run.peak:.2f}", f"{size:.0f}"])
            print(*rows[-1], flush=True, file=sys.stderr)
    header = [f"pairs counted, of {text.pairs:,}", "AER", "CPU s of `train`", "GiB", "MiB of the model"]
    return markdown(header, rows, words=0)
