"""Fenchel-Young losses of marginals: logistic regression, random fields, and their certificate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from label_sequences import labellings, random_chains
from scipy.optimize import minimize
from scipy.special import logsumexp
from sequences import index_chunks
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from solver_configurations import Multiclass

from aligner.errors import SettingError
from aligner.losses.hinge import MatchingProblem
from aligner.problem import TargetOnly
from aligner.solvers import ChainProblem, LogLoss, Newton, Status, Stop, make_solver, solve


def test_of_classes_it_is_logistic_regression() -> None:
    """On digits: classes are sequences of one label."""
    x, y = load_digits(return_X_y=True)
    x, y = x[:500] / 16.0, y[:500]
    strength = 1e-2
    problem = LogLoss(ChainProblem.of(x, y, np.ones(500, int), regularization=strength))
    result = solve(problem, Newton(), stop=Stop(gap=1e-13, passes=1000))
    theirs = LogisticRegression(C=1.0 / (500 * strength), fit_intercept=False, tol=1e-10, max_iter=10_000).fit(x, y)
    ours = result.w[: 64 * 10].reshape(64, 10).T
    np.testing.assert_allclose(ours, theirs.coef_, atol=1e-6)
    assert not result.w[64 * 10 :].any()  # of neighbours, which there are none of


@pytest.mark.parametrize(("temperature", "margin"), [(1.0, 0.0), (0.5, 0.0), (1.0, 1.0)])
def test_of_chains_it_is_a_random_field(temperature: float, margin: float) -> None:
    """The optimum by L-BFGS on the sum over all labellings."""
    chains = random_chains(15, p=3, longest=4)
    every = [labellings(chains, i) for i in range(chains.n_blocks)]

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = 0.5 * chains.regularization * w @ w, chains.regularization * w
        for block in every:
            psi = np.array([features for features, _ in block])
            scores = (margin * np.array([loss for _, loss in block]) - psi @ w) / temperature
            value += temperature * logsumexp(scores) / len(every)
            slope = slope - np.exp(scores - logsumexp(scores)) @ psi / len(every)
        return value, slope

    theirs = minimize(
        objective, np.zeros(chains.n_features), jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9}
    )
    problem = LogLoss(chains, temperature, margin)
    result = solve(problem, Newton(), stop=Stop(gap=1e-12, passes=500))
    assert result.status is Status.CONVERGED
    np.testing.assert_allclose(result.w, theirs.x, atol=1e-6)
    assert result.primal == pytest.approx(theirs.fun, abs=1e-10)
    w = np.random.default_rng(0).standard_normal(chains.n_features)
    value, slope = objective(w)
    sums = problem.sums(w)
    assert sums.value + 0.5 * chains.regularization * w @ w == pytest.approx(value)
    np.testing.assert_allclose(sums.gradient + chains.regularization * w, slope, atol=1e-8)


def test_of_sentences_it_is_what_forward_and_backward_sums_say() -> None:
    """At random weights, with the sparse features of chunks: sums over labels of one token after the other."""
    rng, lengths, M = np.random.default_rng(0), [1, 7, 30], 5
    tokens = [
        (f"w{rng.zipf(1.5) % 20}", f"T{rng.integers(6)}", f"C{c}") for c in [*range(M), *rng.integers(M, size=33)]
    ]
    found = index_chunks(tokens[end - length : end] for end, length in zip(np.cumsum(lengths), lengths, strict=True))
    problem = LogLoss(found.problem(1.0))
    w = rng.standard_normal(problem.n_features)
    own, steps = np.split(w, [found.features.shape[1] * M])
    own, steps, value, slope = own.reshape(-1, M), steps.reshape(M, M), 0.0, np.zeros((len(w) // M, M))
    ends = np.cumsum(lengths)[:-1]
    for x, y in zip(np.split(found.features.toarray(), ends), np.split(found.labels, ends), strict=True):
        scores = x @ own
        forward, backward = scores.copy(), np.zeros_like(scores)
        for t in range(1, len(y)):
            forward[t] += logsumexp(forward[t - 1][:, None] + steps, axis=0)
            backward[-1 - t] = logsumexp(steps + scores[-t] + backward[-t], axis=1)
        total = logsumexp(forward[-1])
        value += total - scores[np.arange(len(y)), y].sum() - steps[y[:-1], y[1:]].sum()
        pairs = np.exp(forward[:-1, :, None] + steps + (scores + backward)[1:, None] - total).sum(axis=0)
        np.add.at(pairs, (y[:-1], y[1:]), -1.0)
        slope += np.vstack([x.T @ (np.exp(forward + backward - total) - np.eye(M)[y]), pairs])
    sums = problem.sums(w)
    assert sums.value == pytest.approx(value / len(lengths), rel=1e-10)
    np.testing.assert_allclose(sums.gradient, slope.ravel() / len(lengths), atol=1e-10)


@pytest.mark.parametrize("margin", [0.0, 1.0])
def test_every_audit_is_a_certificate(margin: float, make_problem: Callable[..., MatchingProblem]) -> None:
    for inner in (Multiclass.random(), random_chains(), make_problem(n=10)):
        problem = LogLoss(inner, margin=margin)
        result = solve(problem, Newton(), stop=Stop(gap=1e-9, passes=300, audit_growth=1.0))
        assert result.status is Status.CONVERGED
        assert all(point.dual <= result.primal + 1e-9 and result.dual - 1e-9 <= point.primal for point in result.trace)
        assert result.trace[-1].passes > 2


def test_cold_and_with_the_margin_it_is_the_hinge() -> None:
    """max_z ≤ the smoothed maximum ≤ max_z + τ log |Z|."""
    chains = random_chains()
    hinge = solve(chains, make_solver("bcfw-pairwise"), stop=Stop(gap=1e-8, passes=5000))
    cold = solve(LogLoss(chains, 1e-3, 1.0), Newton(), stop=Stop(gap=1e-6, passes=5000))
    assert 0.0 <= cold.primal - hinge.dual <= 1e-3 * np.log(3**3) + 1e-6


def test_what_it_cannot_have_is_refused(make_problem: Callable[..., MatchingProblem]) -> None:
    with pytest.raises(SettingError, match="needs a problem with marginals in entropic"):
        LogLoss(TargetOnly(2, 0.1))
    with pytest.raises(SettingError, match="must not be above 0"):
        LogLoss(make_problem(n=4, capacity=2))
    for wrong in ({"temperature": 0.0}, {"temperature": np.nan}, {"margin": -1.0}):
        with pytest.raises(SettingError, match="temperature must be above 0"):
            LogLoss(random_chains(), **wrong)
