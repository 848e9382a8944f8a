"""GIZA++ and comtrans files: order and numbers of pairs, two directions, genuine files, and broken ones told."""

import io
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

import pytest
from commands import write
from hypothesis import given
from hypothesis import strategies as st
from readings import leaves_out, refuses

from corpora.conversion import symmetrize_files
from corpora.formats import giza
from corpora.formats.comtrans import parse_comtrans
from corpora.formats.giza import A3Pair, parse_a3, read_a3, write_a3
from corpora.left_out import LeftOut
from corpora.link_files import open_links
from corpora.links import NO_LINKS, PairLinks
from corpora.readers import open_corpus

PAIR = b"# Sentence pair (1) source length 2 target length 3 alignment score : 0.1"
GOOD = [PAIR, b"das kleine Haus", b"NULL ({ 1 }) small ({ 2 }) house ({ 3 })"]


def parse(lines: list[bytes]) -> list[A3Pair]:
    return list(parse_a3(lines, "x.A3.final"))


def numbered(number: int, word: str | None = None) -> str:
    comment = f"# Sentence pair ({number}) source length 1 target length 1 x"
    return f"{comment}\n{word or number}\nNULL ({{ }}) s ({{ 1 }})"


def lines_of(numbers: list[int]) -> list[bytes]:
    return "\n".join(map(numbered, numbers)).encode().split(b"\n")


@given(
    st.sets(st.integers(0, 30), min_size=1).flatmap(lambda drawn: st.permutations(sorted(drawn))),
    st.sampled_from([1, 200, 1 << 20]),
)
def test_pairs_come_in_the_order_of_their_numbers_and_gaps_are_empty(numbers: list[int], at_once: int) -> None:
    if 0 in numbers and numbers[0] == 1:  # those before it are out already
        with refuses(rf"^x.A3.final:{3 * numbers.index(0) + 1}: sentence pair \(0\) comes after"):
            parse(lines_of(numbers))
        return
    every = range(min(*numbers, 1), max(numbers) + 1)
    missing = len(every) - len(numbers)
    told = leaves_out(f"{missing} sentence pairs whose numbers are missing") if missing else nullcontext()
    with patch.object(giza, "_SORTED_AT_ONCE", at_once), told:
        pairs = parse(lines_of(numbers))
    assert [pair.target for pair in pairs] == [(str(number),) if number in numbers else () for number in every]
    for number, pair in zip(every, pairs, strict=True):
        assert number not in numbers or pair.line == 3 * numbers.index(number) + 1
        assert bool(pair.links.sure) == (number in numbers)


@pytest.mark.parametrize(
    ("numbers", "what"),
    [
        ([1, 2, 1], r"7: sentence pair \(1\) is there already"),
        ([2, 3, 2, 1], r"7: sentence pair \(2\) is there already"),
        ([1, 10**9], r"4: sentence pair \(1000000000\), but the file has 2 pairs"),
        ([10**17], r"1: sentence pair \(1000"), ([10**30], "1: not a '# Sentence pair' comment"),
    ],
)  # fmt: skip
def test_numbers_that_cannot_be(numbers: list[int], what: str) -> None:
    with refuses(f"^x.A3.final:{what}"):
        parse(lines_of(numbers))


def test_two_directions_that_lack_pairs_or_contradict_each_other(tmp_path: Path) -> None:
    """A pair that one direction lacks has the words of the other."""
    turned = "# Sentence pair ({0}) source length 1 target length 1 x\ns\nNULL ({{ }}) {0} ({{ 1 }})"
    files = [
        write(tmp_path / "one", numbered(3), numbered(1)), write(tmp_path / "other", *map(turned.format, (2, 1, 3))),
    ]  # fmt: skip
    corpus = open_corpus(files)
    with leaves_out("one: left out: 1 sentence pairs"):
        assert [text[1:] for text in corpus.texts()] == [(b"s", b"1"), (b"s", b"2"), (b"s", b"3")]
    with leaves_out("one: left out: 1 sentence pairs"):
        assert [pair.sure for pair in corpus.links()] == [{(0, 0)}] * 3
    with pytest.warns(LeftOut):
        assert [len(p.sure) for p in symmetrize_files(*files, "union", transpose_reverse=True)] == [1, 1, 1]
    one, same = (write(tmp_path / f"{x}{y}", numbered(x), numbered(y)) for x, y in ((2, 1), (1, 2)))
    assert [len(pair.sure) for pair in symmetrize_files(one, same, "union")] == [1, 1]
    with refuses(r"12:1: is not the pair at line 4 of .*21 with.*swapped \(leave `transpose"):
        list(symmetrize_files(one, same, "union", transpose_reverse=True))
    other = write(tmp_path / "other", numbered(1), numbered(2, "two"))
    with refuses(r"other:4: is not the pair at line 1 of .*21 \(give the two directions"):
        list(symmetrize_files(one, other, "union"))
    with refuses(r"21:3: link 0-0 is out of range"):
        list(open_links(one, lengths=[(1, 1), (0, 1)]))


def test_null_takes_the_target_words_without_a_link() -> None:
    links = PairLinks(frozenset({(0, 1), (1, 2)}))
    words = ("small", "house"), ("das", "kleine", "Haus")
    with io.BytesIO() as stream:
        write_a3(stream, [(*words, links)])
        comment, *rest, _ = stream.getvalue().split(b"\n")
    assert rest == GOOD[1:]
    assert comment.startswith(b"# Sentence pair (1) source length 2 target length 3")
    assert parse(GOOD) == [A3Pair(*words, links, line=1)], "links of NULL are dropped"


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
    with refuses(f"^x.A3.final:{4 + index}: {what}"):
        parse([*GOOD, *second[:index], line, *second[index + 1 :]])
    with refuses(rf"^x.A3.final:{4 + index % 2}: the file ends inside a pair"):
        parse(GOOD + GOOD[: 1 + index % 2])


def test_broken_triples() -> None:
    lines = [b"das Haus", b"the house", b"0-0 1-1", b"ja", b"yes", b"0-zero"]
    assert next(parse_comtrans(lines, "x")).links == PairLinks(frozenset({(0, 0), (1, 1)}))
    for cut, message in ((6, "^x:6: '0-zero' is not a link"), (5, "^x:5: the file ends inside a pair")):
        with refuses(message):
            list(parse_comtrans(lines[:cut], "x"))
    assert [pair.links for pair in parse_comtrans([b"", b"", b""], "x")] == [NO_LINKS]


def test_genuine_output_is_written_as_it_was(data: Path) -> None:
    for name, n_pairs in (("en-nl", 1000), ("sv-en", 10)):
        file = data / "giza" / f"{name}.A3.final"
        pairs, stream = [pair[:3] for pair in read_a3(file)], io.BytesIO()
        write_a3(stream, pairs)
        found, original = ([line.split() for line in of.split(b"\n")] for of in (stream.getvalue(), file.read_bytes()))
        assert len(pairs) == n_pairs
        assert found[2::3] == original[2::3]
        assert [line[:10] for line in found[0::3]] == [line[:10] for line in original[0::3]]
