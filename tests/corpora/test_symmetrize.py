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

# SHA-256 of what atools of fast_align (commit cab1e9a) prints for the first lines of `test_atools_on_random_lines`.
LINES = 2_000
ATOOLS = {
    "union": "bf46b7a695a6938c27cd12ce1e83f5855d6fc720297a942ff94ad292fa0ceddf",
    "grow-diag": "9decbabb51a5da7b2a059f12ab8bfc91f953854768521d92ff9d55d301e85e64",
    "grow-diag-final": "a8bbb6e3e8d06caa176478656b832d5b9a649596d5bd8aff75a977cbd13ccf1c",
    "grow-diag-final-and": "0545f130e9e2b3d4bbb9e7e7db6155f15a9b6fd73518425b1df426138bf66348",
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


def test_atools_on_random_lines() -> None:
    draw = random.Random(1).random  # the same on every version of Python

    def links(n: int, m: int, share: float) -> LinkSet:
        return frozenset((j, k) for j in range(n) for k in range(m) if draw() < share)

    digests = {method: hashlib.sha256() for method in ATOOLS}
    for _ in range(LINES):
        n, m, share = 1 + int(draw() * 12), 1 + int(draw() * 12), draw() * 0.6
        directions = links(n, m, share), links(n, m, share)
        for method, digest in digests.items():
            found = PairLinks(frozenset(symmetrize(*directions, method, as_atools=True)))
            digest.update(f"{format_links(found)}\n".encode())
    assert {method: digest.hexdigest() for method, digest in digests.items()} == ATOOLS


def test_atools_goes_on_for_long_sentences() -> None:
    """Candidates against the order of the scans: each scan adds one."""
    candidates = frozenset((n, n) for n in range(20_000))
    last = frozenset({(20_000, 20_000)})
    assert symmetrize(candidates | last, last, "grow-diag", as_atools=True) == candidates | last
