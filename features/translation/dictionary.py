"""Dictionaries that a user has: pairs of words or phrases, which count as links of other text, see `priors`."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import product

from corpora.errors import BrokenLine, quoted
from corpora.files import StrPath
from corpora.left_out import warn_of_left_out
from corpora.normalize import Normalizer

COUNT = 0.5
"""Links that an entry of weight 1 stands for: it decides where the text says little, and fades where it says more."""

HEAVIEST = 1e6

MOST_WORDS = 64
"""Words of a side of an entry: each counts with each of the other side."""

_HINT = f"an entry is source TAB target or source ||| target, and perhaps a weight above 0, at most {HEAVIEST:g}"


def plain(text: str) -> str:
    """The text of a number.  Raises ValueError for the underscores and digits that Python alone takes for one."""
    if "_" in text or not text.isascii():
        raise ValueError(f"{text!r} is no number")
    return text


def parse_dictionary(
    lines: Iterable[bytes], path: StrPath, normalizers: tuple[Normalizer, Normalizer]
) -> Mapping[tuple[str, str], float]:
    """Counts of word pairs; the words of a phrase share its count.  path: for errors.  Empty lines are left out.

    Raises BrokenLine, and warns of entries that are too long (`LeftOut`).
    """
    links: defaultdict[tuple[str, str], float] = defaultdict(float)
    left_out = Counter[str]()
    for number, line in enumerate(lines, 1):
        try:
            entry = line.decode()
            if not entry.strip():
                continue
            source, target, *more = entry.split("\t" if "\t" in entry else "|||")
            (weight,) = map(float, map(plain, more or ("1",)))
            phrases = normalizers[0].tokens(source), normalizers[1].tokens(target)
            if not (all(phrases) and 0.0 < weight <= HEAVIEST):
                raise ValueError
        except ValueError:
            raise BrokenLine(path, number, f"{quoted(line)} is no entry of a dictionary", hint=_HINT) from None
        if max(map(len, phrases)) > MOST_WORDS:
            left_out[f"entries of more than {MOST_WORDS} words on a side (give sentences as text)"] += 1
            continue
        for pair in product(*phrases):
            links[pair] += COUNT * weight / max(map(len, phrases))
    warn_of_left_out(path, left_out)
    return links
