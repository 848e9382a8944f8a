"""Compiled sums of the logistic loss over edges: value, gradient, curvature."""

from __future__ import annotations

import numpy as np

from corpora.compiled import SUMS, compiled

LEAST_CURVATURE = 1e-4
"""Edges whose loss is flatter, nearly all, are left out of the curvature, which a step needs only roughly."""


@compiled(fastmath=SUMS)
def add_logistic(features, signs, first, last, w, costs, gradient, curvature):
    """Add up c log(1 + exp(-y w·x)) of edges first .. last; returns (sum of losses, sum of c H(a)).

    features: (E, d).  signs: (E,) int8, y = 1 or -1; 0: left out.  w: (d,).  costs: c of edges with y = -1 and 1.
    a = σ(-y w·x) is the dual variable and H(a) = -a log a - (1 - a) log(1 - a) its entropy.
    gradient: (d,), to which -c a y x is added.  curvature: (d, d), to whose lower triangle c a (1 - a) x xᵀ is.
    """
    d = len(w)
    losses = 0.0
    entropies = 0.0
    row = np.empty(d)
    for e in range(first, last):
        y = signs[e]
        if y == 0:
            continue
        score = 0.0
        for c in range(d):
            row[c] = features[e, c]
            score += w[c] * row[c]
        cost = costs[1] if y > 0 else costs[0]
        z = y * score
        small = np.exp(-abs(z))
        loss = np.log1p(small) + max(-z, 0.0)
        dual = small / (1.0 + small) if z > 0.0 else 1.0 / (1.0 + small)
        losses += cost * loss
        entropies += cost * (loss + dual * z)
        pull = -cost * dual * y
        for c in range(d):
            gradient[c] += pull * row[c]
        slope = dual * (1.0 - dual)
        if slope >= LEAST_CURVATURE:
            for b in range(d):
                if row[b] != 0.0:
                    share = cost * slope * row[b]
                    for c in range(b + 1):
                        curvature[b, c] += share * row[c]
    return losses, entropies
