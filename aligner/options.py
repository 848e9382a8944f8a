"""The options that commands share, and the names an option may take."""

from __future__ import annotations

import re
from math import inf
from typing import Annotated, Literal

import typer

Solver = Literal["bcfw", "frank-wolfe"]
Oracle = Literal["assignment", "scipy", "flow", "lp", "greedy"]
Order = Literal["uniform", "permuted"]
Step = Literal["line-search", "decreasing"]
Average = Literal["none", "weighted", "suffix"]
Output = Literal["pharaoh", "scored", "jsonl"]
Report = Literal["text", "json"]
Symmetrization = Literal["intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"]

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


def _above_zero(value: float) -> float:
    if not 0 < value < inf:
        raise typer.BadParameter(f"{value:g} is not a number above 0")
    return value


Memory = Annotated[
    str,
    typer.Option(callback=_size, metavar="SIZE", help="Features held in memory (such as 500M, 2G); more go to disk."),
]
Regularization = Annotated[
    float, typer.Option(callback=_above_zero, metavar="λ", help="Strength of the regularisation.")
]
MissCost = Annotated[float, typer.Option(callback=_above_zero, metavar="c⁺", help="Cost of a sure link left out.")]
FalseCost = Annotated[float, typer.Option(callback=_above_zero, metavar="c⁻", help="Cost of a link outside gold.")]
TraceFile = Annotated[
    str | None, typer.Option("--trace", metavar="FILE.jsonl", help="Write every audit of the solver.")
]
