"""GIZA++ and comtrans files: written ones are read back, genuine ones written as they were, and broken ones told."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.alignment import NO_LINKS, PairLinks
from corpora.errors import CorpusError
from corpora.formats.comtrans import parse_comtrans, write_comtrans
from corpora.formats.giza import A3Pair, parse_a3, read_a3, write_a3

SPACES = " \t\n\r\x0b\x0c"
WORD = st.one_of(
    st.sampled_from(["({", "})", "({})", "NULL", "|||", "1", "#"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters=SPACES + "\ufeff"), min_size=1),
)

PAIR = b"# Sentence pair (1) source length 2 target length 3 alignment score : 0.1"
GOOD = [PAIR, b"das kleine Haus", b"NULL ({ 1 }) small ({ 2 }) house ({ 3 })"]


@st.composite
def sentence_pairs(draw: st.DrawFn) -> tuple[tuple[str, ...], tuple[str, ...], PairLinks]:
    source, target = (tuple(draw(st.lists(WORD, max_size=6))) for _ in range(2))
    cells = [(i, j) for i in range(len(source)) for j in range(len(target))]
    links = draw(st.frozensets(st.sampled_from(cells))) if cells else frozenset()
    return source, target, PairLinks(links, frozenset())


def parse(lines: list[bytes]) -> list[A3Pair]:
    return list(parse_a3(lines, "x.A3.final"))


@given(st.lists(sentence_pairs(), max_size=4))
def test_what_is_written_is_read_back(pairs: list[tuple[tuple[str, ...], tuple[str, ...], PairLinks]]) -> None:
    stream = io.BytesIO()
    write_a3(stream, pairs)
    read = parse(stream.getvalue().split(b"\n")[:-1])
    assert [(pair.source, pair.target, pair.links) for pair in read] == pairs
    assert [pair.line for pair in read] == list(range(1, 3 * len(pairs), 3))


def test_null_takes_the_target_words_without_a_link() -> None:
    stream = io.BytesIO()
    links = PairLinks(frozenset({(0, 1), (1, 2)}), frozenset({(0, 0)}))
    write_a3(stream, [(("small", "house"), ("das", "kleine", "Haus"), links)])
    comment, *rest = stream.getvalue().decode().splitlines()
    assert rest == [line.decode() for line in GOOD[1:]]
    assert comment.startswith("# Sentence pair (1) source length 2 target length 3")


def test_null_links_are_dropped() -> None:
    pair = A3Pair(
        source=("small", "house"),
        target=("das", "kleine", "Haus"),
        links=PairLinks(frozenset({(0, 1), (1, 2)}), frozenset()),
        line=1,
    )
    assert parse(GOOD) == [pair]


@pytest.mark.parametrize(
    ("index", "line", "what"),
    [
        (0, b"das kleine Haus", "not a '# Sentence pair' comment"),
        (1, b"das kleine", "2 target words, but the comment says 3"),
        (1, b"das kleine \xff", "not valid UTF-8"),
        (2, b"NULL ({ 1 }) house ({ 2 3 })", "1 source words, but the comment says 2"),
        (2, b"small ({ 2 }) house ({ 3 })", "the first word is not NULL"),
        (2, b"NULL ({ 1 }) small ({ 2 }) house ({ 4 })", "position 4 is out of range for 3 target words"),
        (2, b"NULL ({ 0 }) small ({ 2 }) house ({ 3 })", "position 0 is out of range for 3 target words"),
        (2, b"NULL ({ 1 }) small house ({ 3 })", r"no 'word \(\{ positions \}\)' at column 14"),
        (2, b"NULL ({ 1 }) small ({ 2 }) house ({ 3", r"no 'word \(\{ positions \}\)' at column 28"),
        (2, b"NULL ({ 1 }) sm\xffall ({ 2 }) house ({ 3 })", "not valid UTF-8"),
        (2, b"", "the first word is not NULL"),
    ],
)
def test_what_does_not_add_up_is_told_with_its_line(index: int, line: bytes, what: str) -> None:
    broken = [*GOOD[:index], line, *GOOD[index + 1 :]]
    with pytest.raises(CorpusError, match=f"^x.A3.final:{4 + index}: {what}"):
        parse(GOOD + broken)


@pytest.mark.parametrize("kept", [1, 2])
def test_a_file_that_ends_inside_a_pair(kept: int) -> None:
    with pytest.raises(CorpusError, match=rf"^x.A3.final:{3 + kept}: the file ends inside a pair"):
        parse(GOOD + GOOD[:kept])


def test_genuine_output_is_written_as_it_was(data: Path) -> None:
    for name, n_pairs in (("en-nl", 1000), ("sv-en", 10)):
        file = data / "giza" / f"{name}.A3.final"
        pairs = [pair[:3] for pair in read_a3(file)]
        stream = io.BytesIO()
        write_a3(stream, pairs)
        written = [line.split() for line in stream.getvalue().split(b"\n")]
        original = [line.split() for line in file.read_bytes().split(b"\n")]
        assert len(pairs) == n_pairs
        assert written[2::3] == original[2::3]
        assert [line[:10] for line in written[0::3]] == [line[:10] for line in original[0::3]]


WORDS = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters=SPACES + "\ufeff"), min_size=1), max_size=5
)
PLACE = st.tuples(st.integers(0, 9), st.integers(0, 9))


@given(st.lists(st.tuples(WORDS, WORDS, st.frozensets(PLACE), st.frozensets(PLACE)), max_size=4))
def test_written_triples_are_read_back(
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
