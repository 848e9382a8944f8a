"""Symmetrisation: laws, the pseudo-code written out, and published files."""

import hashlib
import random
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.formats.pharaoh import format_links, parse_links
from corpora.link_files import open_links
from corpora.links import PairLinks
from corpora.symmetrize import METHODS, symmetrize

LinkSet = frozenset[tuple[int, int]]
LINKS = st.frozensets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=24)
NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))

# SHA-256 of what atools of fast_align (commit cab1e9a) prints for the lines of `test_atools_on_10_000_random_lines`.
ATOOLS = {
    "union": "a5d2a723c9868da593795b03057946526712b43a7a1724da70459932f490305e",
    "grow-diag": "a1337ca8a2b30d80770eb718a1623d72f340f2c7caf7dc58d0eb38af2d4444af",
    "grow-diag-final": "6d6499ebeb2dd8f4142142dec5bb8e4bec4a83420ec38ff96b1b09ce73df96ee",
    "grow-diag-final-and": "429cf0761252272340c592e9586b05aa4caf29e6cc0db5e42d3123c2f353e733",
}


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
        ("gd", "grow-diag"),
        ("gdf", "grow-diag-final"),
        ("gdfa", "grow-diag-final-and"),
        ("intersect", "intersection"),
    ):
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


def test_equal_to_the_recorded_answers_of_atools() -> None:
    header, *rows = (Path(__file__).parent / "atools.tsv").read_text().splitlines()
    methods = header.split("\t")[2:]
    different = 0
    for number, row in enumerate(rows, 2):
        forward, reverse, *answers = (parse_links(links, "atools.tsv", number).sure for links in row.split("\t"))
        for method, answer in zip(methods, answers, strict=True):
            assert symmetrize(forward, reverse, method, as_atools=True) == answer, number
            different += symmetrize(forward, reverse, method) != answer
    assert different > len(rows)  # of which two thirds were chosen so


@pytest.mark.parametrize("method", ATOOLS)
def test_atools_on_10_000_random_lines(method: str) -> None:
    draw = random.Random(1).random  # the same on every version of Python

    def links(n: int, m: int, share: float) -> LinkSet:
        return frozenset((j, k) for j in range(n) for k in range(m) if draw() < share)

    digest = hashlib.sha256()
    for _ in range(10_000):
        n, m, share = 1 + int(draw() * 12), 1 + int(draw() * 12), draw() * 0.6
        forward, reverse = links(n, m, share), links(n, m, share)
        found = symmetrize(forward, reverse, method, as_atools=True)
        digest.update(f"{format_links(PairLinks(frozenset(found)))}\n".encode())
    assert digest.hexdigest() == ATOOLS[method]


def test_atools_goes_on_for_long_sentences() -> None:
    """Candidates against the order of the scans: each scan adds one."""
    candidates = frozenset((n, n) for n in range(20_000))
    last = frozenset({(20_000, 20_000)})
    assert symmetrize(candidates | last, last, "grow-diag", as_atools=True) == candidates | last
