"""The shared-task format: any order of lines, sentences without links, agreement with the Pharaoh copy."""

import io
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.alignment import NO_LINKS, PairLinks
from corpora.errors import CorpusError
from corpora.formats.naacl import gather_naacl, is_marked_up, parse_naacl, parse_sentence, write_naacl
from corpora.link_files import open_links

LINK = st.tuples(st.integers(0, 30), st.integers(0, 30))


def gather(lines: list[bytes], sentences: range | list[int] | None = None) -> list[PairLinks]:
    return list(gather_naacl(parse_naacl(lines, "x.wa"), "x.wa", sentences))


def sure(*links: tuple[int, int]) -> PairLinks:
    return PairLinks(frozenset(links), frozenset())


@given(st.lists(st.tuples(st.frozensets(LINK), st.frozensets(LINK)), max_size=5), st.randoms())
def test_what_is_written_is_read_back_in_any_order(
    drawn: list[tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]], rng: random.Random
) -> None:
    pairs = [PairLinks(certain, maybe - certain) for certain, maybe in drawn]
    stream = io.BytesIO()
    write_naacl(stream, pairs)
    lines = stream.getvalue().split(b"\n")
    rng.shuffle(lines)
    assert gather(lines, range(1, len(pairs) + 1)) == pairs


def test_defaults_zeros_and_null() -> None:
    lines = [b"0003 1 2", b"001 01 1 P 0.5", b"1 2 2 S", b"1 3 3 0.25", b"", b"2 0 1", b"2 1 0 S", b"1 1 1 S"]
    assert gather(lines) == [sure((0, 0), (1, 1), (2, 2)), NO_LINKS, sure((0, 1))]
    assert gather(lines, range(1, 6)) == [*gather(lines), NO_LINKS, NO_LINKS]
    assert gather([*lines, b"7 1 1"], [7, 3, 2, 1]) == [sure((0, 0)), *gather(lines)[::-1]]


@pytest.mark.parametrize("line", [b"1 1", b"1 1 1 X", b"1 -1 1", b"1-1", b"a b c", b"1 1 1 S high", b"1 1 1 P S"])
def test_garbage_is_named(line: bytes) -> None:
    with pytest.raises(CorpusError, match=rf"^x.wa:2: '{line.decode()}' is not a link"):
        gather([b"1 1 1", line])


@pytest.mark.parametrize("number", [0, 4])
def test_a_sentence_the_text_has_not(number: int) -> None:
    with pytest.raises(CorpusError, match=rf"^x.wa:2: there is no sentence {number} in the text"):
        gather([b"1 1 1", b"%d 1 1" % number], range(1, 4))


def test_markup() -> None:
    assert is_marked_up(b"<s snum=0012> il </s>")
    assert not is_marked_up(b"<s> il </s>")
    assert parse_sentence(b"<s snum=0012> il   <b> s' </s>", "x", 1) == (12, b"il   <b> s'")
    assert parse_sentence(b"<s snum=3></s>", "x", 1) == (3, b"")
    with pytest.raises(CorpusError, match=r"^x:9: not a line '<s snum=...>"):
        parse_sentence(b"il", "x", 9)


def test_agreement_with_the_pharaoh_copy(data: Path) -> None:
    gold = list(open_links(data / "hansards" / "gold-trial.wa", format="pharaoh"))
    assert list(open_links(data / "formats" / "trial.naacl.wa", sentences=range(1, 38))) == gold
    for language, letter in (("en", "e"), ("fr", "f")):
        copies = data / "hansards" / f"gold-trial.{language}", data / "formats" / f"trial.naacl.{letter}"
        plain, task = ([line.split() for line in copy.read_bytes().split(b"\n")] for copy in copies)
        assert plain == task
