"""GIZA++ and comtrans files: written ones are read back, genuine ones written as they were, and broken ones told."""

from __future__ import annotations

import io
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

import pytest
from commands import write
from hypothesis import given
from hypothesis import strategies as st

from corpora.conversion import symmetrize_files
from corpora.errors import CorpusError
from corpora.formats import giza
from corpora.formats.comtrans import parse_comtrans, write_comtrans
from corpora.formats.giza import A3Pair, parse_a3, read_a3, write_a3
from corpora.left_out import LeftOut
from corpora.link_files import open_links
from corpora.links import NO_LINKS, PairLinks
from corpora.readers import open_corpus

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
    return source, target, PairLinks(links)


def parse(lines: list[bytes]) -> list[A3Pair]:
    return list(parse_a3(lines, "x.A3.final"))


@given(st.lists(sentence_pairs(), max_size=4))
def test_what_is_written_is_read_back(pairs: list[tuple[tuple[str, ...], tuple[str, ...], PairLinks]]) -> None:
    stream = io.BytesIO()
    write_a3(stream, pairs)
    read = parse(stream.getvalue().split(b"\n")[:-1])
    assert [(pair.source, pair.target, pair.links) for pair in read] == pairs
    assert [pair.line for pair in read] == list(range(1, 3 * len(pairs), 3))


def numbered(number: int, word: str | None = None) -> bytes:
    comment = f"# Sentence pair ({number}) source length 1 target length 1 x"
    return f"{comment}\n{word or number}\nNULL ({{ }}) s ({{ 1 }})\n".encode()


@given(
    st.sets(st.integers(0, 30), min_size=1).flatmap(lambda drawn: st.permutations(sorted(drawn))),
    st.sampled_from([1, 200, 1 << 20]),
)
def test_pairs_come_in_the_order_of_their_numbers_and_gaps_are_empty(numbers: list[int], at_once: int) -> None:
    lines = b"".join(map(numbered, numbers)).split(b"\n")[:-1]
    if 0 in numbers and numbers[0] == 1:  # those before it are out already
        with pytest.raises(
            CorpusError, match=rf"^x.A3.final:{3 * numbers.index(0) + 1}: sentence pair \(0\) comes after"
        ):
            parse(lines)
        return
    least = min(*numbers, 1)
    missing = max(numbers) + 1 - least - len(numbers)
    told = pytest.warns(LeftOut, match=f"{missing} sentence pairs whose numbers are missing")
    with patch.object(giza, "_SORTED_AT_ONCE", at_once), told if missing else nullcontext():
        pairs = parse(lines)
    assert [pair.target for pair in pairs] == [
        (str(number),) if number in numbers else () for number in range(least, max(numbers) + 1)
    ]
    for number, pair in enumerate(pairs, least):
        assert number not in numbers or pair.line == 3 * numbers.index(number) + 1
        assert bool(pair.links.sure) == (number in numbers)


@pytest.mark.parametrize(
    ("numbers", "what"),
    [
        ([1, 2, 1], r"7: sentence pair \(1\) is there already"),
        ([2, 3, 2, 1], r"7: sentence pair \(2\) is there already"),
        ([1, 10**9], r"4: sentence pair \(1000000000\), but the file has 2 pairs"),
        ([10**17], r"1: sentence pair \(1000"),
        ([10**30], "1: not a '# Sentence pair' comment"),
    ],
)
def test_numbers_that_cannot_be(numbers: list[int], what: str) -> None:
    with pytest.raises(CorpusError, match=f"^x.A3.final:{what}"):
        parse(b"".join(map(numbered, numbers)).split(b"\n")[:-1])


def test_a_pair_that_one_direction_lacks_has_the_words_of_the_other(tmp_path: Path) -> None:
    turned = "# Sentence pair ({0}) source length 1 target length 1 x\ns\nNULL ({{ }}) {0} ({{ 1 }})\n"
    write(tmp_path / "one", *[numbered(number).decode().rstrip() for number in (3, 1)])
    write(tmp_path / "other", *[turned.format(number).rstrip() for number in (2, 1, 3)])
    files = [tmp_path / "one", tmp_path / "other"]
    corpus = open_corpus(files)
    for read in (lambda: [text[1:] for text in corpus.texts()], lambda: [pair.sure for pair in corpus.links()]):
        with pytest.warns(LeftOut, match="one: left out: 1 sentence pairs"):
            found = read()
        assert found in ([(b"s", b"1"), (b"s", b"2"), (b"s", b"3")], [{(0, 0)}] * 3)
    with pytest.warns(LeftOut):
        assert [len(p.sure) for p in symmetrize_files(*files, "union", transpose_reverse=True)] == [1, 1, 1]


def test_two_files_whose_words_contradict_each_other_are_not_symmetrised(tmp_path: Path) -> None:
    one = write(tmp_path / "one", *[numbered(number).decode().rstrip() for number in (2, 1)])
    same = write(tmp_path / "same", *[numbered(number).decode().rstrip() for number in (1, 2)])
    assert [len(pair.sure) for pair in symmetrize_files(one, same, "union")] == [1, 1]
    with pytest.raises(
        CorpusError, match=r"same:1: is not the pair at line 4 of .*one with.*swapped \(leave `transpose"
    ):
        list(symmetrize_files(one, same, "union", transpose_reverse=True))
    other = write(tmp_path / "other", numbered(1).decode().rstrip(), numbered(2, "two").decode().rstrip())
    with pytest.raises(CorpusError, match=r"other:4: is not the pair at line 1 of .*one \(give the two directions"):
        list(symmetrize_files(one, other, "union"))


def test_a_link_out_of_range_is_told_with_the_line_of_its_pair(tmp_path: Path) -> None:
    path = write(tmp_path / "x", *[numbered(number).decode().rstrip() for number in (2, 1)])
    with pytest.raises(CorpusError, match=r"x:3: link 0-0 is out of range"):
        list(open_links(path, lengths=[(1, 1), (0, 1)]))


def test_null_takes_the_target_words_without_a_link() -> None:
    stream = io.BytesIO()
    links = PairLinks(frozenset({(0, 1), (1, 2)}))
    write_a3(stream, [(("small", "house"), ("das", "kleine", "Haus"), links)])
    comment, *rest = stream.getvalue().decode().splitlines()
    assert rest == [line.decode() for line in GOOD[1:]]
    assert comment.startswith("# Sentence pair (1) source length 2 target length 3")


def test_null_links_are_dropped() -> None:
    pair = A3Pair(
        source=("small", "house"),
        target=("das", "kleine", "Haus"),
        links=PairLinks(frozenset({(0, 1), (1, 2)})),
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
    second = [PAIR.replace(b"(1)", b"(2)"), *GOOD[1:]]
    broken = [*second[:index], line, *second[index + 1 :]]
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
        (*([word.decode() for word in side.split()] for side in pair.text[1:]), pair.links) for pair in read
    ] == pairs
    assert [pair.text[0] for pair in read] == list(range(1, 3 * len(pairs), 3))


def test_broken_triples() -> None:
    lines = [b"das Haus", b"the house", b"0-0 1-1", b"ja", b"yes", b"0-zero"]
    assert next(parse_comtrans(lines, "x")).links == PairLinks(frozenset({(0, 0), (1, 1)}))
    with pytest.raises(CorpusError, match=r"^x:6: '0-zero' is not a link"):
        list(parse_comtrans(lines, "x"))
    with pytest.raises(CorpusError, match=r"^x:5: the file ends inside a pair"):
        list(parse_comtrans(lines[:5], "x"))
    assert [pair.links for pair in parse_comtrans([b"", b"", b""], "x")] == [NO_LINKS]
