"""Settings of commands: frozen dataclasses with checked fields, and their values from NAME=VALUE."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, field, fields, replace
from importlib import import_module
from itertools import product
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

from corpora import SettingError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound="DataclassInstance")

SETTINGS = {
    "align": ("aligner.model.settings", ["AlignSettings"]),
    "train": ("aligner.training.settings", ["CountSettings", "LearnSettings"]),
}
"""The classes of settings that a command's `--set` changes, by command."""


def settings_of(command: str) -> list[tuple[str, str]]:
    """The names that a command's `--set` takes, and their meanings."""
    module, names = SETTINGS.get(command, (__name__, []))
    return [*describe(*(getattr(import_module(module), name) for name in names))]


def setting(default: Any, meaning: str = "", *, least: float = -inf, most: float = inf, shown: str = "") -> Any:
    """Make a field of settings.

    meaning: a line for the user, if `--set` can give it; without one the commands have an option for it.
    least, most: of a number.  shown: the default as help shows it, if it is None and another setting decides.
    """
    return field(default=default, metadata={"meaning": meaning, "least": least, "most": most, "shown": shown})


def setting_of_names(meaning: str) -> Any:
    """Make a field of settings that is a mapping, empty by default: `--set` gives each value as NAME.KEY=VALUE."""
    return field(default_factory=dict, metadata={"meaning": meaning, "shown": ""})


def parse_size(size: str | int) -> int:
    """Parse a size like 500M or 2G, or a number of bytes, as bytes.  Raises SettingError."""
    units = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
    parts = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)([KMGT]?)B?", str(size).strip().upper())
    if parts is None:
        raise SettingError(f"{size!r} is not a size (give one like 500M or 2G)")
    return int(float(parts[1]) * units[parts[2]])


def check(settings: DataclassInstance) -> None:
    """Raise SettingError for a value that is none of its Literal's, or not from its least to its most."""
    for name, one, hint in _fields(type(settings)):
        value, least, most = getattr(settings, name), one.metadata.get("least", -inf), one.metadata.get("most", inf)
        choices = _choices(hint)
        if value is not None and choices and value not in choices:
            raise SettingError(f"unknown {name} {value!r} (choose from {', '.join(choices)})")
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
    hints = {name: hint for name, one, hint in _fields(type(settings)) if one.metadata.get("meaning")}
    elsewhere = {name for other in others for name, one, _ in _fields(other) if one.metadata.get("meaning")}
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
    for name, one, hint in (found for made in classes for found in _fields(made)):
        if one.metadata.get("meaning") and name not in seen:
            seen.add(name)
            default = one.metadata["shown"] or ("" if one.default in (None, MISSING) else f"{one.default}")
            key = ".KEY" if get_origin(hint) is Mapping else ""
            choices = f" One of {', '.join(_choices(hint))}." if _choices(hint) else ""
            yield name + key, one.metadata["meaning"] + choices + (f"  [default: {default}]" if default else "")


def _fields(made: type) -> Iterator[tuple[str, Field[Any], Any]]:
    hints = get_type_hints(made)
    return ((one.name, one, hints[one.name]) for one in fields(made))


def _choices(hint: Any) -> list[str]:
    """The values of a Literal, or of the Literals in a union."""
    parts = get_args(hint)
    return [name for part in parts for name in ([part] if isinstance(part, str) else _choices(part))]


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
