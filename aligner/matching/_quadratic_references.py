"""References of matching with rewards for neighbouring links: linear and integer programs, by HiGHS through scipy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, csr_array

from aligner.errors import ScoreError
from aligner.matching import F64


def quadratic_program(
    scores: F64, source_rewards: F64, target_rewards: F64, parallel: F64, swapped: F64, *, whole: bool
) -> tuple[float, F64]:
    """Best value of one pair and its links: of the linear relaxation, or of whole links.

    max s·z + ρ·f + r·y  with 0 <= z, f, y <= 1,  Σ_k z(j,k) <= 1 + Σ_t f_t(j) for every j, likewise for every k, and
    y <= z(e), y <= z(e') for each pair of neighbouring links e, e': rewards r >= 0 make y their minimum  [LTKJ06 §4].

    scores, parallel, swapped: (J, K), see `aligner.matching.quadratic`.  source_rewards: (J, B - 1).
    target_rewards: (K, C - 1).  whole: links are 0 or 1.  Returns (value, (J, K) links).
    """
    J, K = scores.shape
    if scores.size == 0:
        return 0.0, np.zeros((J, K))
    edge = np.arange(J * K).reshape(J, K)
    one = np.concatenate([edge[:-1, :-1].ravel(), edge[:-1, 1:].ravel()])
    other = np.concatenate([edge[1:, 1:].ravel(), edge[1:, :-1].ravel()])
    rewards = np.concatenate([parallel[:-1, :-1].ravel(), swapped[:-1, :-1].ravel()])
    further = np.concatenate([source_rewards.ravel(), target_rewards.ravel()])
    word_of_further = np.repeat(np.arange(J + K), [source_rewards.shape[1]] * J + [target_rewards.shape[1]] * K)
    n_edges, n_further, n_pairs = J * K, len(further), len(rewards)
    pair, links = np.arange(n_pairs), edge.ravel()
    size = n_edges + n_further + n_pairs
    y = n_edges + n_further + pair
    at_most = _matrix(
        [
            (links // K, links, 1.0),
            (J + links % K, links, 1.0),
            (word_of_further, n_edges + np.arange(n_further), -1.0),
            (J + K + 2 * pair, y, 1.0),
            (J + K + 2 * pair, one, -1.0),
            (J + K + 2 * pair + 1, y, 1.0),
            (J + K + 2 * pair + 1, other, -1.0),
        ],
        (J + K + 2 * n_pairs, size),
    )
    limits = np.concatenate([np.ones(J + K), np.zeros(2 * n_pairs)])
    forbidden = ~np.isfinite(scores.ravel())
    gain = np.concatenate([np.where(forbidden, 0.0, scores.ravel()), further, rewards])
    highest = np.ones(size)
    highest[:n_edges][forbidden] = 0.0
    scale = max(1e-300, np.abs(gain).max())
    answer = milp(
        -gain / scale,
        constraints=LinearConstraint(at_most, ub=limits),
        bounds=Bounds(0.0, highest),
        integrality=np.arange(size) < (n_edges if whole else 0),
        options={"mip_rel_gap": 0.0},
    )
    if answer.status != 0:
        raise ScoreError(f"the program could not be solved: {answer.message}")
    return float(-answer.fun * scale), answer.x[:n_edges].reshape(J, K)


def _matrix(
    parts: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], float]], shape: tuple[int, int]
) -> csr_array:
    rows, columns, values = zip(*parts, strict=True)
    entries = np.repeat(values, [len(part) for part in rows])
    return coo_array((entries, (np.concatenate(rows), np.concatenate(columns))), shape=shape).tocsr()
