"""Links: what other aligners say of an edge."""

from __future__ import annotations

import numpy as np

from corpora.alignment import Links
from features.batch import EdgeBatch
from features.table import Matrix


def fill(batch: EdgeBatch, links: Links, out: Matrix) -> None:
    """1 where the other aligner links the edge, else 0  [TLK05 §4].

    links: of the whole bitext the batch is cut from.
    """
    first, last = batch.pairs.start, batch.pairs.stop
    start, end = links.offsets[first], links.offsets[last]
    pair = np.repeat(np.arange(last - first), np.diff(links.offsets[first : last + 1]))
    out[:] = 0.0
    edges = batch.offsets[pair] + links.source[start:end] * batch.shapes[pair, 1] + links.target[start:end]
    out[edges] = 1.0
