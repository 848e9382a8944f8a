"""Running the commands in tests, and writing what they read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from aligner.cli import app

COMMAND = [sys.executable, "-m", "aligner.cli"]
"""The command as a process."""

TIMEOUT = 300
"""Seconds after which a process counts as hanging: a slow machine compiles kernels for more than a minute."""


def invoke(*arguments: object, stdin: bytes = b"") -> Any:
    """Run a command in this process; the result has exit_code, stdout_bytes, stdout and stderr."""
    return CliRunner().invoke(app, [str(a) for a in arguments], input=stdin, catch_exceptions=False)


def run(*arguments: object, code: int = 0, stdin: bytes = b"") -> Any:
    """`invoke` what is to end with this exit code."""
    result = invoke(*arguments, stdin=stdin)
    assert result.exit_code == code, result.stderr
    return result


def write(path: Path, *lines: str, end: str = "\n") -> Path:
    """Write lines of text."""
    path.write_bytes("".join(f"{line}{end}" for line in lines).encode())
    return path
