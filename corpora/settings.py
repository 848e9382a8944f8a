"""Settings of commands: frozen dataclasses with checked fields, and their values from NAME=VALUE."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from functools import cache
from itertools import product
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

from corpora import SettingError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound="DataclassInstance")


@dataclass(frozen=True)
class Setting:
    """What a user reads of a setting, and how it is given.

    meaning: a line; empty for what only Python gives.
    panel: of the help, where it is an option of its own; without one it is a NAME=VALUE of `--set`.
    spelled: a letter, for a shorter way; or all ways to spell the option, if its name is none.
    least, most: of a number.  shown: the default as help shows it, if it is None and another setting decides.
    metavar: what help calls the value.  hidden: only `--help-all` shows it.
    parser: makes the value of what is given, or raises SettingError.
    """

    meaning: str = ""
    spelled: str = ""
    panel: str = ""
    least: float = -inf
    most: float = inf
    shown: str = ""
    metavar: str | None = None
    hidden: bool = False
    parser: Callable[[str], Any] | None = None


def setting(default: Any, meaning: str, spelled: str = "", **how: Any) -> Any:
    """Make a field of settings, or the default of a command's parameter; ``...``: it must be given.  See `Setting`."""
    return field(default=default, metadata={"setting": Setting(meaning, spelled, **how)})


def same(settings: Any, name: str) -> Any:
    """Make a field that is the same as in other settings."""
    one = next(one for one in fields(settings) if one.name == name)
    return field(default=one.default, metadata=one.metadata)


def setting_of_names(meaning: str) -> Any:
    """Make a field of settings that is a mapping, empty by default: `--set` gives each value as NAME.KEY=VALUE."""
    return field(default_factory=dict, metadata={"setting": Setting(meaning)})


def setting_of(one: Field[Any]) -> Setting:
    found: Setting = one.metadata.get("setting", Setting())
    return found


def parse_size(size: str | int) -> int:
    """Parse a size like 500M or 2G, or a number of bytes, as bytes.  Raises SettingError."""
    units = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
    parts = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)([KMGT]?)B?", str(size).strip().upper())
    if parts is None:
        raise SettingError(f"{size!r} is not a size (give one like 500M or 2G)")
    return int(float(parts[1]) * units[parts[2]])


def check(settings: DataclassInstance) -> None:
    """Raise SettingError for a value that is none of its Literal's, or not from its least to its most."""
    for name, one, hint in fields_of(type(settings)):
        value, how, known = getattr(settings, name), setting_of(one), choices(hint)
        if value is not None and known and value not in known:
            raise SettingError(f"unknown {name} {value!r} (choose from {', '.join(known)})")
        least, most = how.least, how.most
        bounded = (least, most) != (-inf, inf)
        if bounded and isinstance(value, int | float) and not least <= value <= most:  # NaN is not, either
            where = f"at least {least:g}" if most == inf else f"from {least:g} to {most:g}"
            raise SettingError(f"`{name}` must be a number {where}, not {value}")


def changed(settings: DataclassInstance) -> list[str]:
    """The names of the settings that are not the default."""
    return [one.name for one in fields(settings) if getattr(settings, one.name) != _default(one)]


def _default(one: Field[Any]) -> Any:
    return one.default if one.default_factory is MISSING else one.default_factory()


def refuse_pairs(given: Iterable[str], *rules: tuple[str, str, str]) -> None:
    """Raise SettingError for the first setting that has no effect together with another.

    given: names of settings that are not the default.  rules: names, other names that make them idle, and why.
    """
    for names, others, why in rules:
        for name, other in product(names.split(), others.split()):
            if {name, other} <= {*given}:
                raise SettingError(f"`{name}` has no effect with `{other}`, {why} (leave one out)")


def with_values(settings: S, given: Sequence[str], *others: type) -> S:
    """The settings changed by what the user gives as NAME=VALUE, or as NAME.KEY=VALUE for a mapping.

    others: classes of settings whose names are ignored.  Raises SettingError for a name that no class has.
    """
    hints = {name: hint for name, _, hint in _settable(type(settings))}
    elsewhere = {name for other in others for name, *_ in _settable(other)}
    values: dict[str, Any] = {}
    for one in given:
        full, _, text = one.partition("=")
        name, _, key = full.partition(".")
        if not name or not text or sum(other.partition("=")[0] == full for other in given) > 1:
            raise SettingError(f"{one!r} is not NAME=VALUE, each name once (like seed=1)")
        if name in hints:
            mapped = get_origin(hints[name]) is Mapping
            if mapped != bool(key):
                raise SettingError(f"{one!r} is not {name}{'.KEY' if mapped else ''}=VALUE (like seed=1)")
            values[name] = values.get(name, {}) | {key: text} if mapped else _read(hints[name], one, text)
        elif name not in elsewhere:
            known = ", ".join(sorted({*hints, *elsewhere}))
            raise SettingError(f"there is no setting {name} (choose from {known}; others have an option)")
    return replace(settings, **values)


def describe(*classes: type) -> Iterator[tuple[str, str]]:
    """Yield the names that `with_values` takes, and their meanings, each once."""
    seen: set[str] = set()
    for name, one, hint in (found for made in classes for found in _settable(made)):
        if name not in seen:
            seen.add(name)
            default = setting_of(one).shown or ("" if one.default in (None, MISSING) else f"{one.default}")
            key = ".KEY" if get_origin(hint) is Mapping else ""
            known = f" One of {', '.join(choices(hint))}." if choices(hint) else ""
            yield name + key, setting_of(one).meaning + known + (f"  [default: {default}]" if default else "")


@cache
def fields_of(made: type) -> list[tuple[str, Field[Any], Any]]:
    """The fields of settings, with their names and types."""
    hints = get_type_hints(made)
    return [(one.name, one, hints[one.name]) for one in fields(made)]


def _settable(made: type) -> Iterator[tuple[str, Field[Any], Any]]:
    """The fields that `--set` gives."""
    return (one for one in fields_of(made) if setting_of(one[1]).meaning and not setting_of(one[1]).panel)


def choices(hint: Any) -> list[str]:
    """The values of a Literal, or of the Literals in a union."""
    parts = get_args(hint)
    return [name for part in parts for name in ([part] if isinstance(part, str) else choices(part))]


def _read(hint: Any, given: str, text: str) -> int | float | str | tuple[str, ...]:
    kinds = {hint, *get_args(hint)}
    try:
        if int in kinds:
            return parse_size(text) if re.fullmatch(r".*[0-9][KMGTkmgt]B?", text) else int(text)
        if float in kinds:
            return float(text)
    except ValueError:
        raise SettingError(f"{given!r}: {text!r} is not a number") from None
    return tuple(text.split(",")) if tuple[str, ...] in kinds else text
