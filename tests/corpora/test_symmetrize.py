"""Symmetrisation: laws, the pseudo-code written out, and published files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.link_files import open_links
from corpora.symmetrize import METHODS, symmetrize

LinkSet = frozenset[tuple[int, int]]
LINKS = st.frozensets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=24)
NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def pseudo_code(
    forward: LinkSet,
    reverse: LinkSet,
    grow: Callable[[Iterable[bool]], bool],
    final: Callable[[Iterable[bool]], bool] | None,
) -> set[tuple[int, int]]:
    """The pseudo-code of the Moses manual as it stands, on the whole matrix.

    grow, final: whether a new point needs a free word on ``any`` side or on ``all`` (both).
    """
    union = forward | reverse
    size = 1 + max((max(link) for link in union), default=-1)
    links = set(forward & reverse)

    def free(point: tuple[int, int]) -> tuple[bool, bool]:
        return all(point[0] != i for i, _ in links), all(point[1] != j for _, j in links)

    matrix = [(i, j) for i in range(size) for j in range(size)]
    before = None
    while before != len(links):
        before = len(links)
        for point in matrix:
            if point not in links:
                continue
            for down, right in NEIGHBOURS:
                new = point[0] + down, point[1] + right
                if new in union and new not in links and grow(free(new)):
                    links.add(new)
    if final is not None:
        for direction in (forward, reverse):
            for new in matrix:
                if new in direction and new not in links and final(free(new)):
                    links.add(new)
    return links


@given(LINKS, LINKS)
def test_equal_to_the_pseudo_code(forward: LinkSet, reverse: LinkSet) -> None:
    assert symmetrize(forward, reverse, "grow-diag") == pseudo_code(forward, reverse, any, None)
    assert symmetrize(forward, reverse, "grow-diag-final") == pseudo_code(forward, reverse, any, any)
    assert symmetrize(forward, reverse, "grow-diag-final-and") == pseudo_code(forward, reverse, any, all)


@given(LINKS, LINKS)
def test_every_method_lies_between_intersection_and_union(forward: LinkSet, reverse: LinkSet) -> None:
    results = {method: symmetrize(forward, reverse, method) for method in METHODS}
    assert results["intersection"] == forward & reverse
    assert results["union"] == forward | reverse
    for links in results.values():
        assert forward & reverse <= links <= forward | reverse
    assert results["grow-diag"] <= results["grow-diag-final"]
    assert results["grow-diag"] <= results["grow-diag-final-and"]
    assert all(symmetrize(forward, forward, method) == forward for method in METHODS)
    for short, name in (
        ("gd", "grow-diag"), ("gdf", "grow-diag-final"), ("gdfa", "grow-diag-final-and"), ("intersect", "intersection"),
    ):  # fmt: skip
        assert symmetrize(forward, reverse, short) == results[name]


@given(LINKS, LINKS)
def test_final_leaves_no_word_without_a_link_it_could_have(forward: LinkSet, reverse: LinkSet) -> None:
    links = symmetrize(forward, reverse, "grow-diag-final")
    for side in (0, 1):
        assert {link[side] for link in links} == {link[side] for link in forward | reverse}


@given(LINKS, LINKS)
def test_the_order_of_the_directions_matters_only_to_final(forward: LinkSet, reverse: LinkSet) -> None:
    for method in ("intersection", "union", "grow-diag"):
        assert symmetrize(forward, reverse, method) == symmetrize(reverse, forward, method)


@given(LINKS, LINKS)
def test_transposition(forward: LinkSet, reverse: LinkSet) -> None:
    """Grow-diag scans by source word, so only the others commute with transposition."""

    def transposed(links: Iterable[tuple[int, int]]) -> LinkSet:
        return frozenset((j, i) for i, j in links)

    for method in ("intersection", "union"):
        turned = symmetrize(transposed(forward), transposed(reverse), method)
        assert transposed(turned) == symmetrize(forward, reverse, method)


def test_unknown_method() -> None:
    with pytest.raises(ValueError, match="unknown method 'refined', known are forward, reverse, intersection, union"):
        symmetrize(set(), set(), "refined")


@pytest.mark.parametrize("part", ["train", "dev"])
def test_published_files(data: Path, part: str) -> None:
    """The published grow-diag files want both words free, in grow-diag and in final: a stricter variant.

    The pseudo-code written out above reproduces them with that condition, on every line.
    """

    def published(name: str) -> list[LinkSet]:
        return [pair.sure for pair in open_links(data / "hansards" / f"giza-{part}.{name}")]

    directions = list(zip(published("forward"), published("reverse"), strict=True))
    assert len(directions) == 100
    for method in ("intersection", "union"):
        assert [symmetrize(*pair, method) for pair in directions] == published(method)
    assert [pseudo_code(*pair, all, None) for pair in directions] == published("grow-diag")
    assert [pseudo_code(*pair, all, all) for pair in directions] == published("grow-diag-final")
