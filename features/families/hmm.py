"""Posteriors of the translation models: how likely each edge is a link, given both whole sentences."""

import numpy as np

from corpora.compiled import compiled
from features.batch import EdgeBatch
from features.families import competition
from features.table import Matrix, Vector
from features.translation.lexicon import KINDS

KNOTS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Posteriors above which a score may change its slope: a linear score of the posterior alone cannot follow links."""
FLOOR = 1e-4
"""Posteriors below are all the same on the logarithmic scale."""

NAMES = (
    *("hmm_forward", "hmm_reverse", "hmm_soft", "hmm_words", "hmm_pieces", "hmm_log"),
    *(f"hmm_above_{knot:g}" for knot in KNOTS),
    *(f"hmm_{name}" for name in competition.NAMES),
    *("hmm_rivals_row", "hmm_rivals_column", "hmm_null_source", "hmm_null_target"),
)
LEXICONS = tuple(KINDS)


def fill(batch: EdgeBatch, out: Matrix) -> None:
    """Posteriors by the HMM of `features.translation.model`; each in [0, 1] but for margins, in [-1, 1]  [LTKJ06 §5].

    hmm_forward, hmm_reverse: posterior p(a_k = j | both sentences) of each direction, the mean of the
    lexicons.  hmm_soft: s, the geometric mean of both directions; hmm_words, hmm_pieces: the same of one lexicon.
    hmm_log: `on_log_scale` of s.  hmm_above_x: max(0, s - x) / (1 - x), pieces of a piecewise linear function.
    hmm_rank … hmm_mutual_best: as `features.families.competition`, of s.
    hmm_rivals: half the sum of s over the other edges of the word, at most 1: its expected further links.
    hmm_null: probability that the word has no link, in the direction that generates it.
    """
    hmm, cells = batch.posteriors.hmm, batch.cells
    out[:, 0] = hmm.forward.take(cells)
    out[:, 1] = hmm.reverse.take(cells)
    out[:, 2] = soft = batch.soft.take(cells)
    for column, name in enumerate(("words", "pieces"), 3):
        out[:, column] = batch.posteriors.soft.get(name, batch.soft).take(cells)
    out[:, 5] = on_log_scale(soft)
    for column, knot in enumerate(KNOTS, 6):
        out[:, column] = np.maximum(soft - np.float32(knot), 0.0) / np.float32(1.0 - knot)
    standing, sums = out[:, 6 + len(KNOTS) : -4], out[:, -4:]
    competition.fill_standing(batch, batch.soft, standing)
    _fill_sums(batch.soft, hmm.forward, hmm.reverse, batch.lists, batch.tokens.edge_offsets, sums.T)


def on_log_scale(posteriors: Vector) -> Vector:
    """1 + log10(max(s, FLOOR)) / 4, from 0 at the floor to 1 at certainty."""
    return (1.0 + np.log10(np.maximum(posteriors, FLOOR)) / 4.0).astype(np.float32, copy=False)


@compiled
def _fill_sums(soft, forward, reverse, lists, offsets, out):
    shapes = lists.shapes
    widest, longest = 1, 1
    for i in range(len(shapes)):
        longest = max(longest, shapes[i, 0])
        widest = max(widest, shapes[i, 1])
    rows, given = np.empty((2, longest))
    columns, generated = np.empty((2, widest))
    for i in range(len(shapes)):
        J = shapes[i, 0]
        K = shapes[i, 1]
        first = offsets[i]
        columns[:K] = 0.0
        generated[:K] = 0.0
        for j in range(J):
            row = 0.0
            of_row = 0.0
            for k in range(K):
                columns[k] += soft[first + j * K + k]
                generated[k] += forward[first + j * K + k]
                row += soft[first + j * K + k]
                of_row += reverse[first + j * K + k]
            rows[j] = row
            given[j] = of_row
        for edge in range(lists.offsets[i], lists.offsets[i + 1]):
            j, k = lists.source[edge], lists.target[edge]
            own = soft[first + j * K + k]
            out[0, edge] = min(1.0, max(0.0, rows[j] - own) / 2.0)
            out[1, edge] = min(1.0, max(0.0, columns[k] - own) / 2.0)
            out[2, edge] = min(1.0, max(0.0, 1.0 - given[j]))
            out[3, edge] = min(1.0, max(0.0, 1.0 - generated[k]))
