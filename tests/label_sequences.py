"""Small problems of label sequences, and all labellings of each by their definition."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.sparse import csr_array

from aligner.losses.chain import ChainProblem


def random_chains(
    n: int = 20,
    p: int = 2,
    labels: int = 3,
    longest: int = 3,
    seed: int = 0,
    *,
    biases: bool = True,
    share: float = 1.0,
) -> ChainProblem:
    """Sequences of up to so many tokens, whose labels often stay, of this share of all features."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest + 1, n)
    kept = [np.where(rng.random(T) < 0.6, rng.integers(labels), rng.integers(labels, size=T)) for T in lengths]
    given = np.concatenate(kept)
    features = rng.standard_normal((labels, p))[given] + rng.standard_normal((len(given), p))
    features[rng.random(features.shape) >= share] = 0.0
    return ChainProblem.of(features, given, lengths, regularization=0.3, n_labels=labels, biases=biases)


def joint_features(problem: ChainProblem, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """φ(x, y) of one sequence: features of each token by its label, counts of neighbours, of labels, first and last."""
    M = problem.arrays.n_labels
    tokens, steps, biases = np.zeros((x.shape[1], M)), np.zeros((M, M)), np.zeros((3, M))
    for t, label in enumerate(y):
        tokens[:, label] += x[t]
        biases[0, label] += 1.0
        if t > 0:
            steps[y[t - 1], label] += 1.0
    biases[1, y[0]] += 1.0
    biases[2, y[-1]] += 1.0
    return np.concatenate([tokens.ravel(), steps.ravel(), biases.ravel() if problem.arrays.biases else []])


def tokens_of(problem: ChainProblem, i: int) -> tuple[np.ndarray, np.ndarray]:
    """(T, p) features and (T,) right labels of a sequence."""
    arrays, own = problem.arrays, slice(*problem.arrays.offsets[i : i + 2])
    x = csr_array((arrays.values, arrays.columns, arrays.starts), (len(arrays.labels), arrays.n_inputs)).toarray()
    return x[own].astype(float), arrays.labels[own]


def labellings(problem: ChainProblem, i: int) -> list[tuple[np.ndarray, float]]:
    """ψ and L of all labellings of a sequence."""
    x, y = tokens_of(problem, i)
    right = joint_features(problem, x, y)
    found = [np.array(z) for z in product(range(problem.arrays.n_labels), repeat=len(y))]
    return [(right - joint_features(problem, x, z), float(np.mean(z != y))) for z in found]


def diameters(problem: ChainProblem) -> np.ndarray:
    """(n,) the largest distance of two ψ of a sequence."""
    corners = [np.array([psi for psi, _ in labellings(problem, i)]) for i in range(problem.n_blocks)]
    return np.array([max(np.linalg.norm(psi - own, axis=1).max() for psi in own) for own in corners])
