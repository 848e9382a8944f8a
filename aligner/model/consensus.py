"""Consensus: the links that several aligners agree on best, without labels or a corpus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from aligner.model.decoding import best_alignments
from aligner.model.default import default_weights
from aligner.svm.prices import LinkRewards
from corpora.alignment import Links, PairLinks
from corpora.ragged import F64, Lists, edge_offsets
from features.families.neighbours import DIAGONAL, fill_neighbours

PAIRS_AT_ONCE = 1024

UNANIMOUS = 1000.0
"""Added to the score of an edge that all systems are sure of, which no price of a further link outweighs."""


def combine(rows: Iterable[Sequence[PairLinks]]) -> Iterator[PairLinks]:
    """The consensus of systems, pair by pair: the best b-matching of the edges that some system links.

    rows: the links by each system of a pair, possible ones and probabilities among them.
    The links of a single system that is sure of all of them, or of copies of it, are their consensus.
    """
    known = default_weights().consensus
    weights, price = np.array([known["agree"], known["doubt"], known["beside"]]), known["price"]
    rows = iter(rows)
    while part := list(islice(rows, PAIRS_AT_ONCE)):
        lists, found = agreement([Links.from_pairs(system) for system in zip(*part, strict=True)])
        scores = found @ weights + UNANIMOUS * (found[:, 0] == 1.0)
        most = max((int(np.bincount(ends).max(initial=0)) for ends in lists_ends(lists)), default=0)
        further = (price,) * most  # as many as words have edges: what limits them is the price
        yield from best_alignments(scores, lists, LinkRewards(further, further)).to_links()


def lists_ends(lists: Lists) -> tuple[F64, F64]:
    raise NotImplementedError


def agreement(systems: Sequence[Links]) -> tuple[Lists, F64]:
    """The edges that some system links, and (E, 3) what decides on each.

    m is the mean probability, over the systems that link anything in the pair.
    agree: 2m - 1.  doubt: 4m (1 - m), 1 where opinions are divided and 0 where there is but one.  beside: this, times
    the mean m of (j-1, k-1) and (j+1, k+1): edges that are doubted are decided by what stands beside them.
    """
    pairs = [np.repeat(np.arange(len(one)), np.diff(one.offsets)) for one in systems]
    shapes = np.zeros((len(systems[0]), 2), np.int64)
    for pair, one in zip(pairs, systems, strict=True):
        np.maximum.at(shapes, pair, np.stack([one.source, one.target], axis=1) + 1)
    offsets = edge_offsets(shapes)
    means, present = np.zeros(offsets[-1], np.float32), np.zeros(len(shapes), np.float32)
    for pair, one in zip(pairs, systems, strict=True):
        means[offsets[pair] + one.source * shapes[pair, 1] + one.target] += one.probabilities()
        present += np.diff(one.offsets) > 0
    cells = np.flatnonzero(means)
    pair = np.searchsorted(offsets, cells, side="right") - 1
    means[cells] /= present[pair]
    source, target = np.divmod(cells - offsets[pair], shapes[pair, 1])
    lists = Lists(source.astype(np.int32), target.astype(np.int32), shapes, np.searchsorted(cells, offsets))
    beside = np.empty((2, len(cells)), np.float32)
    fill_neighbours(means, lists, offsets, DIAGONAL[:2], beside)
    mean = means[cells].astype(np.float64)
    doubt = 4.0 * mean * (1.0 - mean)
    return lists, np.column_stack([2.0 * mean - 1.0, doubt, doubt * beside.mean(axis=0)])
