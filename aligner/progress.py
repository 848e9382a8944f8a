"""How far long work is, and a display of it for the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from aligner.solvers import TracePoint
    from aligner.training.path import Place
    from corpora.readers import Corpus
    from features.translation.expectation import Pass


@dataclass(frozen=True)
class Progress:
    """How far a stage is.  done: in `unit`, of `total` if that is known; a fraction if the unit starts with "of".

    detail: a few words for the user.
    """

    stage: Literal["reading", "counting", "translation", "features", "training", "path", "ablation", "aligning"]
    done: float
    total: float | None = None
    unit: str = ""
    detail: str = ""


def ignore(*news: object) -> None:
    """What is told to nobody."""


@dataclass(frozen=True)
class Hooks:
    """Whom long work tells how far it is.

    on_corpus: told what each path was recognised as.  on_progress: told of each step.
    on_audit: told of each audit of the solver; training stops if it returns False.  interrupted: asked after each of
    the solver's passes; where it holds, as with Ctrl-C during the passes, training ends with the weights of the last
    audit.
    """

    on_corpus: Callable[[Corpus], None] = ignore
    on_progress: Callable[[Progress], None] = ignore
    on_audit: Callable[[TracePoint, Place], bool | None] = ignore
    interrupted: Callable[[], bool] = lambda: False

    def counted(self, done: float) -> None:
        """Tell of a fraction of the words."""
        self.on_progress(Progress("counting", done, 1.0, "of the words"))


def tell_passes(tell: Callable[[Progress], None]) -> Callable[[Pass], None]:
    """What tells of each pass of the translation models' training."""
    numbers = count(1)

    def passed(found: Pass) -> None:
        detail = f"{found.lexicon}, {'HMM' if found.hmm else 'Model 1'}, pass {found.iteration + 1}"
        tell(Progress("translation", next(numbers), None, "passes", detail))

    return passed


def can_show_progress() -> bool:
    """Whether standard error is a terminal that can move its cursor."""
    return sys.stderr.isatty() and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[Progress], None]]:
    """A progress display on standard error, where that can show one."""
    if quiet or not can_show_progress():
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
    # Messages go through the console while the bars stand: a soft wrap leaves their lines whole.
    with Bars(*columns, console=Console(stderr=True, soft_wrap=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def show(progress: Progress) -> None:
            if progress.stage not in tasks:
                tasks[progress.stage] = bars.add_task(progress.stage, detail="")
            done = f"{progress.done:.0%}" if progress.unit.startswith("of ") else f"{progress.done:,.0f}"
            detail = progress.detail or f"{done} {progress.unit}"
            bars.update(tasks[progress.stage], completed=progress.done, total=progress.total, detail=detail)

        yield show
