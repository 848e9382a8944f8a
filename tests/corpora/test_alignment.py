"""Packed links are the pairs they were packed from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.alignment import Links, PairLinks, check_range
from corpora.errors import CorpusError

LINK = st.tuples(st.integers(0, 60), st.integers(0, 60))


@st.composite
def pair_links(draw: st.DrawFn) -> PairLinks:
    sure = draw(st.frozensets(LINK, max_size=8))
    possible = draw(st.frozensets(LINK, max_size=8)) - sure
    if not draw(st.booleans()):
        return PairLinks(sure, possible)
    return PairLinks(sure, possible, {link: draw(st.sampled_from([0.25, 0.5])) for link in sure | possible})


@given(st.lists(pair_links(), max_size=6))
def test_packing_keeps_every_pair(pairs: list[PairLinks]) -> None:
    links = Links.from_pairs(iter(pairs))
    assert len(links) == len(pairs)
    assert [explicit(pair) for pair in links] == [explicit(pair) for pair in pairs]
    assert [explicit(links[index - len(pairs)]) for index in range(len(pairs))] == [explicit(pair) for pair in pairs]


@given(st.lists(pair_links(), max_size=6))
def test_rows_are_sorted_within_pairs(pairs: list[PairLinks]) -> None:
    links = Links.from_pairs(pairs)
    assert links.source.dtype == links.target.dtype == np.int32
    assert links.sure.dtype == np.bool_
    assert links.offsets.dtype == np.int64
    for first, last in zip(links.offsets[:-1], links.offsets[1:], strict=True):
        rows = list(zip(links.source[first:last].tolist(), links.target[first:last].tolist(), strict=True))
        assert rows == sorted(set(rows))


@given(st.lists(pair_links(), max_size=4), st.lists(pair_links(), max_size=4))
def test_equality_is_equality_of_pairs(left: list[PairLinks], right: list[PairLinks]) -> None:
    same = [explicit(pair) for pair in left] == [explicit(pair) for pair in right]
    assert (Links.from_pairs(left) == Links.from_pairs(right)) == same


def explicit(links: PairLinks) -> PairLinks:
    """With the probability of each link."""
    every = {link: links.probabilities.get(link, 1.0) for link in links.sure | links.possible}
    return links._replace(probabilities=every)


def test_sets_and_mappings_to_probabilities() -> None:
    both = Links.from_sets([{(0, 1): 0.5, (2, 0): 1.0}, {(1, 1)}])
    assert both.probabilities().tolist() == [0.5, 1.0, 1.0]
    assert both == Links.from_sets([{(2, 0): 1.0, (0, 1): 0.5}, {(1, 1): 1.0}])
    assert both != Links.from_sets([{(0, 1), (2, 0)}, {(1, 1)}])
    assert both.take(np.array([1, 0])).probabilities().tolist() == [1.0, 0.5, 1.0]


def test_a_link_that_is_sure_differs_from_one_that_is_possible() -> None:
    link = frozenset({(0, 1)})
    assert Links.from_pairs([PairLinks(link, frozenset())]) != Links.from_pairs([PairLinks(frozenset(), link)])


def test_pair_beyond_the_end() -> None:
    links = Links.from_pairs([PairLinks(frozenset(), frozenset())])
    for index in (1, -2):
        with pytest.raises(IndexError):
            links[index]


@pytest.mark.parametrize("kind", ["sure", "possible"])
def test_range(kind: str) -> None:
    link = frozenset({(6, 11)})
    links = PairLinks(link, frozenset()) if kind == "sure" else PairLinks(frozenset(), link)
    check_range(links, 7, 12, "a.wa", 3)
    for n_source, n_target in ((6, 12), (7, 11)):
        with pytest.raises(CorpusError, match=f"^a.wa:3: link 6-11 is out of range for {n_source} source"):
            check_range(links, n_source, n_target, "a.wa", 3)
