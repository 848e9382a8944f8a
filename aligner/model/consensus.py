"""Consensus: the links that several aligners agree on best, without labels or a corpus."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from aligner.matching import best_matchings
from aligner.model.default import default_weights
from corpora.links import Links, PairLinks
from corpora.ragged import F64, Lists

UNANIMOUS = 1000.0
"""Added to the score of an edge with probability 1 by all systems: no price outweighs it."""

NAMES = "agree", "doubt", "beside"
"""The columns of `agreement`."""

_PAIRS_AT_ONCE = 1024


def combine(rows: Iterable[Sequence[PairLinks]]) -> Iterator[PairLinks]:
    """Yield the consensus of systems, pair by pair: the best b-matching of the edges that some system links.

    A further link of a word has a price; edges with probability 1 by all systems are always linked. So the consensus of
    one system, or of copies of it, is its links; if it has probabilities, those above about a half.
    rows: for each pair, its links by each system; possible ones are links, too.
    """
    known = default_weights().consensus
    weights, price = np.array([known[name] for name in NAMES]), known["price"]
    rows = iter(rows)
    while part := list(islice(rows, _PAIRS_AT_ONCE)):
        yield from decode(*agreement([Links.from_pairs(system) for system in zip(*part, strict=True)]), weights, price)


def decode(lists: Lists, found: F64, weights: F64, price: float) -> Links:
    """Find the best b-matchings of edges by their columns `found`.  price: of each further link of a word, <= 0."""
    scores = found @ weights + UNANIMOUS * (found[:, 0] == 1.0)
    # Words without an edge are left out: a position may be anything, where no text bounds it.
    places = [np.unique(lists.pairs << 32 | side, return_inverse=True) for side in (lists.source, lists.target)]
    shapes = np.stack([np.bincount(words >> 32, minlength=len(lists.shapes)) for words, _ in places], axis=1)
    firsts = np.cumsum(shapes, axis=0) - shapes
    source, target = ((of - firsts[lists.pairs, side]).astype(np.int32) for side, (_, of) in enumerate(places))
    further = (price,) * int(shapes.max(initial=0))  # a word may have every link: their price decides
    linked = np.flatnonzero(best_matchings(scores, Lists(source, target, shapes, lists.offsets), further, further))
    return Links.of_edges(lists, linked)


def agreement(systems: Sequence[Links]) -> tuple[Lists, F64]:
    """The edges that some system links, and the columns of NAMES, (E, 3).

    m is the mean probability, over the systems that link anything in the pair.
    agree: 2m - 1.  doubt: 4m (1 - m), from 0 if all agree to 1 if half of them do.  beside: doubt times the mean m of
    (j-1, k-1) and (j+1, k+1): doubtful edges are decided by the edges next to them.
    """
    pair = np.concatenate([one.pairs for one in systems])
    places = [np.concatenate([getattr(one, side) for one in systems]) for side in ("source", "target")]
    sources, of = np.unique(pair << 32 | places[0], return_inverse=True)
    edges, edge = np.unique(of << 32 | places[1], return_inverse=True)
    words, target = sources[edges >> 32], (edges & 0xFFFFFFFF).astype(np.int32)
    pair, source = words >> 32, (words & 0xFFFFFFFF).astype(np.int32)
    means = np.zeros(len(edges), np.float32)
    np.add.at(means, edge, np.concatenate([one.known_scores for one in systems]))
    means /= np.count_nonzero([np.diff(one.offsets) for one in systems], axis=0).astype(np.float32)[pair]
    shapes = np.zeros((len(systems[0]), 2), np.int64)
    np.maximum.at(shapes, pair, np.stack([source, target], axis=1) + 1)
    order = np.lexsort((source, source - target, pair))  # along diagonals
    one, next_ = order[:-1], order[1:]
    near = (pair[one] == pair[next_]) & (source[one] + 1 == source[next_]) & (target[one] + 1 == target[next_])
    beside = np.zeros((2, len(edges)), np.float32)
    beside[0, next_[near]], beside[1, one[near]] = means[one[near]], means[next_[near]]
    mean = means.astype(np.float64)
    doubt = 4.0 * mean * (1.0 - mean)
    lists = Lists(source, target, shapes, np.searchsorted(pair, np.arange(len(shapes) + 1)))
    return lists, np.column_stack([2.0 * mean - 1.0, doubt, doubt * beside.mean(axis=0)])
