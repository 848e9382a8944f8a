"""Interrupts are told from errors, however they come."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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


LOST = {
    "import": "try:\n    signal.raise_signal(signal.SIGTERM)\nexcept BaseException:\n    pass\n",
    "callback": """
class Dropper:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)
""",
}


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("how", [*LOST])
def test_what_libraries_drop_is_not_lost(how: str, tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text(f"import signal\n{LOST[how]}")
    program = tmp_path / "program.py"
    program.write_text(
        "import time\nfrom aligner.cli.signals import ended_by, listen_to_signals\nlisten_to_signals()\n"
        "try:\n    import library\n    getattr(library, 'Dropper', int)()\n    time.sleep(60)\n"
        "except KeyboardInterrupt:\n    print(*ended_by())\n"
    )
    process = subprocess.run([sys.executable, program], capture_output=True, timeout=60, check=True)
    assert process.stdout.split() == [b"terminated", b"143"]
    assert not process.stderr
