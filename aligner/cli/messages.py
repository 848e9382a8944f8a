"""Standard streams, messages and exit codes of every command, and errors turned into one line."""

import errno
import functools
import inspect
import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ParamSpec, get_args

import typer
from typer.models import ArgumentInfo, OptionInfo

from aligner.progress import ignore
from corpora import AlignerError, SettingError
from corpora.errors import printable
from corpora.left_out import LeftOut, OtherSpaces
from corpora.settings import describe

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


def tell_fit(quiet: bool) -> Callable[[object], None]:
    """Make a callback that prints how a dictionary fits a text, unless it is to be quiet."""
    return ignore if quiet else lambda fit: say(str(fit))


def refuse_idle(where: str, **options: object) -> None:
    """Raise SettingError for the first of these options that is given: it has no effect there."""
    for name in (name for name, value in options.items() if value):
        option = f"--{name.replace('_', '-')}"
        raise SettingError(f"{option} has no effect {where}{'' if '(' in where else f' (leave {option} out)'}")


_command: Callable[..., None] = lambda: None  # noqa: E731
"""The command at work."""


def settings_of(command: Callable[..., None]) -> list[tuple[str, str]]:
    """The names that a command's --set takes, and their meanings."""
    return [*describe(*(made() for made in vars(command).get("settings", [])))]


def options_of(command: Callable[..., None]) -> dict[str, str]:
    """The options of a command, by their own names, by the names of their parameters, and by the names of --set."""
    found = {name: f"--set {name}" for setting, _ in settings_of(command) for name in [setting.partition(".")[0]]}
    found["encoding"] = "--encoding"
    for name, parameter in inspect.signature(command).parameters.items():
        info: Any = next(iter(getattr(parameter.annotation, "__metadata__", ())), None)
        if isinstance(info, ArgumentInfo):
            continue
        given = [info.default, *(info.param_decls or ())] if isinstance(info, OptionInfo) else []
        spelled = sorted((one for one in given if isinstance(one, str)), key=lambda one: not one.startswith("--"))
        option = [*spelled, f"--{name.strip('_').replace('_', '-')}"][0]
        found |= dict.fromkeys((name.strip("_"), option.strip("-").replace("-", "_")), option)
    return found


def explain(error: AlignerError | OSError | MemoryError, options: Mapping[str, Any]) -> str:
    match error:
        case OSError(errno=errno.EBADF, filename=None | "-"):
            return "-: standard input or output is closed (open it, or name a file)"
        case OSError():
            path = error.filename or options.get("output") or options.get("path") or options.get("model") or "-"
            return f"{path}: {error.strerror or error} (check the disk)"
        case MemoryError():
            return f"not enough memory: {error} (are there very long lines?)"
    return in_options(str(error))


def in_options(message: str) -> str:
    """A message of the library with the command's options: `force` becomes --force, a setting of --set --set NAME."""

    return re.sub(r"`(\w+)`", lambda name: options_of(_command).get(name[1], name[0]), message)


@contextmanager
def usage_in_one_line(context: typer.Context) -> Iterator[None]:
    """Turn an error of the command line into one line in our words, and end with 2."""
    try:
        yield
    except _UsageError as error:
        message = str(error.format_message())
        if "\n" in message:  # which is the help that `aligner` alone shows
            raise
        parameter: Any = getattr(error, "param", None)
        expected = _expected(error.ctx.command.callback, parameter) if parameter is not None and error.message else None
        message = f"{max(parameter.opts, key=len)} takes {expected}" if expected else message
        for pattern, ours in _OURS.items():
            message = re.sub(pattern, ours, message)
        path = (
            error.ctx.command_path
            if error.ctx
            else f"{context.command_path} {context.invoked_subcommand or ''}".strip()
        )
        hint = "" if message.endswith(")") else f" (see {path} --help)"
        say(f"{path}: {message[:1].lower()}{message[1:].rstrip('.')}{hint}")
        raise typer.Exit(BAD_SETTING) from None


_OURS = {
    r"^Invalid value for (.*?): ": r"\1: ", r"'(-[^']*)'": r"\1",
    r"^Got unexpected extra arguments?(?:\(s\))? \((.*)\)$": r"too many arguments: \1",
    r"\(Possible options: (.*)\)$": r"(did you mean \1?)",
}  # fmt: skip
"""What stands in place of typer's words."""

_UsageError: Any = typer.BadParameter.__base__


def _expected(command: Callable[..., None], parameter: Any) -> str | None:
    """What an option takes, where that is a number or a choice; None where its own parser says it."""
    annotation = inspect.signature(command).parameters[parameter.name].annotation
    kind, info = annotation.__origin__, annotation.__metadata__[0]
    kinds = {kind, *get_args(kind)}
    if info.parser is not None:
        return None
    choices = [name for part in (kind, *get_args(kind)) for name in get_args(part) if isinstance(name, str)]
    if choices:
        return f"one of {', '.join(dict.fromkeys(choices))}"
    if not kinds & {int, float}:
        return None
    least, most = ("" if one is None else f"{one:,}" for one in (info.min, info.max))
    bounds = f" from {least} to {most}" if most else f" from {least} on" if least else ""
    return f"{'a whole number' if int in kinds else 'a number'}{bounds}"


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
        global _command
        _command = command
        gathered: dict[tuple[type, str], Any] = {}  # to be told at the end, once for a file

        def show(message: Warning | str, *_: object, **__: object) -> None:
            if isinstance(message, LeftOut | OtherSpaces):
                key = type(message), message.path
                gathered[key] = message.joined(gathered.get(key, message))
            else:
                say(in_options(str(message)))

        try:
            with warnings.catch_warnings(category=UserWarning, action="ignore" if kwargs.get("quiet") else "always"):
                warnings.filterwarnings("always", category=LeftOut)  # also where other messages are not wanted
                warnings.showwarning = show
                command(*args, **kwargs)
            sys.stdout.flush()
        except (AlignerError, OSError, MemoryError) as error:
            if kwargs.get("debug"):
                raise
            raise typer.Exit(report_error(error, kwargs)) from None
        finally:
            for each in gathered.values():
                say(in_options(str(each)))

    return run
