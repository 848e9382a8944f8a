"""Links to be judged, from files and sequences; what number their first word has."""

import os
import warnings
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from corpora import SettingError
from corpora.files import StrPath
from corpora.link_files import INDEX_BASES, open_links, read_links
from corpora.links import Link, Links
from corpora.recognize import links_format

AnyLinks = StrPath | Links | Iterable[Iterable[Link]]

_FEWEST_PAIRS = 3
"""Pairs with links, of which one would link a first word if they counted from 0."""


def name_of(links: AnyLinks, otherwise: str) -> str:
    return os.fspath(links) if isinstance(links, str | os.PathLike) else otherwise


def short_names(paths: Sequence[str]) -> list[str]:
    """Shorten paths to their last parts, as many as distinguish them.

    >>> short_names(["runs/one/test.links", "runs/two/test.links"])
    ['one/test.links', 'two/test.links']
    """
    ends = (["/".join(PurePath(path).parts[-length:]) for path in paths] for length in range(1, 100))
    return next((names for names in ends if len({*names}) == len({*paths})), [*paths])


def read(links: AnyLinks, **known: Any) -> Links:
    """Read links from a path, or pack them from a sequence.  known: arguments of `read_links` about sentences."""
    if isinstance(links, str | os.PathLike):
        return read_links(links, **known)
    if isinstance(links, Links):
        return links
    sets = list(links)
    if any(isinstance(one, str) for one in sets):
        raise TypeError("the links of a pair are (source, target) positions, not a string (give a file by its path)")
    return Links.from_sets(sets)


def reading(links: Links) -> str:
    """The format of links, the number of a sentence's first word there, and whether any link is only possible."""
    read_as = f"{links.format},base-{INDEX_BASES[links.format]}" if links.format else "arrays"
    return f"{read_as},{'all-sure' if links.sure.all() else 'sure-and-possible'}"


def read_from(base: int, links: AnyLinks, lengths: Sequence[tuple[int, int]] | None) -> Links:
    """Read links of a file in the Pharaoh format, whose first words have this number.  SettingError for others."""
    format_ = "arrays"
    if isinstance(links, str | os.PathLike):
        format_ = links_format(links).name
        if format_ in ("pharaoh", "talp"):
            return open_links(links, format=("pharaoh", "talp")[base], lengths=lengths).read()
    raise SettingError(f"`base` is of gold in the Pharaoh format, not of {format_} (leave it out)")


def warn_of_bases(names: Sequence[str], found: Sequence[Links], with_base: bool) -> None:
    """Warn of links of files that seem to count from 1, as no word is a first one: the first are gold's.

    with_base: whether gold may be read anew, with `base`.
    """
    zeros = [0 in links.source or 0 in links.target for links in found]
    for number, (name, links) in enumerate(zip(names, found, strict=True)):
        others = zeros[1:] if number == 0 else zeros[:1]
        is_enough = np.count_nonzero(np.diff(links.offsets)) >= _FEWEST_PAIRS
        if is_enough and not zeros[number] and any(others) and INDEX_BASES.get(links.format) == 0:
            hint = "then name it .talp" + ", or give `base` 1" * (with_base and number == 0)
            what = f"no link of {name} has a 0, but {'the others have' if number == 0 else names[0] + ' has'}"
            warnings.warn(f"{what}: does it count from 1? ({hint})", stacklevel=3)
