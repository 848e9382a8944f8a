"""Context: what the translation models believe of the edges next to an edge, and where the words around it lead."""

from __future__ import annotations

import numpy as np

from corpora.compiled import compiled
from features.batch import EdgeBatch
from features.table import Matrix
from features.translation.lexicon import AGREEING

NAMES = (
    "soft_before", "soft_after", "soft_before_crossed", "soft_after_crossed",
    "soft_left", "soft_right", "soft_above", "soft_below",
    "anchor_before", "anchor_after", "anchor_nearest", "anchor_none",
)  # fmt: skip
LEXICONS = AGREEING
ANCHOR = 0.5
"""An edge whose posterior is above is an anchor: what is near it should be linked alike."""
REACH = 6
"""Deviations of this many words and more are all the same."""


def fill(batch: EdgeBatch, out: Matrix) -> None:
    """Posteriors s (`families.hmm`) of the neighbours, and the deviation from the nearest anchors; each in [0, 1].

    soft_before, soft_after: s of (j-1, k-1), (j+1, k+1); crossed: of (j-1, k+1), (j+1, k-1); soft_left, soft_right: of
    (j, k-1), (j, k+1); soft_above, soft_below: of (j-1, k), (j+1, k); 0 outside the pair.
    anchor_before: |k - k' - (j - j')| / REACH, at most 1, with j' the nearest source word before j that has an anchor
    (j', k'), or the corner before both sentences; anchor_after: the same after j.  anchor_nearest: the lesser of the
    two.  anchor_none: j itself has no anchor.
    """
    _fill(batch.soft, batch.lists, batch.tokens.edge_offsets, ANCHOR, REACH, out.T)


@compiled
def _fill(soft, lists, offsets, least, reach, out):
    shapes = lists.shapes
    longest = 1
    for i in range(len(shapes)):
        longest = max(longest, shapes[i, 0])
    anchors, from_before, from_after = np.empty((3, longest), np.int64)
    for i in range(len(shapes)):
        J = shapes[i, 0]
        K = shapes[i, 1]
        first = offsets[i]
        for j in range(J):
            anchors[j] = -1
            best = least
            for k in range(K):
                if soft[first + j * K + k] > best:
                    best = soft[first + j * K + k]
                    anchors[j] = k
        for j in range(J):
            before = j - 1
            while before >= 0 and anchors[before] < 0:
                before -= 1
            after = j + 1
            while after < J and anchors[after] < 0:
                after += 1
            from_before[j] = j - before + (anchors[before] if before >= 0 else -1)
            from_after[j] = j - after + (anchors[after] if after < J else K)
        for edge in range(lists.offsets[i], lists.offsets[i + 1]):
            j, k = lists.source[edge], lists.target[edge]
            place = first + j * K + k
            row = out[:, edge]
            row[0] = soft[place - K - 1] if j > 0 and k > 0 else 0.0
            row[1] = soft[place + K + 1] if j + 1 < J and k + 1 < K else 0.0
            row[2] = soft[place - K + 1] if j > 0 and k + 1 < K else 0.0
            row[3] = soft[place + K - 1] if j + 1 < J and k > 0 else 0.0
            row[4] = soft[place - 1] if k > 0 else 0.0
            row[5] = soft[place + 1] if k + 1 < K else 0.0
            row[6] = soft[place - K] if j > 0 else 0.0
            row[7] = soft[place + K] if j + 1 < J else 0.0
            row[8] = min(abs(k - from_before[j]), reach) / reach
            row[9] = min(abs(k - from_after[j]), reach) / reach
            row[10] = min(row[8], row[9])
            row[11] = anchors[j] < 0
