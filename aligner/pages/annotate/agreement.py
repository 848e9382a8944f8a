"""Agreement of two annotators, and the links to begin with where they differ."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from aligner.evaluation.counts import count, scores
from aligner.pages.annotate.annotation import Annotation, SourceText
from corpora.links import Link, Links


@dataclass(frozen=True)
class Agreement:
    """Agreement on the pairs that both have accepted.

    aer, f1: fractions, of `other` with `one` as gold, and the other way round.  kappa: Cohen's, over all cells of the
    matrices of words, each none, possible or sure.  same, different: the pairs with equal links, and the others.
    """

    pairs: int
    aer: tuple[float, float]
    f1: tuple[float, float]
    kappa: float
    same: tuple[int, ...]
    different: tuple[int, ...]


def agreement(one: Mapping[int, Annotation], other: Mapping[int, Annotation], text: SourceText) -> Agreement:
    """The agreement of two annotators, by the pairs that each has accepted."""
    common = sorted(one.keys() & other.keys())
    both = [Links.from_pairs(works[pair].links for pair in common) for works in (one, other)]
    judged = [scores(count(gold, found).sum(axis=0)) for gold, found in (both, both[::-1])]
    table = np.zeros((3, 3), np.int64)
    for pair in common:
        kinds = [_kinds(works[pair]) for works in (one, other)]
        for link in kinds[0].keys() | kinds[1].keys():
            table[kinds[0].get(link, 0), kinds[1].get(link, 0)] += 1
    cells = sum(np.prod(text.lengths(pair), dtype=np.int64) for pair in common)
    table[0, 0] = cells - table.sum()
    same = tuple(pair for pair in common if one[pair].links == other[pair].links)
    different = tuple(pair for pair in common if pair not in same)
    aer, f1 = (tuple(float(getattr(found, name)) for found in judged) for name in ("aer", "f1"))
    return Agreement(len(common), (aer[0], aer[1]), (f1[0], f1[1]), kappa(table), same, different)


def kappa(table: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> float:
    """Cohen's kappa of a table of counts, (k, k): (p_o − p_e) / (1 − p_e), and 1 if there is one category only.

    >>> kappa(np.array([[20, 5], [10, 15]]))
    0.4
    """
    total = max(int(table.sum()), 1)
    observed = np.trace(table) / total
    expected = float(table.sum(axis=0) @ table.sum(axis=1)) / total**2
    return 1.0 if expected >= 1 or not table.any() else round(float((observed - expected) / (1 - expected)), 12)


def merged(one: Annotation, other: Annotation) -> Annotation:
    """The annotation to begin with where two differ: the links of both, sure where both are sure."""
    sure = one.sure & other.sure
    linked = (one.sure | one.possible) & (other.sure | other.possible)
    null = one.null[0] & other.null[0], one.null[1] & other.null[1]
    return Annotation(sure=sure, possible=linked - sure, null=null)


def _kinds(work: Annotation) -> dict[Link, int]:
    return dict.fromkeys(work.possible, 1) | dict.fromkeys(work.sure, 2)
