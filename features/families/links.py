"""Links: what other aligners say of an edge."""

from __future__ import annotations

import numpy as np

from corpora.alignment import Links
from features.batch import EdgeBatch
from features.candidates import mark_links
from features.table import Matrix


def fill(batch: EdgeBatch, links: Links, out: Matrix) -> None:
    """1 where the other aligner links the edge, else 0  [TLK05 §4].

    links: of the whole bitext the batch is cut from.
    """
    marks = np.zeros(batch.tokens.edge_offsets[-1], np.bool_)
    mark_links(links, batch.pairs, batch.tokens, marks)
    out[:, 0] = marks.take(batch.listed.cells)
