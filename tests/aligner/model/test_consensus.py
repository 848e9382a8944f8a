"""The consensus of several aligners: laws, and what decides where they disagree."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from aligner.model import consensus
from aligner.model.consensus import combine
from aligner.model.default import default_weights
from corpora.links import NO_LINKS, Link, PairLinks

PLACE = st.tuples(st.integers(0, 5), st.integers(0, 5))
System = list[frozenset[Link]]
SYSTEM = st.lists(st.frozensets(PLACE, max_size=12), min_size=3, max_size=3)


def rows(*systems: System) -> list[tuple[PairLinks, ...]]:
    return [tuple(PairLinks(links) for links in row) for row in zip(*systems, strict=True)]


def linked(*systems: System) -> System:
    return [pair.sure for pair in combine(rows(*systems))]


@given(SYSTEM, st.integers(1, 4))
def test_copies_of_a_system_agree(system: System, copies: int) -> None:
    """One copy too, and however many links a word has."""
    assert linked(*[system] * copies) == system


@given(SYSTEM, SYSTEM, SYSTEM)
def test_between_all_and_any(one: System, other: System, third: System) -> None:
    for found, row in zip(linked(one, other, third), zip(one, other, third, strict=True), strict=True):
        said = [links for links in row if links]
        assert found <= frozenset().union(*row)
        assert not said or frozenset.intersection(*said) <= found


@given(SYSTEM, SYSTEM, SYSTEM)
def test_order_and_number_of_copies_do_not_matter(one: System, other: System, third: System) -> None:
    features = [consensus.agreement(systems) for systems in (packed(one, other, third), packed(third, one, other))]
    again = consensus.agreement(packed(one, other, third, third, one, other))
    for lists, found in (features[1], again):
        assert [part.tolist() for part in lists] == [part.tolist() for part in features[0][0]]
        assert abs(found - features[0][1]).max(initial=0.0) < 1e-6


def packed(*systems: System) -> list[consensus.Links]:
    return [consensus.Links.from_sets(system) for system in systems]


@given(SYSTEM, SYSTEM)
def test_a_system_with_no_links_changes_nothing(one: System, other: System) -> None:
    nothing: System = [frozenset()] * 3
    assert linked(one, nothing, other) == linked(one, other)


def test_pairs_do_not_depend_on_each_other() -> None:
    """Nor on how many are looked at together."""
    rng = random.Random(0)
    sizes = [(rng.randrange(1, 9), rng.randrange(1, 9)) for _ in range(2500)]
    systems = [
        [frozenset((rng.randrange(J), rng.randrange(K)) for _ in range(rng.randrange(12))) for J, K in sizes]
        for _ in range(3)
    ]
    whole = linked(*systems)
    for pair in (0, 1, 1023, 1024, 2499):
        assert linked(*([system[pair]] for system in systems)) == [whole[pair]]


def test_probabilities() -> None:
    """1 everywhere is what links without probabilities are; of one system those above about a half stay."""
    links = frozenset({(0, 0), (1, 1), (2, 2)})
    other = PairLinks(frozenset({(0, 0), (1, 2)}))
    sure = PairLinks(links, frozenset(), dict.fromkeys(links, 1.0))
    assert list(combine([(sure, other)])) == list(combine([(PairLinks(links), other)]))
    unsure = PairLinks(links, frozenset(), {(0, 0): 0.95, (1, 1): 0.05})
    assert [pair.sure for pair in combine([(unsure,)])] == [{(0, 0), (2, 2)}]


def test_what_stands_beside_decides_and_words_compete() -> None:
    """Between two aligners that disagree."""
    beside = (
        PairLinks(frozenset({(0, 0), (1, 1), (2, 2)})),
        PairLinks(frozenset({(0, 0), (2, 2), (1, 4)})),
    )
    assert [pair.sure for pair in combine([beside])] == [{(0, 0), (1, 1), (2, 2)}]
    assert default_weights().consensus["price"] < 0.0


def test_nothing() -> None:
    assert list(combine([])) == []
    assert list(combine([(NO_LINKS, NO_LINKS)])) == [NO_LINKS]
