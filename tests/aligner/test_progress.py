"""Progress is a bar on a terminal, and a line now and then in a log."""

from __future__ import annotations

import io
import re
import sys
import time
from types import ModuleType, SimpleNamespace

import numba
import pytest
from numba.core import event

import aligner
from aligner.progress import Pace, Progress, progress_bar, tell_items
from corpora.compiled import compilations


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def show_all(quiet: bool) -> None:
    with progress_bar(quiet) as show:
        show(Progress("reading", 10_000, None, "pairs"))
        show(Progress("training", 3, 200, "passes", "primal 1.5"))
        show(Progress("training", 200, 200, "passes", "primal 1.25"))


def test_items_are_told_of_and_given_on() -> None:
    heard: list[Progress] = []
    assert [*tell_items(heard.append, "writing", iter(range(10_000)))] == [*range(10_000)]
    assert heard == [Progress("writing", 4096, None, "pairs"), Progress("writing", 8192, None, "pairs")]


def test_lines_of_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aligner.progress.FIRST_LINE", 0.01)
    monkeypatch.setattr("aligner.progress.NEXT_LINE", 0.01)
    # Not capsys: it loses what another thread writes while it is read.
    monkeypatch.setattr("sys.stderr", log := io.StringIO())

    def line_of(stage: str) -> str:
        while not (found := re.search(f"^{stage}: .*\n", log.getvalue(), re.MULTILINE)):
            time.sleep(0.001)
        return found[0].rstrip()

    with progress_bar(quiet=False) as show:
        assert line_of("starting") == f"starting: aligner {aligner.__version__}"
        show(Progress("reading", 12_000, None, "pairs"))
        assert line_of("reading") == "reading: 12,000 pairs"
        show(Progress("counting", 0.25, 1.0, "of the words"))
        assert line_of("counting") == "counting: 25% of the words"
        show(Progress("training", 3, 200, "passes", "primal 1.5"))
        assert line_of("training") == "training: primal 1.5"


def test_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("aligner.progress.time", SimpleNamespace(monotonic=lambda: now[0]))
    pace = Pace("starting")
    pace.hear(Progress("aligning", 1_000, 100_000, "pairs"))
    assert str(pace) == "1,000 of 100,000 pairs"
    now[0] += 10
    pace.hear(Progress("aligning", 10_000, 100_000, "pairs"))
    assert str(pace) == "10,000 of 100,000 pairs, 900 pairs/s, 0:01:40 left"
    pace.hear(Progress("reading", 5_000, None, "pairs"))
    now[0] += 5
    pace.hear(Progress("reading", 10_000, None, "pairs"))
    assert str(pace) == "10,000 pairs, 1,000 pairs/s"


def test_kernels_that_are_being_compiled_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pace, told = Pace("translation"), []
    listener = SimpleNamespace(notify=lambda _: told.append(str(pace)))
    monkeypatch.setitem(event._registered, "numba:compile", [compilations, listener])
    assert numba.njit(lambda number: number + 1)(1) == 2
    assert ["compiling for this machine, once (" in text for text in told] == [True, False]


def test_quiet_is_quiet_and_at_first_so_is_what_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    show_all(quiet=False)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    show_all(quiet=True)
    assert terminal.getvalue() == ""
    assert capsys.readouterr() == ("", "")


def test_a_terminal_sees_stages_and_details(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    show_all(quiet=False)
    shown = terminal.getvalue()
    assert all(text in shown for text in ("reading", "10,000 pairs", "training", "primal 1.25"))
    assert capsys.readouterr().out == ""


def test_a_log_says_nothing_twice(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("aligner.progress.FIRST_LINE", 0.001)
    monkeypatch.setattr("aligner.progress.NEXT_LINE", 0.001)
    said = ""
    with progress_bar(quiet=False) as show:
        for done in (1, 2):
            show(Progress("translation", done, 9, "passes", f"words, HMM, pass {done} of 9"))
            deadline = time.monotonic() + 0.05
            while f"pass {done} of 9" not in said or time.monotonic() < deadline:
                said += capsys.readouterr().err
    lines = said.splitlines()
    assert len(lines) == len({*lines}) >= 2


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_terminal_sees_what_is_left(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """Whole, whatever else there is to say; one line, as wide as the terminal."""
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    detail = "without fold 3 of 5: primal 1234.5, relative gap 1.2e-03"
    with progress_bar(quiet=False) as show:
        show(Progress("training", 1, 200, "passes", detail))
        time.sleep(0.02)
        show(Progress("training", 2, 200, "passes", detail))
        time.sleep(0.3)
    frames = [re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", one).strip() for one in terminal.getvalue().split("\r")]
    assert max(map(len, frames)) <= width
    assert any(re.match(r"training +.* +0:00:\d\d left without fold 3", frame) for frame in frames), frames
    assert any(detail in frame for frame in frames) == (width == 200)


def test_a_line_may_be_written_while_the_compiler_is_being_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "corpora.compiled", ModuleType("corpora.compiled"))
    pace = Pace("reading")
    pace.hear(Progress("reading", 3, None, "lines"))
    assert str(pace) == "3 lines"
