"""Measure a table of README.md or docs/, and write it there.

    python scripts/measure.py TABLE [--write]
    python scripts/measure.py TABLE --help          # what it measures, and its options

Most need the corpora of --data, or ALIGNER_DATA.
"""

import argparse
import inspect
import pkgutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import tables

OPTIONS = {"data": "folder of the corpora (ALIGNER_DATA)", "write": "write the tables into README.md and docs/ too"}


def registered() -> dict[str, tuple[tuple[str, ...], Callable[..., Any]]]:
    """The commands of all modules of tables, by name, with the tables that they make and their functions."""
    for module in pkgutil.iter_modules(tables.__path__):
        import_module(f"tables.{module.name}")
    return dict(sorted(tables.TABLES.items()))


def add_option(parser: argparse.ArgumentParser, one: inspect.Parameter) -> None:
    """Give a command an option for a parameter: of the type of its default, a file where there is none."""
    flag, help_ = f"--{one.name.replace('_', '-')}", OPTIONS.get(one.name, "default: %(default)s")
    if one.default is one.empty:
        parser.add_argument(one.name, type=Path)
    elif one.default is False:
        parser.add_argument(flag, action="store_true", help=help_)
    elif isinstance(one.default, tuple):
        parser.add_argument(flag, nargs="*", type=type((*one.default, "")[0]), default=one.default, help=help_)
    else:
        kind = Path if one.default is None else type(one.default)
        parser.add_argument(flag, type=kind, default=one.default, help=help_)


def main() -> None:
    known, raw = registered(), {"formatter_class": argparse.RawDescriptionHelpFormatter}
    parser = argparse.ArgumentParser(description=__doc__, **raw)
    commands = parser.add_subparsers(dest="table", metavar="TABLE", required=True)
    for name, (_, make) in known.items():
        about = inspect.getdoc(make) or ""
        command = commands.add_parser(name, help=about.splitlines()[0].replace("%", "%%"), description=about, **raw)
        parameters = inspect.signature(make).parameters
        for one in parameters.values():
            add_option(command, one)
        if "write" not in parameters:
            command.add_argument("--write", action="store_true", help=OPTIONS["write"])
    asked = vars(parser.parse_args())
    names, make = known[asked.pop("table")]
    write = asked["write"] if "write" in inspect.signature(make).parameters else asked.pop("write")
    made = make(**asked)
    for name, content in (made if isinstance(made, dict) else {names[0]: made}).items():
        tables.publish(name, content, write=write)


if __name__ == "__main__":
    main()
