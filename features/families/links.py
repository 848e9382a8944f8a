"""Links: whether other aligners link an edge, two columns for each aligner."""

from collections.abc import Iterable

import numpy as np

from corpora.links import Links
from features.batch import EdgeBatch
from features.candidates import find_links
from features.table import Matrix

NAMES = "", ":pair"
"""Suffixes of the columns' names."""


def numbered(kinds: Iterable[str]) -> tuple[str, ...]:
    """Number other aligners of these kinds (`corpora.link_files.KINDS`), as names.

    >>> numbered(["neural", "statistical"])
    ('neural-1', 'statistical-2')
    """
    return tuple(f"{kind}-{number}" for number, kind in enumerate(kinds, 1))


def fill(batch: EdgeBatch, links: Links, out: Matrix) -> None:
    """The other aligner's probability of the edge, 0 without a link  [TLK05 §4]; and 1 if it links the pair at all.

    Where the second is 1, an edge without a link is one that the other aligner rejects; an aligner without links in the
    pair has zeros alone.
    links: of the whole bitext that the batch is cut from.
    """
    values = np.zeros(batch.tokens.edge_offsets[-1], np.float32)
    cells, probabilities = find_links(links, batch.pairs, batch.tokens)
    values[cells] = probabilities
    out[:, 0] = values.take(batch.cells)
    out[:, 1] = (np.diff(links.offsets[batch.pairs.start : batch.pairs.stop + 1]) > 0)[batch.lists.pairs]
