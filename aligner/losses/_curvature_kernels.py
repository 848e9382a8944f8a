"""Compiled sums of Fenchel-Young losses over pairs: their gradient and curvature."""

import numpy as np

from corpora.compiled import SUMS, compiled

LEAST_CURVATURE = 1e-4
"""Edges whose z rises less with their score, nearly all, are left out of the curvature, needed only roughly."""

SINGULAR = 1e-9
"""A smaller remainder of a diagonal entry, relative to it, is rounding: the word's price follows from others'."""


@compiled(fastmath=SUMS)
def add_pairs(first, last, features, lists, starts, pull, slopes, u, v, gradient, curvature):
    """Add up F pull, and F V Fᵀ, of pairs first .. last.

    V = H − H A (AᵀHA)⁻¹ AᵀH is the derivative of z by the scores; without capacities it is H = diag(slopes).  A is
    the incidence of the words whose capacity binds, those with a price.

    features: (E, d), columns of F.  pull, slopes: (E,).  u, v: (ΣJ,) and (ΣK,) prices, where pairs begin at starts
    (n + 1, 2).  gradient: (d,).  curvature: (d, d), only its lower triangle is added to.
    """
    d = features.shape[1]
    row = np.empty(d)
    for i in range(first, last):
        J, K = lists.shapes[i]
        place = np.full(J + K, -1)
        m = 0
        for word in range(J + K):
            if (u[starts[i, 0] + word] if word < J else v[starts[i, 1] + word - J]) > 0.0:
                place[word] = m
                m += 1
        bound, system = np.zeros((m, d)), np.zeros((m, m))
        for e in range(lists.offsets[i], lists.offsets[i + 1]):
            slope = slopes[e]
            for c in range(d):
                row[c] = features[e, c]
                gradient[c] += pull[e] * row[c]
            if slope < LEAST_CURVATURE:
                continue
            for b in range(d):
                if row[b] != 0.0:
                    share = slope * row[b]
                    for c in range(b + 1):
                        curvature[b, c] += share * row[c]
            p, q = place[lists.source[e]], place[J + lists.target[e]]
            for word in (p, q):
                if word >= 0:
                    system[word, word] += slope
                    for c in range(d):
                        bound[word, c] += slope * row[c]
            if p >= 0 and q >= 0:
                system[q, p] += slope  # columns come after rows
        subtract_bound(system, bound, curvature)


@compiled(fastmath=SUMS)
def subtract_bound(system, bound, curvature):
    """Subtract boundᵀ system⁻¹ bound, by Cholesky's factors, in place; singular rows of the system are left out."""
    m, d = bound.shape
    for p in range(m):
        pivot = system[p, p]
        for r in range(p):
            pivot -= system[p, r] * system[p, r]
        inverse = 1.0 / np.sqrt(pivot) if pivot > SINGULAR * system[p, p] else 0.0
        for r in range(p):
            for c in range(d):
                bound[p, c] -= system[p, r] * bound[r, c]
        for q in range(p + 1, m):
            for r in range(p):
                system[q, p] -= system[q, r] * system[p, r]
            system[q, p] *= inverse
        for c in range(d):
            bound[p, c] *= inverse
        for b in range(d):
            for c in range(b + 1):
                curvature[b, c] -= bound[p, b] * bound[p, c]
