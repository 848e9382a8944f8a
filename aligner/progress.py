"""Progress of long work, and its display on the terminal."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from aligner._version import __version__

if TYPE_CHECKING:
    from aligner.solvers import TracePoint
    from corpora.corpus import Corpus
    from features.translation.dictionary import Fit
    from features.translation.expectation import Pass

Stage = Literal[
    "starting", "reading", "counting", "translation", "features", "training", "ablation", "aligning", "writing"
]

Item = TypeVar("Item")

FIRST_LINE, NEXT_LINE = 0.5, 10.0
"""Seconds until the first line of a log, and from one line to the next."""


@dataclass(frozen=True)
class Progress:
    """Progress of a stage.  done: in `unit`, of `total` if that is known; a fraction if the unit starts with "of".

    detail: a few words for the user.
    """

    stage: Stage
    done: float
    total: float | None = None
    unit: str = ""
    detail: str = ""


def ignore(*news: object) -> None:
    """The callback that does nothing."""


def _as_it_is(corpus: Corpus) -> Corpus:
    return corpus


@dataclass(frozen=True)
class Hooks:
    """Callbacks of long work.

    on_corpus: called with each corpus that was recognised.  on_progress: called at each step.
    on_dictionary: called with how each dictionary fits the text.
    on_audit: called at each audit of the solver, with the fold that is left out, if any; training stops if it returns
    False.  interrupted: called after each of the solver's passes; if it returns True, as with Ctrl-C during a pass,
    training ends with the weights of the last audit.  lenient: replaces each corpus that is read for its text alone,
    for instance by one with broken pairs left empty.
    """

    on_corpus: Callable[[Corpus], None] = ignore
    on_progress: Callable[[Progress], None] = ignore
    on_dictionary: Callable[[Fit], None] = ignore
    on_audit: Callable[[TracePoint, int | None], bool | None] = ignore
    interrupted: Callable[[], bool] = bool  # never
    lenient: Callable[[Corpus], Corpus] = _as_it_is

    def counted(self, done: float) -> None:
        """Report the fraction of the words that have been counted."""
        self.on_progress(Progress("counting", done, 1.0, "of the words"))


def tell_passes(tell: Callable[[Progress], None]) -> Callable[[Pass], None]:
    """Make a callback that reports each training pass of the translation models as `Progress`."""
    numbers = count(1)

    def passed(found: Pass) -> None:
        done, model = next(numbers), "HMM" if found.hmm else "Model 1"
        detail = f"{found.lexicon}, {model}, pass {done} of {found.total}"
        tell(Progress("translation", done, found.total, "passes", detail))

    return passed


def tell_items(tell: Callable[[Progress], None], stage: Stage, pairs: Iterable[Item]) -> Iterator[Item]:
    """Yield the items, one for each pair, and report `Progress` after every few thousand."""
    for done, item in enumerate(pairs, 1):
        yield item
        if done % 4096 == 0:
            tell(Progress(stage, done, None, "pairs"))


def can_show_progress() -> bool:
    """Whether standard error is a terminal that can move its cursor."""
    return sys.stderr.isatty() and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")


class Pace:
    """The latest progress as a line: how much of a stage is done, how fast, and how long the rest will take."""

    def __init__(self, stage: Stage, first: float = 0.0) -> None:
        detail = f"aligner {__version__}" if stage == "starting" else ""
        self.news, self.first = Progress(stage, first, None, "pairs", detail), first
        self.started = self.began = time.monotonic()

    def hear(self, news: Progress) -> None:
        if news.stage != self.news.stage:
            self.first, self.began = news.done, time.monotonic()
        self.news = news

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.doing, self.left)))

    @property
    def left(self) -> str:
        """How long the rest of the stage will take, as far as that can be told."""
        news, gained, seconds = self.news, self.news.done - self.first, time.monotonic() - self.began
        if gained <= 0 or news.total is None:
            return ""
        return f"{timedelta(seconds=round((news.total - news.done) * seconds / gained))} left"

    @property
    def clock(self) -> str:
        """What is left, or else how long the work has taken."""
        return self.left or str(timedelta(seconds=int(time.monotonic() - self.started)))

    @property
    def doing(self) -> str:
        """How much is done, and how fast."""
        news, gained, seconds = self.news, self.news.done - self.first, time.monotonic() - self.began or 1e-9
        total = "" if news.total is None else f" of {news.total:,.0f}"
        done = f"{news.done:.0%}" if news.unit.startswith("of ") else f"{news.done:,.0f}{total}"
        parts = [news.detail or f"{done} {news.unit}"]
        compiled: Any = sys.modules.get("corpora.compiled")  # not imported for this alone
        loaded = hasattr(compiled, "compilations")  # another thread may be importing it
        ended = [event.is_end for _, event in compiled.compilations.buffer] if loaded else []
        if 2 * sum(ended) < len(ended):
            return f"compiling for this machine, once ({compiled.kept_kernels()} kernels so far), {parts[0]}"
        if gained > 0 and news.unit == "pairs":
            parts.append(f"{gained / seconds:,.0f} pairs/s")
        return ", ".join(parts)


@contextmanager
def progress_bar(quiet: bool, stage: Stage = "starting", first: float = 0.0) -> Iterator[Callable[[Progress], None]]:
    """Show progress on standard error: a bar on a terminal, else a line within a second, then every ten seconds.

    No line comes twice.

    first: how much of the stage is done before it begins.
    """
    if quiet:
        yield ignore
        return
    pace, ended = Pace(stage, first), threading.Event()
    if can_show_progress():
        with _bar(pace) as show:
            yield show
        return

    def write(seconds: float) -> None:
        last = ""
        while not ended.wait(seconds):
            if last != (last := f"{pace.news.stage}: {pace}\n"):
                sys.stderr.write(last)
                sys.stderr.flush()
            seconds = NEXT_LINE

    threading.Thread(target=write, args=[FIRST_LINE], daemon=True).start()
    try:
        yield pace.hear
    finally:
        ended.set()


@contextmanager
def _bar(pace: Pace) -> Iterator[Callable[[Progress], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bars
    from rich.table import Column

    whole, rest = Column(no_wrap=True), Column(no_wrap=True, overflow="ellipsis", ratio=1)
    columns = (
        TextColumn("{task.description:11}", table_column=whole), BarColumn(10),
        TextColumn("{task.fields[pace].clock:>12}", markup=False, table_column=whole),
        TextColumn("{task.fields[pace].doing}", markup=False, table_column=rest),
    )  # fmt: skip
    # Messages go through the console while the bar stands: a soft wrap leaves their lines whole.
    with Bars(*columns, console=Console(stderr=True, soft_wrap=True), transient=True, expand=True) as bars:
        bars.add_task(pace.news.stage, total=None, pace=pace)
        (task,) = bars.tasks

        def show(news: Progress) -> None:
            pace.hear(news)
            stage, task.description = task.description, news.stage
            task.total, task.completed = news.total, news.done
            if stage != news.stage:
                bars.refresh()

        yield show
