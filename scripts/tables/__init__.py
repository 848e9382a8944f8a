"""Tables of README.md and docs/: what scripts measure is written between markers there, with version, date and machine.

A page has a place for each table, found by its name:

    <!-- table: NAME -->
    <!-- end of table -->

The modules of this package have a function for each command of ``scripts/measure.py``.
"""

import argparse
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


def put_table(page: Path, name: str, content: str) -> bool:
    """Write content between the markers of this name; False where the page does not have them."""
    text = page.read_text("utf-8")
    place = re.compile(rf"(<!-- table: {re.escape(name)} -->\n).*?(<!-- end of table -->)", re.DOTALL)
    text, found = place.subn(lambda markers: f"{markers[1]}{content}\n{markers[2]}", text)
    if found:
        page.write_text(text, "utf-8")
    return found > 0


def publish(name: str, content: str, *, write: bool) -> None:
    """Print a table, and write it into its page, with what it was measured by and on; a sentence has no such line."""
    arguments = [re.sub(r"(^|=)/.*/", r"\1", word) for word in sys.argv[1:]]  # files elsewhere go by their names
    script = Path(sys.argv[0]).name
    command = " ".join(["python" if script.endswith(".py") else "bash", f"scripts/{script}", *arguments])
    print(f"\n{content}\n", flush=True)
    if write:
        note = f"\n\n<sub>`{command}`: {describe_machine()}</sub>" if content.startswith("|") else ""
        pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
        written = [page.name for page in pages if put_table(page, name, content + note)]
        print(f"written to {', '.join(written)}", flush=True)
