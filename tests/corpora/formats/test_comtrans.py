"""comtrans files: what is written is read back, and broken triples are told."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.alignment import NO_LINKS, PairLinks
from corpora.errors import CorpusError
from corpora.formats.comtrans import parse_comtrans, write_comtrans

SPACES = " \t\n\r\x0b\x0c"
WORDS = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters=SPACES + "\ufeff"), min_size=1), max_size=5
)
LINK = st.tuples(st.integers(0, 9), st.integers(0, 9))


@given(st.lists(st.tuples(WORDS, WORDS, st.frozensets(LINK), st.frozensets(LINK)), max_size=4))
def test_what_is_written_is_read_back(
    drawn: list[tuple[list[str], list[str], frozenset[tuple[int, int]], frozenset[tuple[int, int]]]],
) -> None:
    pairs = [(source, target, PairLinks(sure, maybe - sure)) for source, target, sure, maybe in drawn]
    stream = io.BytesIO()
    write_comtrans(stream, pairs)
    read = list(parse_comtrans(stream.getvalue().split(b"\n")[:-1], "x"))
    assert [
        ([w.decode() for w in p.source.split()], [w.decode() for w in p.target.split()], p.links) for p in read
    ] == pairs
    assert [pair.line for pair in read] == list(range(1, 3 * len(pairs), 3))


def test_broken_triples() -> None:
    lines = [b"das Haus", b"the house", b"0-0 1-1", b"ja", b"yes", b"0-zero"]
    assert next(parse_comtrans(lines, "x")).links == PairLinks(frozenset({(0, 0), (1, 1)}), frozenset())
    with pytest.raises(CorpusError, match=r"^x:6: '0-zero' is not a link"):
        list(parse_comtrans(lines, "x"))
    with pytest.raises(CorpusError, match=r"^x:5: the file ends inside a pair"):
        list(parse_comtrans(lines[:5], "x"))
    assert [pair.links for pair in parse_comtrans([b"", b"", b""], "x")] == [NO_LINKS]
