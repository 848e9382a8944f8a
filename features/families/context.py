"""Context: posteriors of the edges next to an edge, and how far it is from where links of nearby words point."""

import numpy as np

from corpora.compiled import compiled
from features.batch import EdgeBatch
from features.families.neighbours import DIAGONAL, fill_neighbours
from features.table import Matrix
from features.translation.lexicon import KINDS

NAMES = (
    "soft_before",
    "soft_after",
    "soft_before_crossed",
    "soft_after_crossed",
    "soft_left",
    "soft_right",
    "soft_above",
    "soft_below",
    "anchor_before",
    "anchor_after",
    "anchor_nearest",
    "anchor_none",
)
LEXICONS = tuple(KINDS)
_STEPS = np.concatenate([DIAGONAL, [(0, -1), (0, 1), (-1, 0), (1, 0)]])
ANCHOR = 0.5
"""An edge with a greater posterior is an anchor: edges near it should continue its diagonal."""
REACH = 6
"""Deviations of more words count as this many."""


def fill(batch: EdgeBatch, out: Matrix) -> None:
    """Posteriors s (`families.hmm`) of the neighbours, and the deviation from the nearest anchors; each in [0, 1].

    soft_before, soft_after: s of (j-1, k-1), (j+1, k+1); crossed: of (j-1, k+1), (j+1, k-1); soft_left, soft_right: of
    (j, k-1), (j, k+1); soft_above, soft_below: of (j-1, k), (j+1, k); 0 outside the pair.
    anchor_before: |k - k' - (j - j')| / REACH, at most 1, with j' the nearest source word before j that has an anchor
    (j', k'), or the corner before both sentences; anchor_after: the same after j.  anchor_nearest: the lesser of the
    two.  anchor_none: j itself has no anchor.
    """
    tokens = batch.tokens
    fill_neighbours(batch.soft, batch.lists, tokens.edge_offsets, _STEPS, out[:, :8].T)
    anchor, before, after = np.empty((3, len(tokens.source)), np.int64)
    _find_anchors(batch.soft, tokens.source_offsets, tokens.target_offsets, tokens.edge_offsets, anchor, before, after)
    j = batch.source_at
    for column, expected in ((8, before), (9, after)):
        out[:, column] = np.minimum(np.abs(batch.lists.target - expected[j]), REACH) / REACH
    out[:, 10] = np.minimum(out[:, 8], out[:, 9])
    out[:, 11] = anchor[j] < 0


@compiled
def _find_anchors(soft, source_offsets, target_offsets, offsets, anchor, before, after):
    """Find each source word's anchor, a target word or -1, and the target words the anchors around it point to."""
    for i in range(len(offsets) - 1):
        first, last = source_offsets[i], source_offsets[i + 1]
        K = target_offsets[i + 1] - target_offsets[i]
        edge = offsets[i]
        nearest = np.int64(-1)  # before the pair
        for j in range(first, last):
            before[j] = nearest + 1
            anchor[j] = -1
            best = ANCHOR
            for k in range(K):
                if soft[edge + k] > best:
                    best = soft[edge + k]
                    anchor[j] = k
            edge += K
            nearest = before[j] if anchor[j] < 0 else anchor[j]
        nearest = K
        for j in range(last - 1, first - 1, -1):
            after[j] = nearest - 1
            nearest = after[j] if anchor[j] < 0 else anchor[j]
