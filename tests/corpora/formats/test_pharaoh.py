"""Pharaoh and TALP links: what is written is read back, and garbage is named."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.alignment import NO_LINKS, PairLinks
from corpora.errors import CorpusError
from corpora.formats.pharaoh import format_links, is_links, parse_links

LINK = st.tuples(st.integers(0, 99_999), st.integers(0, 99_999))


@given(st.frozensets(LINK), st.frozensets(LINK), st.sampled_from([0, 1]))
def test_what_is_written_is_read_back(
    sure: frozenset[tuple[int, int]], possible: frozenset[tuple[int, int]], base: int
) -> None:
    links = PairLinks(sure, possible - sure)
    line = format_links(links, base)
    assert parse_links(line, "a", 1, base) == links
    assert parse_links(line.encode(), "a", 1, base) == links
    assert is_links(line.encode()) == bool(sure | possible)


def test_notations() -> None:
    expected = PairLinks(frozenset({(0, 1), (2, 2)}), frozenset({(1, 0), (3, 0)}))
    assert parse_links("0-1 2-2 1?0 3p0", "a", 1) == expected
    assert parse_links("\t3p0  1?0\t2-2:0.83 0-1:-1.5e-07 ", "a", 1) == expected
    assert parse_links("1-2 3-3 2?1 4p1", "a", 1, base=1) == expected
    assert parse_links("   ", "a", 1) == NO_LINKS


@pytest.mark.parametrize("line", ["0-0 0?0", "0?0 0-0"])
def test_sure_wins(line: str) -> None:
    assert parse_links(line, "a", 1) == PairLinks(frozenset({(0, 0)}), frozenset())


@pytest.mark.parametrize(
    "token", ["1", "1-", "-1-2", "1--2", "1-2-3", "1-x", "1_0-2", "+1-2", "1-2:", "1-2:high", "1–2", "٣-2", "1x2"]
)
def test_garbage_is_named(token: str) -> None:
    with pytest.raises(CorpusError) as caught:
        parse_links(f"0-0 {token} 1-1", "gold.wa", 7)
    assert (caught.value.path, caught.value.line) == ("gold.wa", 7)
    assert caught.value.what.startswith("'")
    assert not is_links(f"0-0 {token}".encode())


def test_positions_fit_32_bits() -> None:
    assert parse_links("999999999-0", "a", 1).sure == {(999_999_999, 0)}
    with pytest.raises(CorpusError, match="'9999999999-0' is not a link"):
        parse_links("9999999999-0", "a", 1)


def test_garbage_that_is_not_utf8() -> None:
    with pytest.raises(CorpusError, match=r"'\\xff' is not a link"):
        parse_links(b"0-0 \xff", "gold.wa", 1)


@pytest.mark.parametrize("token", ["0-1", "1-0", "0p3"])
def test_position_below_the_base(token: str) -> None:
    with pytest.raises(CorpusError, match=rf"^a:2: '{token}' has a position below 1"):
        parse_links(f"1-1 {token}", "a", 2, base=1)


@given(st.dictionaries(LINK, st.floats(0, 1, exclude_min=True), max_size=8), st.randoms(), st.sampled_from([0, 1]))
def test_probabilities_whatever_the_order(links: dict[tuple[int, int], float], random: Random, base: int) -> None:
    tokens = [f"{j + base}-{k + base}:{p!r}" for (j, k), p in links.items()]
    random.shuffle(tokens)
    found = parse_links(" ".join(tokens), "a", 1, base, probable=True)
    assert found == PairLinks(frozenset(links), frozenset(), links)
    assert parse_links(" ".join(tokens), "a", 1, base) == PairLinks(frozenset(links), frozenset())


def test_decimal_notations() -> None:
    line = "0-0:1 0-1:1.0 0-2:.5 0-3:5e-1 0-4:+0.25 0-5:1. 0-6 1?0:0.5 2-2:0.25 2-2:0.5 3-3 3-3:0.5"
    found = parse_links(line, "a", 1, probable=True)
    assert [found.probabilities[0, k] for k in range(7)] == [1.0, 1.0, 0.5, 0.5, 0.25, 1.0, 1.0]
    assert (found.probabilities[1, 0], found.possible) == (0.5, {(1, 0)})
    assert (found.probabilities[2, 2], found.probabilities[3, 3]) == (0.5, 1.0)  # the greatest of a link given twice


@pytest.mark.parametrize("score", ["0", "-0.5", "1.01", "1e-999", "1e9"])
def test_what_is_no_probability(score: str) -> None:
    with pytest.raises(CorpusError, match=rf"a:7: '0-1:{score}' has no probability \(give i-j:p") as refusal:
        parse_links(f"0-0 0-1:{score}", "a", 7, probable=True)
    assert refusal.value.line == 7
    assert parse_links(f"0-0 0-1:{score}", "a", 7).probabilities == {}
