"""Progress is for a terminal on standard error, and for nothing else."""

from __future__ import annotations

import io
import sys

import pytest

from aligner.progress import Progress, progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def show_all(quiet: bool) -> None:
    with progress_bar(quiet) as show:
        show(Progress("reading", 10_000, None, "pairs"))
        show(Progress("training", 3, 200, "passes", "primal 1.5"))
        show(Progress("training", 200, 200, "passes", "primal 1.25"))


def test_silence_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    show_all(quiet=False)
    assert capsys.readouterr() == ("", "")


def test_quiet_is_quiet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    show_all(quiet=True)
    assert terminal.getvalue() == ""
    assert capsys.readouterr().out == ""


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
