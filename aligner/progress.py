"""How far long work is, and a display of it for the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Progress:
    """How far a stage is.  done: in `unit`, of `total` if that is known.  detail: a few words for the user."""

    stage: Literal["reading", "counting", "features", "training", "aligning"]
    done: float
    total: float | None = None
    unit: str = ""
    detail: str = ""


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[Progress], None]]:
    """A progress display on standard error, if that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda progress: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description:10}"),
        BarColumn(),
        TextColumn("{task.fields[detail]}"),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def show(progress: Progress) -> None:
            if progress.stage not in tasks:
                tasks[progress.stage] = bars.add_task(progress.stage, detail="")
            detail = progress.detail or f"{progress.done:,.0f} {progress.unit}"
            bars.update(tasks[progress.stage], completed=progress.done, total=progress.total, detail=detail)

        yield show
