"""Spaces at which Python's `split` divides and this program does not: said once, with the number of lines."""

import sys
import warnings
from pathlib import Path

import pytest
from commands import run, write
from hypothesis import given
from hypothesis import strategies as st

from corpora.bitext import read_bitext
from corpora.left_out import OtherSpaces
from corpora.normalize import Normalizer
from corpora.readers import open_texts
from corpora.spaces import warn_of_spaces

SPACES = [c for c in map(chr, range(sys.maxunicode + 1)) if c.isspace() and c not in "\t\n\r\x0b\x0c "]
LINE = st.text(st.sampled_from(["a", " ", "é", "“", "中", *SPACES]), max_size=6)


class Named:
    name = "t"


@given(st.lists(st.tuples(LINE, LINE), max_size=8))
def test_lines_that_split_divides_otherwise(pairs: list[tuple[str, str]]) -> None:
    texts = [(number, source.encode(), target.encode()) for number, (source, target) in enumerate(pairs, 5)]
    expected = {n for n, *sides in texts if any(len(s.split()) != len(s.decode().split()) for s in sides)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_spaces(Named(), texts)  # type: ignore[arg-type]
    found = [one.message for one in caught]
    assert [one.lines for one in found if isinstance(one, OtherSpaces)] == [expected] * bool(expected)


def test_parts_and_passes_are_joined() -> None:
    parts = [OtherSpaces("t", range(first, first + 3)) for first in (0, 3, 0)]
    assert str(parts[0].joined(parts[1]).joined(parts[2])).startswith("t: 6 lines have")
    assert "1,000 or more lines have" in str(parts[0].joined(OtherSpaces("t", range(5000))))
    assert "1 line has" in str(OtherSpaces("t", [7]))


def test_a_text_that_is_tokenised_has_none(tmp_path: Path) -> None:
    files = write(tmp_path / "a.en", "a\u00a0b", "c"), write(tmp_path / "a.fr", "a b", "c\u3000d")
    corpus = open_texts(*files)
    with pytest.warns(OtherSpaces, match="2 lines"):
        read_bitext([corpus], Normalizer(), Normalizer())
    bitext = read_bitext([corpus], Normalizer(tokenize=True), Normalizer(tokenize=True))
    assert bitext.source.lengths.tolist() == [2, 1]


@pytest.mark.slow
def test_commands_say_it_once(tmp_path: Path) -> None:
    texts = write(tmp_path / "a.en", "a\u00a0b", "c"), write(tmp_path / "a.fr", "a b", "c")
    links, both = write(tmp_path / "l", "0-0", "0-0"), write(tmp_path / "b", "a\u00a0b ||| a b", "c ||| c")
    for line in (["align", *texts], ["align", both], ["evaluate", links, links, "--text", tmp_path / "a"]):
        assert run(*line).stderr.count("1 line has no-break or other spaces") == 1
    assert not run("align", *texts, "-q").stderr
