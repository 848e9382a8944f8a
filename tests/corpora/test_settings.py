"""Settings: what a user gives as NAME=VALUE, in the types of the fields, and what is none."""

from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass
from typing import Any, Literal

import pytest
from readings import cases, refuses

from corpora import SettingError
from corpora.settings import changed, check, describe, setting, setting_of_names, with_values


@dataclass(frozen=True)
class Some:
    apart: int = 7
    whole: int = setting(1, "A number.", least=0, most=9)
    broken: float | None = setting(None, "Another.", shown="it depends")
    kind: Literal["one", "two"] | None = setting(None, "A kind.")
    names: tuple[str, ...] | None = setting(None, "Names.")
    more: Mapping[str, str] = setting_of_names("More.")

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True)
class Others:
    elsewhere: int = setting(2, "Of others.")


def test_values_have_the_types_of_the_fields() -> None:
    given = ["whole=3", "broken=0.5", "kind=two", "names=a,b", "more.x=1", "more.y=z", "elsewhere=3"]
    found = with_values(Some(apart=8), given, Others)
    assert found == Some(8, 3, 0.5, "two", ("a", "b"), {"x": "1", "y": "z"})
    assert with_values(Others(), given, Some) == Others(3)
    assert changed(found) == ["apart", "whole", "broken", "kind", "names", "more"]
    assert changed(Some()) == changed(with_values(Some(), [])) == []
    with pytest.raises(FrozenInstanceError):
        found.whole = 4  # type: ignore[misc]


@pytest.mark.parametrize("size", ["1K", "1kB"])
def test_whole_numbers_may_be_sizes(size: str) -> None:
    with refuses("`whole` must be a number from 0 to 9, not 1024", SettingError):
        with_values(Some(), [f"whole={size}"])


@pytest.mark.parametrize(
    ("given", "message"),
    cases(
        r"""
        whole ¦ is not NAME=VALUE
        whole= ¦ is not NAME=VALUE
        =1 ¦ is not NAME=VALUE
        whole=1 whole=2 ¦ each name once
        more.x=1 more.x=1 ¦ each name once
        whole=x ¦ 'x' is not a number
        whole=1.5 ¦ '1.5' is not a number
        broken=x ¦ 'x' is not a number
        whole=10 ¦ `whole` must be a number from 0 to 9, not 10
        kind=three ¦ unknown kind 'three' \(choose from one, two\)
        more=1 ¦ is not more.KEY=VALUE
        whole.x=1 ¦ is not whole=VALUE
        apart=1 ¦ no setting apart
        none=1 ¦ no setting none \(choose from broken, elsewhere, kind, more, names, whole; others
        """
    ),
)
def test_what_is_no_value(given: str, message: str) -> None:
    with refuses(message, SettingError):
        with_values(Some(), given.split(), Others)


@pytest.mark.parametrize("value", [float("nan"), 10, -1])
def test_numbers_out_of_range(value: Any) -> None:
    with refuses("from 0 to 9", SettingError):
        Some(whole=value)


def test_what_is_listed() -> None:
    assert dict(describe(Some, Others, Some)) == {
        "whole": "A number.  [default: 1]",
        "broken": "Another.  [default: it depends]",
        "kind": "A kind. One of one, two.",
        "names": "Names.",
        "more.KEY": "More.",
        "elsewhere": "Of others.  [default: 2]",
    }
