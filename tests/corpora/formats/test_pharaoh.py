"""Pharaoh, TALP and the links of the shared task: notations, probabilities, and garbage, which is named."""

import io
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from readings import refuses

from corpora.errors import CorpusError
from corpora.formats.naacl import is_marked_up, parse_naacl, parse_sentence, write_naacl
from corpora.formats.pharaoh import is_links, parse_links
from corpora.link_files import open_links
from corpora.links import NO_LINKS, PairLinks


def test_notations() -> None:
    expected = PairLinks(frozenset({(0, 1), (2, 2)}), frozenset({(1, 0), (3, 0)}))
    assert parse_links("0-1 2-2 1?0 3p0", "a", 1) == parse_links(b"0-1 2-2 1?0 3p0", "a", 1) == expected
    scored = parse_links("\t3p0  1?0\t2-2:0.83 0-1:-1.5e-07 ", "a", 1)
    assert scored == expected._replace(scores={(2, 2): 0.83, (0, 1): -1.5e-07})
    assert parse_links("1-2 3-3 2?1 4p1", "a", 1, base=1) == expected
    assert parse_links("   ", "a", 1) == NO_LINKS
    for line in ("0-0 0?0", "0?0 0-0"):
        assert parse_links(line, "a", 1) == PairLinks(frozenset({(0, 0)})), "sure wins"
    assert parse_links("999999999-0", "a", 1).sure == {(999_999_999, 0)}
    assert [is_links(line) for line in (b"0-1 2?2 3p0", b"", b" ")] == [True, False, False]


@pytest.mark.parametrize("token", "1 1- -1-2 1--2 1-2-3 1-x 1_0-2 +1-2 1-2: 1-2:high 1–2 ٣-2 1x2 9999999999-0".split())
def test_garbage_is_named(token: str) -> None:
    with pytest.raises(CorpusError) as caught:
        parse_links(f"0-0 {token} 1-1", "gold.wa", 7)
    assert (caught.value.path, caught.value.line) == ("gold.wa", 7)
    assert caught.value.what.startswith("'")
    assert not is_links(f"0-0 {token}".encode())


@pytest.mark.parametrize(
    ("line", "base", "what"),
    [
        (b"0-0 \xff", 0, r"'\\xff' is not a link"),
        *[(b"1-1 " + token, 1, f"'{token.decode()}' has a position below 1") for token in (b"0-1", b"1-0", b"0p3")],
    ],
)
def test_garbage_that_is_not_utf8_and_positions_below_the_base(line: bytes, base: int, what: str) -> None:
    with refuses(f"^a:2: {what}"):
        parse_links(line, "a", 2, base=base)


LINK = st.tuples(st.integers(0, 99_999), st.integers(0, 99_999))


@given(st.dictionaries(LINK, st.floats(0, 1, exclude_min=True), max_size=8), st.randoms(), st.sampled_from([0, 1]))
def test_probabilities_whatever_the_order(links: dict[tuple[int, int], float], random: Random, base: int) -> None:
    tokens = [f"{j + base}-{k + base}:{p!r}" for (j, k), p in links.items()]
    random.shuffle(tokens)
    for probable in (True, False):
        found = parse_links(" ".join(tokens), "a", 1, base, probable=probable)
        assert found == PairLinks(frozenset(links), frozenset(), links)


def test_decimal_notations() -> None:
    line = "0-0:1 0-1:1.0 0-2:.5 0-3:5e-1 0-4:+0.25 0-5:1. 0-6 1?0:0.5 2-2:0.25 2-2:0.5 3-3 3-3:0.5"
    found = parse_links(line, "a", 1, probable=True)
    assert [found.scores.get((0, k)) for k in range(7)] == [1.0, 1.0, 0.5, 0.5, 0.25, 1.0, None]
    assert (found.scores[1, 0], found.possible) == (0.5, {(1, 0)})
    assert (found.scores[2, 2], found.scores[3, 3]) == (0.5, 1.0)  # the greatest of a link given twice


@pytest.mark.parametrize("score", ["0", "-0.5", "1.01", "1e-999", "1e9"])
def test_what_is_no_probability(score: str) -> None:
    with refuses(rf"a:7: '0-1:{score}' has no probability \(give i-j:p"):
        parse_links(f"0-0 0-1:{score}", "a", 7, probable=True)
    assert parse_links(f"0-0 0-1:{score}", "a", 7).scores == {(0, 1): float(score)}


PLACES = st.frozensets(st.tuples(st.integers(0, 30), st.integers(0, 30)))


def gather(lines: list[bytes], sentences: range | list[int] | None = None) -> list[PairLinks]:
    return list(parse_naacl(lines, "x.wa", sentences))


def sure(*links: tuple[int, int]) -> PairLinks:
    return PairLinks(frozenset(links))


@given(st.lists(st.tuples(PLACES, PLACES), max_size=5), st.randoms())
def test_what_is_written_is_read_back_in_any_order(
    drawn: list[tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]], rng: Random
) -> None:
    pairs, stream = [PairLinks(certain, maybe - certain) for certain, maybe in drawn], io.BytesIO()
    write_naacl(stream, pairs)
    lines = stream.getvalue().split(b"\n")
    rng.shuffle(lines)
    assert gather(lines, range(1, len(pairs) + 1)) == pairs


def test_defaults_zeros_and_null() -> None:
    lines = [b"0003 1 2", b"001 01 1 P 0.5", b"1 2 2 S", b"1 3 3 0.25", b"", b"2 0 1", b"2 1 0 S", b"1 1 1 S"]
    found = [sure((0, 0), (1, 1), (2, 2)), NO_LINKS, sure((0, 1))]
    assert gather(lines) == found
    assert gather(lines, range(1, 6)) == [*found, NO_LINKS, NO_LINKS]
    assert gather([*lines, b"7 1 1"], [7, 3, 2, 1]) == [sure((0, 0)), *found[::-1]]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        *[
            (line, f"'{line}' is not a link")
            for line in "1 1,1 1 1 X,1 -1 1,1-1,a b c,1 1 1 S high,1 1 1 P S".split(",")
        ],
        *[(f"{number} 1 1", f"there is no sentence {number} in the text") for number in (0, 4)],
    ],
)
def test_garbage_of_the_shared_task_is_named(line: str, what: str) -> None:
    with refuses(f"^x.wa:2: {what}"):
        gather([b"1 1 1", line.encode()], range(1, 4))


def test_markup() -> None:
    assert is_marked_up(b"<s snum=0012> il </s>")
    assert not is_marked_up(b"<s> il </s>")
    assert parse_sentence(b"<s snum=0012> il   <b> s' </s>", "x", 1) == (12, b"il   <b> s'")
    assert parse_sentence(b"<s snum=3></s>", "x", 1) == (3, b"")
    with refuses(r"^x:9: not a line '<s snum=...>"):
        parse_sentence(b"il", "x", 9)


def test_agreement_with_the_pharaoh_copy(data: Path) -> None:
    gold = list(open_links(data / "hansards" / "gold-trial.wa", format="pharaoh"))
    assert list(open_links(data / "formats" / "trial.naacl.wa", sentences=range(1, 38))) == gold
    for language, letter in (("en", "e"), ("fr", "f")):
        copies = data / "hansards" / f"gold-trial.{language}", data / "formats" / f"trial.naacl.{letter}"
        plain, task = ([line.split() for line in copy.read_bytes().split(b"\n")] for copy in copies)
        assert plain == task
