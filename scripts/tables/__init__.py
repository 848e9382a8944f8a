"""What scripts measure: files of docs/results/, with command, version, date and machine, and tables of pages.

A page has a place for each table, found by its name, and may show only those rows where a pattern is found:

    <!-- table: NAME -->
    <!-- end of table -->
    <!-- table: NAME, rows: PATTERN -->
    <!-- end of table -->

The modules of this package have a function for each command of ``scripts/measure.py``.
"""

import argparse
import csv
import datetime
import os
import platform
import re
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = Path(os.environ.get("ALIGNER_DATA", ROOT.parent / "shared" / "data"))
IMAGES = ROOT / "docs" / "images"
RESULTS = ROOT / "docs" / "results"

TABLES: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {}
"""Command -> the tables that it makes, and the function that makes them."""


def table(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as a command, which has the name of the first of its tables.

    It returns the text of this table, or a dictionary of texts by the names of tables. Its parameters, which all have
    defaults but for files, are the options of the command.
    """

    def register(make: Callable[..., Any]) -> Callable[..., Any]:
        TABLES[names[0]] = names, make
        return make

    return register


def parser_of(description: str | None) -> argparse.ArgumentParser:
    """A parser with the options that the scripts share."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the corpora (ALIGNER_DATA)")
    parser.add_argument("--write", action="store_true", help="write what is made into README.md and docs/ too")
    return parser


def describe_machine() -> str:
    """Processor, cores, and the versions that decide the speed."""
    from aligner._version import __version__
    from corpora.threads import cores

    info = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    processor = names[0] if names else platform.processor()
    libraries = []
    for name in ("numpy", "scipy", "numba", "eflomal", "jax", "POT"):
        try:
            libraries.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    date = datetime.datetime.now(datetime.UTC).date()
    return (
        f"aligner {__version__}, {date}, {processor}, {cores()} cores, Python {platform.python_version()}, "
        f"{', '.join(libraries)}"
    )


def markdown(header: Sequence[str], rows: Sequence[Sequence[object]], words: int = 1) -> str:
    """A Markdown table.  words: its first columns that are of words; the others are of numbers."""
    rule = ["---" if column < words else "---:" for column in range(len(header))]
    return "\n".join("| " + " | ".join(map(str, cells)) + " |" for cells in (header, rule, *rows))


def with_interval(figure: float, low: float, high: float) -> str:
    """A figure with the ends of its interval, to one decimal: more would promise what intervals of ± 1 do not hold."""
    return f"{figure:.1f} [{low:.1f}, {high:.1f}]"


def pyplot() -> Any:
    """matplotlib without a window, in the style of all pictures; imported when something is drawn."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.style.use("tableau-colorblind10")
    plt.rcParams.update({"font.size": 9, "axes.grid": True, "grid.alpha": 0.25, "grid.linewidth": 0.5})
    return plt


def cells_of(content: str) -> list[list[list[str]]]:
    """The rows of each table in a text of Markdown, the first its head, as plain text."""
    found = []
    for block in re.findall(r"(?:^\|.*\n?)+", content, re.MULTILINE):
        lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in block.splitlines()]
        plain = [[cell.replace("`", "").replace("<br>", "; ").strip() for cell in line] for line in lines]
        found.append([plain[0], *plain[2:]])
    return found


def put_results(name: str, content: str, about: str) -> list[Path]:
    """Write each table of a text into a file.  about: its first line, a comment."""
    paths = []
    for number, rows in enumerate(cells_of(content), 1):
        paths.append(RESULTS / (f"{name}.csv" if number == 1 else f"{name}-{number}.csv"))
        with paths[-1].open("w", encoding="utf-8", newline="") as file:
            file.write(f"# {about}\n")
            csv.writer(file, lineterminator="\n").writerows(rows)
    return paths


def results(name: str) -> list[dict[str, str]]:
    """The rows of a file of results, by the heads of its columns."""
    with (RESULTS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        next(file)
        return [*csv.DictReader(file)]


def put_table(page: Path, name: str, content: str) -> bool:
    """Write content between the markers of this name; False where the page does not have them."""
    text = page.read_text("utf-8")
    place = re.compile(rf"(<!-- table: {re.escape(name)}(?:, rows: (.*?))? -->\n).*?(<!-- end of table -->)", re.DOTALL)

    def shown(markers: re.Match[str]) -> str:
        kept = content
        if pattern := markers[2]:
            kept = re.sub(
                r"(?:^\|.*\n){3,}",
                lambda found: "".join(rows_with(pattern, found[0])),
                f"{content}\n",
                flags=re.MULTILINE,
            )
        kept = re.sub("\n{3,}", "\n\n", kept.strip())
        return f"{markers[1]}{kept}\n{markers[3]}"

    text, found = place.subn(shown, text)
    if found:
        page.write_text(text, "utf-8")
    return found > 0


def rows_with(pattern: str, table: str) -> list[str]:
    """The lines of a table where a pattern is found, below its head; none where it is found in none."""
    head, rule, *rows = table.splitlines(keepends=True)
    kept = [row for row in rows if re.search(pattern, row)]
    return [head, rule, *kept] if kept else []


def publish(name: str, content: str, *, write: bool) -> None:
    """Print a table, and write it into its file and its page; a sentence has no file."""
    arguments = [re.sub(r"(^|=)/.*/", r"\1", word) for word in sys.argv[1:]]  # files elsewhere go by their names
    script = Path(sys.argv[0]).name
    command = " ".join(["python" if script.endswith(".py") else "bash", f"scripts/{script}", *arguments])
    print(f"\n{content}\n", flush=True)
    if write:
        made = put_results(name, content, f"{command}: {describe_machine()}")
        written = put_pages(name, content, made, f"{datetime.datetime.now(datetime.UTC).date()}")
        print(f"written to {', '.join(written)}", flush=True)


def put_pages(name: str, content: str, files: Sequence[Path], date: str) -> list[str]:
    """Write a table into its page, below it links to its files; returns what was written."""
    written = [file.name for file in files]
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        links = [f"[{file.name}]({file.relative_to(page.parent).as_posix()})" for file in files]
        note = f"\n\n<sub>{', '.join(links)}, {date}</sub>" if links else ""
        written += [page.name] * put_table(page, name, content + note)
    return written
