"""How cost grows with the text: CPU time a pair and memory, the table and the picture of docs/speed.md.

    python scripts/growth.py --fast-align PATH --write          # to 5,000,000 pairs: an hour and a half
    python scripts/growth.py --sizes 100,1000,10000

The text is the Hansards. Beyond their 674,324 pairs they come again, with a new form of each word that is there once or
twice, so that the vocabulary grows as that of new text does. eflomal and fast_align align both directions; they take
part up to the sizes that an evening allows.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

from speed import ALIGNER, Run, Text, execute, run_eflomal, run_fast_align
from tables import ROOT, markdown, parser_of, publish

PAGE, IMAGE = "docs/speed.md", ROOT / "docs" / "images" / "growth.png"
SIZES = "100,1000,10000,100000,674324,5000000"
MOST = {"eflomal": 674_324, "fast_align": 100_000}


def copies(lines: list[str]) -> Iterator[str]:
    """The lines without end; words that they have once or twice are others each time."""
    seen = Counter(word for line in lines for word in line.split())
    yield from lines
    for number in count(2):
        for line in lines:
            yield " ".join(f"{word}{number}" if seen[word] < 3 else word for word in line.split()) + "\n"


def write_text(data: Path, pairs: int, folder: Path) -> Text:
    from corpora.links import Links
    from corpora.readers import open_corpus

    files = [folder / name for name in ("text.en", "text.fr", "text.joint")]
    corpus = list(open_corpus(data / "hansards" / "train").texts())
    for side, file in enumerate(files[:2], 1):
        with file.open("w", encoding="utf-8") as lines:
            lines.writelines(islice(copies([line[side].decode().lower() + "\n" for line in corpus]), pairs))
    source, target = (file.open(encoding="utf-8") for file in files[:2])
    with source, target, files[2].open("w", encoding="utf-8") as joint:
        joint.writelines(f"{a[:-1]} ||| {b}" for a, b in zip(source, target, strict=True))
    return Text(files[0], files[1], files[2], pairs, Links.from_pairs([]))


def measure(text: Text, folder: Path, program: Path | None) -> dict[str, Run]:
    files, model = (text.source, text.target), folder / "model"
    align = (*ALIGNER, "align", "-q", "--force", *files, "-o", folder / "links")
    runs = {
        "align": execute(align),
        "train": execute((*ALIGNER, "train", "-q", "--force", *files, "-m", model)),
        "align -m": execute((*align, "-m", model)),
    }
    if text.pairs <= MOST["eflomal"] and (run := run_eflomal(text, folder)):
        runs["eflomal"] = run
    if text.pairs <= MOST["fast_align"] and program is not None:
        runs["fast_align"] = run_fast_align(text, folder, program)
    return runs


def draw(found: dict[int, dict[str, Run]]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for name in dict.fromkeys(name for runs in found.values() for name in runs):
        sizes = [size for size, runs in found.items() if name in runs]
        dashes = "--" if name in MOST else "-"
        axes[0].loglog(sizes, [found[size][name].cpu for size in sizes], dashes, marker=".", label=name)
        axes[1].loglog(sizes, [found[size][name].peak for size in sizes], dashes, marker=".")
    for place, label in zip(axes, ("CPU seconds", "GiB at the peak"), strict=True):
        place.set(xlabel="pairs", ylabel=label)
        place.grid(alpha=0.25, linewidth=0.5)
    figure.legend(loc="outside upper center", ncols=5, frameon=False, fontsize=8)
    figure.savefig(IMAGE, dpi=90)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--sizes", default=SIZES, help="pairs")
    parser.add_argument("--fast-align", type=Path, metavar="PATH", help="the program")
    options = parser.parse_args()
    found: dict[int, dict[str, Run]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measure(write_text(options.data, 300, folder), folder, None)  # compiles
        for size in map(int, options.sizes.split(",")):
            found[size] = measure(write_text(options.data, size, folder), folder, options.fast_align)
            print(f"{size:,}", {name: (round(run.cpu, 2), round(run.peak, 3)) for name, run in found[size].items()})
    names = list(dict.fromkeys(name for runs in found.values() for name in runs))

    def cell(run: Run | None, size: int) -> str:
        return "" if run is None else f"{1000 * run.cpu / size:.3g} ms, {run.peak:.2f} GiB"

    header = ["pairs", *(name if name in MOST else f"`{name}`" for name in names)]
    rows = [[f"{size:,}", *(cell(runs.get(name), size) for name in names)] for size, runs in found.items()]
    publish("growth", markdown(header, rows, words=0), pages=[PAGE], write=options.write, peers=["eflomal"])
    if options.write:
        draw(found)


if __name__ == "__main__":
    main()
