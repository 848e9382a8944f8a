"""Commands from signatures: a parameter is an argument, an option, or settings whose fields are options."""

import inspect
import re
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import Field, dataclass, replace
from functools import partial, wraps
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer

import aligner
from aligner.cli.help import show_all
from aligner.cli.messages import in_options, say
from corpora import SettingError
from corpora.settings import Setting, describe, fields_of, setting, setting_of, with_values

if TYPE_CHECKING:
    from aligner.model.settings import AlignSettings
    from corpora.skipping import Skipping

Command = Callable[..., None]

_ARGUMENTS = "Arguments"

# The groups of the help; what is hidden there is shown by --help-all.
data_option = partial(setting, panel="Data")
links_option = partial(setting, panel="Links")
output_option = partial(setting, panel="Output")
bootstrap_option = partial(setting, panel="Bootstrap")


def argument(metavar: str, meaning: str, default: Any = ...) -> Any:
    """The default of a parameter that is an argument; without a default it must be given."""
    return setting(default, meaning, panel=_ARGUMENTS, metavar=metavar)


# Parameters that several commands have.
OUTPUT = output_option("-", "Write here; - is standard output.", "--output -o", metavar="FILE")
FORCE = output_option(False, "Overwrite existing files.")
QUIET = output_option(False, "No progress and no messages but errors.", "q")
SHOWN_GOLD = data_option(None, "Gold links, to compare with.", metavar="GOLD")
LINKED_TEXT = data_option(None, "The text of the links, if GOLD has none.", metavar="PREFIX")
LINK_TOKENS = "The links count tokens of a model of train --tokenize."
_THREADS = data_option(None, "Threads at work.", metavar="N", least=1, shown="all cores")
_SET = output_option(None, "What few need, see the end; repeatable.", metavar="NAME=VALUE", hidden=True)
_DEBUG = output_option(False, "Show the traceback of an error.")
_HELP_ALL = typer.Option(
    "--help-all", callback=show_all, is_eager=True, help="Show all options, and exit.", rich_help_panel="Output"
)


@dataclass(frozen=True)
class Bootstrap:
    """Intervals of figures."""

    confidence: float = bootstrap_option(95.0, "Level of the bootstrap intervals.", metavar="%", least=1.0, most=99.9)
    resamples: int = bootstrap_option(1000, "Bootstrap resamples.", metavar="N", least=1, most=1_000_000)
    seed: int = bootstrap_option(12345, "Seed of the bootstrap.", metavar="N", least=0)

    def given(self) -> dict[str, Any]:
        """As Python takes them."""
        return {**vars(self), "confidence": self.confidence / 100}


class _Part:
    """Settings that are a parameter of a command.

    options: types and fields, by their names in the command.  settable: whether --set gives other fields.
    """

    def __init__(self, annotation: Any, taken: Container[str]) -> None:
        self.kind, names = [*get_args(annotation), annotation, ""][:2]
        slow = isinstance(self.kind, str)
        fields = {} if slow else {name: (hint, one) for name, one, hint in fields_of(self.kind)}
        chosen = names.split() or [name for name, (_, one) in fields.items() if setting_of(one).panel]
        self.fields = {name + "_" * (name in taken): name for name in chosen}
        self.options = {option: fields[name] for option, name in self.fields.items()}
        self.settable = slow or (not names and any(describe(self.kind)))

    def settings(self) -> Any:
        """The class; a string names one of `aligner` that is slow to import."""
        return getattr(aligner, self.kind) if isinstance(self.kind, str) else self.kind

    def fill(self, given: dict[str, Any], of_set: Sequence[str], settable: Sequence[type]) -> Any:
        """Make the settings of what is given, and take it out there."""
        values = {name: given.pop(option) for option, name in self.fields.items()}
        lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        found = self.settings()(**{name: value for name, value in values.items() if value is not None} | lists)
        return with_values(found, of_set, *settable) if self.settable else found


def command(*, threads: bool = False, hidden: str = "", **meanings: str) -> Callable[[Command], Command]:
    """Make a function what typer makes a command of.

    A parameter that is settings becomes options: of the fields that have a panel, or of those alone that its annotation
    names; the other fields are given by --set.
    hidden: options that only --help-all shows.  meanings: of options that mean something else here.
    """

    def with_options(function: Command) -> Command:
        own = inspect.signature(function).parameters
        parts = {name: _Part(one.annotation, own) for name, one in own.items() if not isinstance(one.default, Field)}
        settable = [part.settings for part in parts.values() if part.settable]
        options: dict[str, tuple[Any, Field[Any]]] = {}
        for name, parameter in own.items():
            own_option = {name: (parameter.annotation, parameter.default)}
            options |= parts[name].options if name in parts else own_option
        options |= {"set_": (list[str] | None, _SET)} if settable else {}
        options |= {"threads": (int | None, _THREADS)} if threads else {}
        options["debug"] = bool, _DEBUG
        described = {}
        for name, (kind, one) in options.items():
            how, plain = setting_of(one), name.strip("_")
            if how.panel != _ARGUMENTS and plain in hidden.split():
                how = replace(how, hidden=True)
            if plain in meanings:
                how = replace(how, meaning=meanings[plain])
            described[name] = _described(kind, one.default, plain, how)
        if any(how.hidden for *_, how in described.values()):
            described["help_all"] = bool, False, _HELP_ALL

        @wraps(function, assigned=("__module__", "__name__", "__qualname__", "__doc__"))
        def run(
            set_: Sequence[str] | None = None,
            threads: int | None = None,
            debug: bool = False,
            help_all: bool = False,
            **given: Any,
        ) -> None:
            from corpora.threads import limit_threads

            limit_threads(threads)
            classes = [one() for one in settable]
            function(**{name: part.fill(given, set_ or (), classes) for name, part in parts.items()}, **given)

        vars(run)["settings"] = settable
        parameters = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, how])
            for name, (kind, default, how) in described.items()
        ]
        vars(run)["__signature__"] = inspect.Signature(parameters)
        return run

    return with_options


def _described(kind: Any, default: Any, name: str, how: Setting) -> tuple[Any, Any, Any]:
    """The type of a parameter, its default, and its description by typer."""
    if how.parser is not None:
        kind = Any
    elif get_origin(kind) is tuple:
        kind, default = list[str] | None, None
    of_all: dict[str, Any] = {
        "help": re.sub(r"`(\w+)`", r"--\1", how.meaning),
        "metavar": how.metavar,
        "min": how.least if isfinite(how.least) else None,
        "max": how.most if isfinite(how.most) else None,
        "show_default": how.shown or True,
        "parser": how.parser and _parser(how.parser),
        "rich_help_panel": how.panel,
    }
    if how.panel == _ARGUMENTS:
        return kind, default, typer.Argument(**of_all)
    spelled = how.spelled.split()
    if len(how.spelled) < 2:
        switch = kind is bool and default  # which typer spells --no-..., too
        spelled = [] if switch else [f"--{name.replace('_', '-')}", *(f"-{letter}" for letter in spelled)]
    return kind, default, typer.Option(*spelled, hidden=how.hidden, **of_all)


def _parser(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    def parsed(value: str) -> Any:
        try:
            return parse(value)
        except SettingError as error:
            raise typer.BadParameter(str(error)) from None

    return parsed


def named_files(given: Sequence[str]) -> tuple[list[str] | None, list[str]]:
    """Names and files of arguments FILE or NAME=FILE; None for names if no argument has one."""
    whole = [Path(one).exists() or one.endswith("=") for one in given]
    parts = [("", "", one) if alone else one.rpartition("=") for one, alone in zip(given, whole, strict=True)]
    files = [file for *_, file in parts]
    return None if files == list(given) else [name or file for name, _, file in parts], files


def texts_and_links(target: str | None, links: str | None) -> tuple[str | None, str | None]:
    """TGT and LINKS of the arguments SRC TGT LINKS, or SRC LINKS, where SRC is a whole corpus."""
    from corpora.link_files import holds_links

    return (None, target) if links is None and target is not None and holds_links(target) else (target, links)


@contextmanager
def skipping_pairs(settings: "AlignSettings") -> "Iterator[Skipping]":
    """The rules by which settings skip pairs; at the end a message says how many pairs were skipped."""
    skipping = settings.skipping(lambda error: say(in_options(f"left empty: {error}")))
    yield skipping
    if summary := skipping.summary():
        say(in_options(summary))
