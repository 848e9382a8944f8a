"""Links: what other aligners say of an edge, two columns for each of them."""

from collections.abc import Iterable

import numpy as np

from corpora.alignment import Links
from features.batch import EdgeBatch
from features.candidates import find_links
from features.table import Matrix

NAMES = "", ":pair"
"""Ends of the columns' names."""


def numbered(kinds: Iterable[str]) -> tuple[str, ...]:
    """Names of other aligners, of these kinds of `corpora.link_files.KINDS`.

    >>> numbered(["neural", "statistical"])
    ('neural-1', 'statistical-2')
    """
    return tuple(f"{kind}-{number}" for number, kind in enumerate(kinds, 1))


def fill(batch: EdgeBatch, links: Links, out: Matrix) -> None:
    """The probability that the other aligner gives the edge, 0 of no link  [TLK05 §4]; and whether it links the pair.

    Where that is 1 an edge that is no link of the other aligner is denied by it; an aligner that says nothing of the
    pair, or nothing at all, has zeros alone.
    links: of the whole bitext the batch is cut from.
    """
    values = np.zeros(batch.tokens.edge_offsets[-1], np.float32)
    cells, probabilities = find_links(links, batch.pairs, batch.tokens)
    values[cells] = probabilities
    out[:, 0] = values.take(batch.cells)
    out[:, 1] = (np.diff(links.offsets[batch.pairs.start : batch.pairs.stop + 1]) > 0)[batch.lists.pairs]
