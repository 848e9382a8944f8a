"""What every command is made of: messages, exit codes, and errors turned into one line."""

from __future__ import annotations

import functools
import os
import re
import sys
import warnings
from collections.abc import Callable, Collection, Mapping
from typing import Any, ParamSpec

import typer

from corpora import AlignerError, SettingError

BAD_DATA = 1
BAD_SETTING = 2
NOT_CONVERGED = 3

Parameters = ParamSpec("Parameters")


def say(message: str) -> None:
    """A line for the user, on standard error."""
    print(message, file=sys.stderr, flush=True)


def refuse_options(context: typer.Context, useful: Collection[str], where: str) -> None:
    """Raise SettingError for the first option of the command line that is not among the useful ones."""
    for parameter in context.command.params:
        name = parameter.name or ""
        origin = context.get_parameter_source(name)
        if name not in useful and origin is not None and origin.name == "COMMANDLINE":
            raise SettingError(f"{parameter.opts[0]} has no effect {where}")


def explain(error: AlignerError | OSError | MemoryError, options: Mapping[str, Any]) -> str:
    """The line for the user."""
    match error:
        case OSError():
            path = error.filename or options.get("output") or options.get("model") or "-"
            return f"{path}:0: {error.strerror or error} (check the disk)"
        case MemoryError():
            return f"not enough memory: {error} (are there very long lines?)"
    return in_options(str(error), options)


def in_options(message: str, options: Mapping[str, Any]) -> str:
    """A message of the library in the words of a command: `force` is --force, where the command has that option."""
    return re.sub(r"`(\w+)`", lambda name: f"--{name[1]}" if name[1] in options else name[0], message)


def _give_up_output() -> None:
    """Forget what cannot be written: Python would try again at its end, complain once more and exit with 120."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def answers_for_errors(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Turn the errors a user can mend into one line and an exit code."""

    @functools.wraps(command)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        try:
            with warnings.catch_warnings(category=UserWarning, action="ignore" if kwargs.get("quiet") else "always"):
                warnings.showwarning = lambda message, *_, **__: say(in_options(str(message), kwargs))
                command(*args, **kwargs)
            sys.stdout.flush()
        except (AlignerError, OSError, MemoryError) as error:
            if kwargs.get("debug"):
                raise
            say(explain(error, kwargs))
            _give_up_output()
            raise typer.Exit(BAD_SETTING if isinstance(error, SettingError) else BAD_DATA) from None

    return run
