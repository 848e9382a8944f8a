"""What every command is made of: messages, exit codes, and errors turned into one line."""

from __future__ import annotations

import functools
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, ParamSpec

import typer

from corpora.errors import AlignerError, SettingError

BAD_DATA = 1
BAD_SETTING = 2
NOT_CONVERGED = 3
SIGNALLED = 128
"""Added to the number of a signal, as shells do."""

Parameters = ParamSpec("Parameters")


terminations: list[int] = []
"""Signals other than Ctrl-C that have asked the program to end, and end it as gently."""


def say(message: str) -> None:
    """A line for the user, on standard error."""
    print(message, file=sys.stderr, flush=True)


def explain(error: AlignerError | OSError | MemoryError, options: Mapping[str, Any]) -> str:
    """The line for the user."""
    match error:
        case OSError():
            path = error.filename or options.get("output") or options.get("model") or "-"
            return f"{path}:0: {error.strerror or error} (check the disk)"
        case MemoryError():
            return f"not enough memory: {error} (are there very long lines?)"
    return str(error)


def answers_for_errors(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Turn the errors a user can mend into one line and an exit code."""

    @functools.wraps(command)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except (AlignerError, OSError, MemoryError) as error:
            if kwargs.get("debug"):
                raise
            say(explain(error, kwargs))
            raise typer.Exit(BAD_SETTING if isinstance(error, SettingError) else BAD_DATA) from None
        except (KeyboardInterrupt, SystemError) as error:
            # A signal that comes while a compiled function returns is wrapped in a SystemError, or in several.
            first: BaseException = error
            while first.__cause__ is not None:
                first = first.__cause__
            if not isinstance(first, KeyboardInterrupt):
                raise
            word, code = ended_by()
            say(f"{word}: no unfinished file is left")
            raise typer.Exit(code) from None

    return run


def ended_by() -> tuple[str, int]:
    """How the user, or the system, has ended the work: in a word and as an exit code."""
    if terminations:
        return "terminated", SIGNALLED + terminations[-1]
    return "interrupted", SIGNALLED + signal.SIGINT


def terminate(signum: int, frame: object) -> NoReturn:
    terminations.append(signum)
    raise KeyboardInterrupt


def ignore_signals() -> None:
    """Let no signal change any more how the program ends: Python itself would answer one with a code of its own."""
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, signal.SIG_IGN)
    # CPython remembers an interrupt inside exec(), which makes dataclasses, as one that nobody answered, and in the
    # end kills itself by SIGINT whatever the exit code. The next exec() makes it forget.
    exec("")
