"""Running the commands in tests, in this process or in one of their own, and writing what they read."""

from __future__ import annotations

import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from typer.main import get_command
from typer.testing import CliRunner

from aligner.cli import app

COMMAND = [sys.executable, "-m", "aligner"]
"""The command as a process."""

COMMANDS: Any = get_command(app).commands  # type: ignore[attr-defined]

TIMEOUT = 300
"""Seconds after which a process counts as hanging: a slow machine compiles kernels for more than a minute."""

_LINE = re.compile(r"[^ ].*?(?::(\d+))?: .+ \(.+\)")


def invoke(*arguments: object, stdin: bytes = b"") -> Any:
    """Run a command in this process; the result has exit_code, stdout_bytes, stdout and stderr."""
    return CliRunner().invoke(app, [str(a) for a in arguments], input=stdin, catch_exceptions=False)


def run(*arguments: object, code: int = 0, stdin: bytes = b"") -> Any:
    """`invoke` what is to end with this exit code."""
    result = invoke(*arguments, stdin=stdin)
    assert result.exit_code == code, result.stderr
    return result


def refused(*arguments: object, line: int = 0, stdin: bytes = b"") -> str:
    """Run a command that is to fail for bad data, and return its message."""
    result = invoke(*arguments, stdin=stdin)
    assert result.exit_code == 1, result.output
    assert not result.stdout_bytes
    message: str = result.stderr.removesuffix("\n")
    match = _LINE.fullmatch(message)  # the dot keeps it to one line
    assert match is not None, message
    assert int(match[1] or 0) == line, message
    known = {"--encoding"} | {option for parameter in COMMANDS[str(arguments[0])].params for option in parameter.opts}
    assert known.issuperset(re.findall(r"(?<![\w-])--[a-z-]+", message)) or "pip install" in message, "no such option"
    return message


def received(connection: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    connection.settimeout(TIMEOUT)
    return b"".join(iter(lambda: connection.recv(1 << 16), b""))


def write(path: Path, *lines: str, end: str = "\n") -> Path:
    """Write lines of text."""
    path.write_bytes("".join(f"{line}{end}" for line in lines).encode())
    return path


def hear_signals() -> None:
    """A shell starts its background jobs with Ctrl-C ignored, which the command respects."""
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, signal.SIG_DFL)


def start(*arguments: object, **settings: Any) -> Any:
    """Start a command as a process; its standard streams are pipes unless told otherwise."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([*COMMAND, *map(str, arguments)], **{"preexec_fn": hear_signals, **pipes, **settings})


def ended(process: subprocess.Popen[bytes], code: int) -> str:
    """What a process tells until its end, which is to have this exit code; on standard output there must be nothing."""
    output, errors = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, output) == (code, b""), errors.decode()
    return errors.decode()


def run_process(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a command as a process."""
    return subprocess.run([*COMMAND, *map(str, arguments)], input=stdin, capture_output=True, timeout=TIMEOUT)


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def read_until(stream: int, words: str) -> bytes:
    """Read from a file descriptor until these words have come."""
    read = b""
    while words.encode() not in read:
        assert select.select([stream], [], [], TIMEOUT)[0], read.decode()
        chunk = os.read(stream, 1 << 16)
        assert chunk, read.decode()
        read += chunk
    return read


@contextmanager
def on_terminal(
    *arguments: object, stream: str = "stderr", **environment: str
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Start a command of which a stream is a terminal, and give what reads from that."""
    import pty  # of POSIX

    ours, theirs = pty.openpty()
    inherited = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    process = start(*arguments, **{stream: theirs}, env={**inherited, "TERM": "xterm", **environment})
    os.close(theirs)
    try:
        yield process, ours
    finally:
        os.close(ours)
        process.kill()
        process.communicate()


def rest_of_terminal(terminal: int) -> bytes:
    """What a terminal is told until the command ends."""
    shown = b""
    with suppress(OSError):  # how Linux tells that the other end is closed
        while chunk := os.read(terminal, 1 << 16):
            shown += chunk
    return shown
