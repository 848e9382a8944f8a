"""Answers of matching problems that need not be exact, and the constants of theory for them  [LJSP13 App. C]."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aligner.matching import answer, get_oracle
from aligner.matching.assignment import edge_words
from aligner.matching.prices import price_bounds, total_scores
from aligner.svm.protocols import GoodCorner, Wanted
from corpora.ragged import F64, Bools

if TYPE_CHECKING:
    from aligner.svm.hinge import MatchingProblem

_PAIRS_AT_ONCE = 512


class Kept(NamedTuple):
    """The oracle's last answers, changed in place: prices (E,) of the edges' target words, and linked (E,)."""

    prices: F64
    linked: Bools


def good_corner(problem: MatchingProblem, block: int, w: F64, wanted: Wanted, kept: Kept) -> GoodCorner:
    """A corner that is provably as good as wanted.

    Where a share will do, the greedy matching or that of the block's last call of the oracle, if the prices of that
    call, at the scores of now, prove that it has this share. Else the oracle's, or the assignment oracle's for one
    without prices; the auction answers within the error.
    """
    chosen, edges = np.array([block]), slice(*problem.edges.lists.offsets[block : block + 2])
    oracle = problem.oracle if problem.oracle.prices else get_oracle("assignment")
    task = problem.task(chosen, w)
    linked, asked = kept.linked[edges], True
    if wanted.share < 1.0:
        rest = -float(problem.target_costs[block] + problem.gold[block] @ w)  # H is this and the score
        bound = rest + float(price_bounds(task, kept.prices[edges])[0])
        linked = max(linked, answer(task, "greedy"), key=lambda found: float(total_scores(task, found)[0]))
        hinge = rest + float(total_scores(task, linked)[0])
        asked = hinge - wanted.floor < wanted.share * (bound - wanted.floor) - wanted.error
    if asked:
        task = task._replace(errors=np.array([wanted.error]), prices=kept.prices[edges])
        linked = kept.linked[edges] = answer(task, oracle)
    psi, losses = np.empty((1, problem.n_features)), np.empty(1)
    problem.fill_corners(linked, chosen, w, psi, losses, exact=asked and oracle.exact)
    return GoodCorner(psi[0], float(losses[0]), asked)


def diameters(problem: MatchingProblem) -> F64:
    """(n,) at least ‖ψ_i(z) − ψ_i(z')‖, by how far apart Σ_e z_e φ_e can be in each feature if rows are free."""
    lists, fertility, n = problem.edges.lists, problem.fertility, problem.n_blocks
    ranges = np.zeros((n, problem.n_features))
    for first in range(0, n, _PAIRS_AT_ONCE):
        pairs = np.arange(first, min(first + _PAIRS_AT_ONCE, n))
        edges, part = slice(*lists.offsets[[first, pairs[-1] + 1]]), lists.take(pairs)
        _, rows, _ = edge_words(part, np.arange(len(part.source)))
        begins = np.flatnonzero(np.diff(rows, prepend=-1))
        features = np.asarray(problem.edges.features[edges])
        most, least = (extreme.reduceat(features, begins, axis=0) for extreme in (np.maximum, np.minimum))
        spans = fertility.source_capacity * (np.maximum(most, 0.0) - np.minimum(least, 0.0))
        np.add.at(ranges[:, : features.shape[1]], first + part.pairs[begins], spans)
    further = [
        lists.shapes[:, side] * (capacity - u)
        for side, capacity in enumerate((fertility.source_capacity, fertility.target_capacity))
        for u in range(1, capacity)
    ]
    ranges[:, problem.n_features - problem.n_nonpositive :] = np.array(further).reshape(-1, n).T
    lengths: F64 = np.linalg.norm(ranges, axis=1)
    return lengths
