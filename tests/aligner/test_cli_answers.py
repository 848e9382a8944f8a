"""Interrupts are told from errors, however they come."""

from __future__ import annotations

import pytest
import typer

from aligner.cli.answers import answers_for_errors


@pytest.mark.parametrize("wrappings", [0, 1, 3])
def test_an_interrupt_in_compiled_code_is_one(wrappings: int, capsys: pytest.CaptureFixture[str]) -> None:
    """The dispatchers of compiled functions raise a SystemError from what a signal's handler raised, and so on."""

    def command() -> None:
        error: BaseException = KeyboardInterrupt()
        for _ in range(wrappings):
            wrapped = SystemError("returned a result with an exception set")
            wrapped.__cause__ = error
            error = wrapped
        raise error

    with pytest.raises(typer.Exit) as end:
        answers_for_errors(command)()
    assert end.value.exit_code == 130
    assert capsys.readouterr().err == "interrupted: no unfinished file is left\n"


def test_other_system_errors_stay() -> None:
    def command() -> None:
        raise SystemError("a fault of ours")

    with pytest.raises(SystemError, match="a fault of ours"):
        answers_for_errors(command)()
