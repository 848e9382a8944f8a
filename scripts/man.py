"""The man page of all commands, docs/aligner.1, made from their parser; the wheel installs it.

    python scripts/man.py [--write]

Without --write it is printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer
from tables import ROOT, parser_of

import aligner
from aligner.cli import app

PAGE = ROOT / "docs" / "aligner.1"

EXIT_CODES = {
    "0": "All went well.",
    "1": "Bad input or a bad setting: a line on standard error says what and where.",
    "2": "Wrong usage.",
    "3": "train --strict did not converge.",
    "130, 143": "Ended by Ctrl-C, by SIGTERM.",
}


def plain(text: str) -> str:
    """Text as roff has it: no line begins a request, and hyphens are those of options."""
    escaped = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    return re.sub(r"^([.'])", r"\\&\1", escaped)


def paragraphs(text: str) -> Iterator[str]:
    for number, part in enumerate(re.split(r"\n\s*\n", text.strip())):
        yield from [".PP"] * (number > 0)
        yield plain(part)


def parameter(one: Any, context: Any) -> Iterator[str]:
    """An argument or an option, hidden or not: how it is written, and what it means."""
    hidden, one.hidden = one.hidden, False
    try:
        name, meaning = one.get_help_record(context)
    finally:
        one.hidden = hidden
    yield from (".TP", f".B {plain(name)}", plain(meaning))


def page() -> str:
    """The whole man page."""
    root: Any = typer.main.get_command(app)
    context = root.make_context("aligner", [], resilient_parsing=True)
    lines = [
        f'.TH ALIGNER 1 "" "aligner {aligner.__version__}" "User Commands"', ".SH NAME",
        f"aligner \\- {plain(root.help).rstrip('.').lower()}", ".SH SYNOPSIS",
        ".B aligner", ".I COMMAND", "\\&... [\\-\\-encoding NAME]", ".SH DESCRIPTION",
        plain("Text is UTF-8, a sentence a line, with spaces between tokens. Links are pairs i-j of word positions, "
              "counted from 0, a line for each line of text."), ".SH COMMANDS",
    ]  # fmt: skip
    for name, command in root.commands.items():
        within = type(context)(command, info_name=f"aligner {name}", parent=context)
        usage = " ".join(command.collect_usage_pieces(within))
        lines += [f".SS aligner {plain(name)}", f".B aligner {plain(name)}", plain(usage), ".PP"]
        lines += paragraphs(command.help or "")
        for one in command.params:
            lines += parameter(one, within)
        examples = [line for line in (command.epilog or "").split("\n\n")[1:] if line]
        lines += [".PP", "Examples:", ".PP", ".nf", *(f"    {plain(line)}" for line in examples), ".fi"]
    lines.append(".SH EXIT STATUS")
    for code, meaning in EXIT_CODES.items():
        lines += [".TP", f".B {code}", plain(meaning)]
    return "\n".join(lines) + "\n"


def main() -> None:
    options = parser_of(__doc__).parse_args()
    if options.write:
        PAGE.write_text(page(), "utf-8")
    else:
        print(page(), end="")


if __name__ == "__main__":
    main()
