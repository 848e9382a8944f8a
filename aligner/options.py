"""The names an option may take, the options that commands share, and the longer ones."""

from __future__ import annotations

import re
from typing import Annotated, Literal

import typer

Solver = Literal["bcfw", "frank-wolfe"]
Oracle = Literal["assignment", "scipy", "flow", "lp", "greedy"]
Order = Literal["uniform", "permuted"]
Step = Literal["line-search", "decreasing"]
Average = Literal["none", "uniform", "weighted", "suffix"]
Output = Literal["pharaoh", "scored", "jsonl"]
Report = Literal["text", "json"]
Symmetrization = Literal["intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"]

CorpusPaths = Annotated[
    list[str],
    typer.Argument(
        metavar="CORPUS",
        help="PREFIX of PREFIX.en and PREFIX.fr (.gz, .xz too), a folder with one, two text files, a file of "
        "'source ||| target' lines, comtrans or GIZA++ A3.final.",
    ),
]
GoldPrefixes = Annotated[
    list[str] | None,
    typer.Option("--gold", metavar="PREFIX", help="Labelled pairs: PREFIX of texts and links (PREFIX.wa); repeatable."),
]
Families = Annotated[
    str | None,
    typer.Option("--features", metavar="F,F...", help="Feature families to use; all by default (see README)."),
]
MaxLabelled = Annotated[
    int, typer.Option("--max-labelled", metavar="N", help="Of more labelled pairs use a random sample.", min=1)
]
OutputFormat = Annotated[
    Output, typer.Option("--format", help="i-j links, i-j:score, or JSON objects with tokens and scores.")
]
ToFormat = Annotated[
    str, typer.Option("--to", metavar="FORMAT", help="pharaoh, talp, naacl, comtrans, or giza (sure links only).")
]
TextPrefix = Annotated[
    str | None,
    typer.Option("--text", metavar="PREFIX", help="The text of the links, which giza and comtrans contain."),
]

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no messages but errors.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="More messages.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
SourceLanguage = Annotated[
    str | None, typer.Option("--source", metavar="L", help="Language (file suffix) of the source side.")
]
TargetLanguage = Annotated[
    str | None, typer.Option("--target", metavar="L", help="Language (file suffix) of the target side.")
]
Seed = Annotated[int, typer.Option(help="Seed of everything random.", min=0)]
ModelFile = Annotated[str, typer.Option("--model", "-m", metavar="MODEL", help="Model file.")]
OutputFile = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Write here; - is standard output.")]
LinksFiles = Annotated[
    list[str] | None,
    typer.Option("--links", metavar="FILE", help="Another aligner's links of these pairs, a feature each; repeatable."),
]


def parse_size(size: str) -> int:
    """Bytes of a size like 500M or 2G.  Raises a usage error."""
    units = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
    parts = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)([KMGT]?)B?", size.strip().upper())
    if parts is None:
        raise typer.BadParameter(f"{size!r} is not a size (give one like 500M or 2G)")
    return int(float(parts[1]) * units[parts[2]])


def _size(size: str) -> str:
    parse_size(size)
    return size


Memory = Annotated[
    str,
    typer.Option(callback=_size, metavar="SIZE", help="Features held in memory (such as 500M, 2G); more go to disk."),
]
