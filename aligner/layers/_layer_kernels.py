"""Compiled kernel of a matching layer: the derivative of nearest points by their scores, applied to given vectors."""

import numpy as np

from aligner.matching._newton_kernels import FLAT, solve_tight
from corpora.compiled import compiled


@compiled
def pull_back(first, last, shapes, offsets, starts, slopes, u, v, cotangent, gradient):
    """Set gradient = V cotangent of matrices first .. last, one flat matrix after the other from `offsets` on.

    V = H − H A (AᵀHA)⁻¹ AᵀH is symmetric: H = diag(slopes), and A is the incidence of the words with a price. The
    prices of the longer side are eliminated, and those of the shorter side found like a Newton step.
    """
    for i in range(first, last):
        J, K = shapes[i]
        one, other = u[starts[i, 0] : starts[i, 0] + J], v[starts[i, 1] : starts[i, 1] + K]
        by_row, by_column = K, 1
        if J > K:
            one, other, J, K, by_row, by_column = other, one, K, J, 1, K
        curvature, system, diagonal = np.empty((J, K)), np.empty((J, J)), np.empty(J)
        price, tight, n = np.zeros(J), np.empty(J, np.int64), np.int64(0)
        pulls, answers, idle = np.zeros(K), np.zeros(K), np.zeros(K)
        for j in range(J):
            if one[j] > 0.0:
                tight[n] = j
                n += 1
            for k in range(K):
                e = offsets[i] + j * by_row + k * by_column
                curvature[j, k] = slopes[e]
                pulls[k] += slopes[e] * cotangent[e]
                answers[k] += slopes[e]
                idle[k] += 0.0 if one[j] > 0.0 else slopes[e]
        for k in range(K):
            answers[k] = 1.0 / answers[k] if other[k] > 0.0 and answers[k] > FLAT else 0.0
        for j in tight[:n]:
            for k in range(K):
                e = offsets[i] + j * by_row + k * by_column
                price[j] += slopes[e] * (cotangent[e] - answers[k] * pulls[k])
        solve_tight(n, tight, curvature, answers, idle, system, diagonal, price)
        for k in range(K):
            change = pulls[k]
            for j in tight[:n]:
                change -= curvature[j, k] * price[j]
            for j in range(J):
                e = offsets[i] + j * by_row + k * by_column
                gradient[e] = slopes[e] * (cotangent[e] - price[j] - answers[k] * change)
