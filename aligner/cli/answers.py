"""What every command is made of: messages, exit codes, and errors turned into one line."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec

import typer

from corpora.errors import AlignerError, SettingError

BAD_DATA = 1
BAD_SETTING = 2
NOT_CONVERGED = 3

Parameters = ParamSpec("Parameters")


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

    return run
