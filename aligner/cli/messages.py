"""Standard streams, messages and exit codes of every command, and errors turned into one line."""

import errno
import functools
import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec

import typer

from corpora import AlignerError, SettingError
from corpora.errors import printable

BAD_DATA = 1
BAD_SETTING = 2
NOT_CONVERGED = 3

Parameters = ParamSpec("Parameters")


def prepare_streams() -> None:
    """Open closed standard streams and let all take every letter; a closed one drops messages, but refuses data.

    Python has None for a closed stream and prints to standard output instead, and the next file gets its number.
    """
    for name, mode, flags in (("stdin", "r", os.O_WRONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode, encoding="utf-8"))
    if sys.stdout is sys.__stdout__ and isinstance(sys.stdout, io.TextIOWrapper):
        binary, in_lines = io.BufferedWriter(_Output(sys.stdout.fileno(), "wb", closefd=False)), sys.stdout.isatty()
        sys.stdout = io.TextIOWrapper(binary, sys.stdout.encoding, line_buffering=in_lines)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class _Output(io.FileIO):
    """Standard output whose errors have its name, as those of other files do."""

    def write(self, content: Any, /) -> int:
        try:
            return super().write(content)
        except OSError as error:
            error.filename = "-"
            raise


def say(message: str) -> None:
    """Print a line for the user on standard error."""
    print(printable(message), file=sys.stderr, flush=True)


def refuse_idle(where: str, **options: object) -> None:
    """Raise SettingError for the first of these options that is given: it has no effect there."""
    for name in (name for name, value in options.items() if value):
        option = f"--{name.replace('_', '-')}"
        raise SettingError(f"{option} has no effect {where}{'' if '(' in where else f' (leave {option} out)'}")


def explain(error: AlignerError | OSError | MemoryError, options: Mapping[str, Any]) -> str:
    match error:
        case OSError(errno=errno.EBADF, filename=None | "-"):
            return "-: standard input or output is closed (open it, or name a file)"
        case OSError():
            path = error.filename or options.get("output") or options.get("model") or "-"
            return f"{path}: {error.strerror or error} (check the disk)"
        case MemoryError():
            return f"not enough memory: {error} (are there very long lines?)"
    return in_options(str(error), options)


def in_options(message: str, options: Mapping[str, Any]) -> str:
    """A message of the library with a command's options: `force` becomes --force, or --set force if it has --set."""
    given = {name.rstrip("_"): f"--{name.rstrip('_').replace('_', '-')}" for name in ("encoding", *options)}
    other = r"--set \1" if "set" in given else r"`\1`"
    return re.sub(r"`(\w+)`", lambda name: given.get(name[1]) or name.expand(other), message)


def report_error(error: AlignerError | OSError | MemoryError, options: Mapping[str, Any]) -> int:
    """Print what the error was; return the exit code."""
    say(explain(error, options))
    try:
        sys.stdout.flush()
    except OSError:  # forgotten, as Python would try again at its end, complain once more and exit with 120
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BAD_SETTING if isinstance(error, SettingError) else BAD_DATA


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
            raise typer.Exit(report_error(error, kwargs)) from None

    return run
