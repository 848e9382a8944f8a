"""Compiled kernels of a projection's Newton steps on the dual variables (prices) of the shorter side."""

import numpy as np

from aligner.matching._price_kernels import EUCLIDEAN, FERMI_DIRAC
from corpora.compiled import SUMS, compiled

FLAT = 1e-15
"""Curvature assumed in directions without any, in which all words of a component are at capacity."""

JAMMED = 0.1
"""A price that reaches 0 within this fraction of a Newton step is set to 0 by it, whatever the others do."""


@compiled(fastmath=SUMS)
def derivatives(geometry, values, u, v, capacity, ceiling, weights, excess, curvature, answers):
    """Compute first and second derivatives: each row's sum of z beyond its capacity, and dz/dx of the edges.

    answers: 1 / the column's sum of dz/dx, how its price follows the rows' prices; 0 if it stays at 0.
    """
    rows, columns = values.shape
    for k in range(columns):
        answers[k] = 0.0
    for j in range(rows):
        total = 0.0
        for k in range(columns):
            x = values[j, k] - u[j] - v[k]
            if geometry == EUCLIDEAN:
                z = x if x > 0.0 else 0.0
                slope = 1.0 if x > 0.0 and x < ceiling else 0.0
            elif geometry == FERMI_DIRAC:
                z = 1.0 / (1.0 + np.exp(-x))
                slope = z * (1.0 - z)
            else:
                z = weights[j, k]
                slope = z if z < ceiling else 0.0
            total += z if z < ceiling else ceiling
            curvature[j, k] = slope
            answers[k] += slope
        excess[j] = total - capacity[j]
    for k in range(columns):
        answers[k] = 1.0 / answers[k] if v[k] > 0.0 and answers[k] > FLAT else 0.0


@compiled(fastmath=SUMS)
def solve_tight(n, tight, curvature, answers, idle, system, diagonal, step):
    """Solve for Newton's step of the n tight rows, which replaces their excess in `step`.

    (diag(A 1) - A diag(answers) Aᵀ) step = excess, answers[k] = 1 / (Aᵀ1)_k or 0. The matrix has row sums >= 0 and no
    entry above 0 off the diagonal, so it is eliminated without a subtraction  [Grassmann, Taksar and Heyman 1985]: row
    sums are kept instead of the diagonal, and a chain of words that are nearly all matched is as exact as any other.
    """
    columns = len(answers)
    for p in range(n):
        row = curvature[tight[p]]
        apart = FLAT
        for k in range(columns):
            apart += row[k] * (idle[k] * answers[k] if answers[k] > 0.0 else 1.0)
        diagonal[p] = apart
        for q in range(p):
            rival = curvature[tight[q]]
            shared = 0.0
            for k in range(columns):
                shared += row[k] * rival[k] * answers[k]
            system[p, q] = shared
    for p in range(n):
        pivot = diagonal[p]
        for q in range(p + 1, n):
            pivot += system[q, p]
        for q in range(p + 1, n):
            share = system[q, p] / pivot
            diagonal[q] += share * diagonal[p]
            step[tight[q]] += share * step[tight[p]]
            for r in range(p + 1, q):
                system[q, r] += share * system[r, p]
        diagonal[p] = pivot
    for p in range(n - 1, -1, -1):
        right = step[tight[p]]
        for q in range(p + 1, n):
            right += system[q, p] * step[tight[q]]
        step[tight[p]] = right / diagonal[p]


@compiled(fastmath=SUMS)
def newton_step(geometry, values, u, v, capacity, ceiling, weights, longest):
    """Return Newton's step for the rows' prices, no entry beyond `longest`; the columns' prices follow as the best.

    Rows beyond capacity or with a price take part, and the prices of columns that have one follow.
    """
    rows, columns = values.shape
    excess, step, diagonal, tight = np.empty(rows), np.empty(rows), np.empty(rows), np.empty(rows, np.int64)
    answers, idle = np.empty(columns), np.empty(columns)
    curvature, system = np.empty((rows, columns)), np.empty((rows, rows))
    derivatives(geometry, values, u, v, capacity, ceiling, weights, excess, curvature, answers)
    for _ in range(3):
        n = np.int64(0)
        for k in range(columns):
            idle[k] = 0.0
        for j in range(rows):
            if excess[j] > 0.0 or (u[j] > 0.0 and excess[j] > -np.inf):
                tight[n] = j
                step[j] = excess[j]
                n += 1
            else:
                step[j] = -u[j]
                for k in range(columns):
                    idle[k] += curvature[j, k]
        for j in range(rows):
            if excess[j] == -np.inf:  # what the columns answer to a price that goes to 0
                for p in range(n):
                    for k in range(columns):
                        step[tight[p]] -= curvature[tight[p], k] * curvature[j, k] * answers[k] * u[j]
        solve_tight(n, tight, curvature, answers, idle, system, diagonal, step)
        jammed = False
        for p in range(n):
            j = tight[p]
            step[j] = max(-longest, min(longest, step[j]))
            if u[j] < -JAMMED * step[j]:
                excess[j] = -np.inf
                jammed = True
        for k in range(columns):
            if answers[k] > 0.0:
                change = 0.0
                for j in range(rows):
                    change -= curvature[j, k] * step[j] * answers[k]
                if v[k] < -JAMMED * change:
                    answers[k] = 0.0
                    jammed = True
                    for j in range(rows):
                        excess[j] += curvature[j, k] * v[k]
        if not jammed:
            break
    return step
