"""Tables of README.md and docs/: what scripts measure is written between markers there, with version, date and machine.

A page has a place for each table, found by its name:

    <!-- table: NAME -->
    <!-- end of table -->
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import re
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("ALIGNER_DATA", ROOT.parent / "shared" / "data"))


def parser_of(description: str | None) -> argparse.ArgumentParser:
    """A parser with the options that the scripts share."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the corpora (ALIGNER_DATA)")
    parser.add_argument("--write", action="store_true", help="write the tables into README.md and docs/ too")
    return parser


def describe_machine(peers: Sequence[str] = ()) -> str:
    """Processor, cores, and the versions that decide the speed.  peers: further packages to name, where installed."""
    from aligner._version import __version__
    from corpora.threads import cores

    info = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    processor = names[0] if names else platform.processor()
    libraries = []
    for name in ("numpy", "scipy", "numba", *peers):
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


def put_table(page: Path, name: str, content: str) -> None:
    """Write content between the markers of this name.  ValueError where the page does not have them once."""
    text = page.read_text("utf-8")
    place = re.compile(rf"(<!-- table: {re.escape(name)} -->\n).*?(<!-- end of table -->)", re.DOTALL)
    text, found = place.subn(lambda markers: f"{markers[1]}{content}\n{markers[2]}", text)
    if found != 1:
        raise ValueError(f"{page} has {found} places for a table {name!r}")
    page.write_text(text, "utf-8")


def publish(name: str, table: str, *, pages: Sequence[str], write: bool, peers: Sequence[str] = ()) -> None:
    """Print a table, and write it into these pages, with what it was measured by and on."""
    arguments = [re.sub(r"(^|=)/.*/", r"\1", word) for word in sys.argv[1:]]  # files elsewhere go by their names
    script = Path(sys.argv[0]).name
    command = " ".join(["python" if script.endswith(".py") else "bash", f"scripts/{script}", *arguments])
    print(f"\n{table}\n", flush=True)
    if write:
        content = f"{table}\n\n<sub>`{command}`: {describe_machine(peers)}</sub>"
        for page in pages:
            put_table(ROOT / page, name, content)
            print(f"written to {page}", flush=True)
