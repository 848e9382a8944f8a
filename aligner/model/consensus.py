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

UNANIMOUS = 1000.0
"""Added to the score of an edge that all systems are sure of: no price outweighs it."""

NAMES = "agree", "doubt", "beside"
"""What `agreement` says of an edge."""

_PAIRS_AT_ONCE = 1024


def combine(rows: Iterable[Sequence[PairLinks]]) -> Iterator[PairLinks]:
    """The consensus of systems, pair by pair: the best b-matching of the edges that some system links.

    A further link of a word has a price; what all systems are sure of is linked whatever it costs. So the consensus of
    one system, or of copies of it, is its links; of a system with probabilities, those above about a half.
    rows: the links of a pair by each system; possible ones are links, too.
    """
    known = default_weights().consensus
    weights, price = np.array([known[name] for name in NAMES]), known["price"]
    rows = iter(rows)
    while part := list(islice(rows, _PAIRS_AT_ONCE)):
        yield from decode(*agreement([Links.from_pairs(system) for system in zip(*part, strict=True)]), weights, price)


def decode(lists: Lists, found: F64, weights: F64, price: float) -> Links:
    """The best b-matchings of edges with these columns of NAMES.  price: at most 0, of each further link of a word."""
    scores = found @ weights + UNANIMOUS * (found[:, 0] == 1.0)
    further = (price,) * int(lists.shapes.max(initial=0))  # a word may have every link: their price decides
    return best_alignments(scores, lists, LinkRewards(further, further)).to_links()


def agreement(systems: Sequence[Links]) -> tuple[Lists, F64]:
    """The edges that some system links, and (E, 3) the columns of NAMES.

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
