"""Chains: every answer against all labellings by their definition, and sparse solving against dense."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from label_sequences import joint_features, labellings, random_chains, tokens_of
from scipy.sparse import csr_array
from solver_configurations import Plain, run

from aligner.errors import ScoreError, SettingError
from aligner.losses.chain import ChainProblem
from aligner.solvers import Status, check_problem, make_solver
from aligner.solvers.gap import ask_all

CASES = [(biases, share) for biases in (False, True) for share in (1.0, 0.4)]
on_cases = pytest.mark.parametrize(("biases", "share"), CASES)


def weights_of(problem: ChainProblem, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(problem.n_features)


@on_cases
def test_the_oracle_finds_what_enumeration_finds(biases: bool, share: float) -> None:
    problem = random_chains(12, p=3, longest=5, biases=biases, share=share)
    w, blocks = weights_of(problem), np.array([3, 0, 11])
    for some in (blocks, np.arange(problem.n_blocks)):
        corners = problem.corners(some, w)
        for i, psi, loss in zip(some, corners.psi.toarray(), corners.losses, strict=True):
            every = labellings(problem, i)
            assert loss - psi @ w == pytest.approx(max(other - features @ w for features, other in every))
            assert any(
                np.allclose(psi, features, atol=1e-6) and loss == pytest.approx(other) for features, other in every
            )
    np.testing.assert_allclose(ask_all(problem, w).hinges, corners.losses - corners.psi @ w, atol=1e-12)


@on_cases
def test_labels_of_greatest_score_are_predicted(biases: bool, share: float) -> None:
    problem = random_chains(12, p=3, longest=4, biases=biases, share=share)
    w, offsets = weights_of(problem), problem.arrays.offsets
    labels = problem.predict(w)
    for i in range(problem.n_blocks):
        x, y = tokens_of(problem, i)
        ours = (joint_features(problem, x, y) - joint_features(problem, x, labels[offsets[i] : offsets[i + 1]])) @ w
        assert ours == pytest.approx(min(psi @ w for psi, _ in labellings(problem, i)))
    assert problem.error(w) == np.mean(labels != problem.arrays.labels)
    assert problem.error(-w) != problem.error(w)


@on_cases
def test_marginals_are_those_of_enumeration(biases: bool, share: float) -> None:
    """Forward-backward, and that parts, target, scores and moments belong together."""
    problem = random_chains(6, p=3, longest=4, biases=biases, share=share)
    M, w, blocks = problem.arrays.n_labels, weights_of(problem), np.array([4, 1, 5])
    scores = problem.scores(blocks, w)
    z = problem.nearest(blocks, scores, "entropic")
    moments, of_target = problem.moments(blocks, z), np.zeros(problem.n_features + 1)
    expected, begin = np.zeros_like(moments), 0
    for i in blocks:
        _, y = tokens_of(problem, i)
        every = labellings(problem, i)
        hinges = np.array([loss - psi @ w for psi, loss in every])
        shares = np.exp(hinges - hinges.max()) / np.exp(hinges - hinges.max()).sum()
        paths = np.stack(np.unravel_index(np.arange(len(every)), [M] * len(y)), axis=1)
        own = z[begin : begin + len(y) * M + (len(y) - 1) * M * M]
        labels, steps = own[: len(y) * M].reshape(-1, M), own[len(y) * M :].reshape(-1, M, M)
        for t in range(len(y)):
            np.testing.assert_allclose(labels[t], np.bincount(paths[:, t], shares, minlength=M), atol=1e-12)
        for t in range(len(y) - 1):
            both = np.bincount(paths[:, t] * M + paths[:, t + 1], shares, minlength=M * M)
            np.testing.assert_allclose(steps[t].ravel(), both, atol=1e-12)
        expected[:-1] -= sum(share * psi for share, (psi, _) in zip(shares, every, strict=True))
        expected[-1] += sum(share * loss for share, (_, loss) in zip(shares, every, strict=True))
        target = problem.target[slice(*problem.parts[i : i + 2])]
        of_target += problem.moments(np.array([i]), target)
        begin += len(own)
    assert of_target[-1] == 0.0
    np.testing.assert_allclose(moments - of_target, expected, atol=1e-6)
    assert scores @ z == pytest.approx(moments @ np.append(w, 1.0))


def test_scores_are_the_derivatives_of_the_smoothed_maximum() -> None:
    """∂ log Σ exp ⟨s(w), z⟩ / ∂w = F z: by differences, of marginals that are not the best."""
    problem, step = random_chains(4, longest=4), 1e-6
    w, blocks = weights_of(problem), np.arange(4)

    def log_sum(at: np.ndarray) -> float:
        found = 0.0
        for i in blocks:
            of_target = problem.scores(np.array([i]), at) @ problem.target[slice(*problem.parts[i : i + 2])]
            hinges = [loss - psi @ at for psi, loss in labellings(problem, i)]
            found += of_target + np.log(np.exp(hinges).sum())
        return found

    moments = problem.moments(blocks, problem.nearest(blocks, problem.scores(blocks, w), "entropic"))
    for c in range(problem.n_features):
        side = step * np.eye(problem.n_features)[c]
        assert moments[c] == pytest.approx((log_sum(w + side) - log_sum(w - side)) / (2 * step), abs=1e-6)


def test_sharp_potentials_give_the_best_labelling() -> None:
    problem = random_chains(9, longest=5)
    w, blocks = weights_of(problem), np.arange(9)
    corners = problem.corners(blocks, w)
    z = problem.nearest(blocks, 1e6 * problem.scores(blocks, w), "entropic")
    moved = problem.moments(blocks, problem.target - z)
    np.testing.assert_allclose(moved, np.append(corners.psi.sum(axis=0), -corners.losses.sum()), atol=1e-5)


@on_cases
def test_a_chain_passes_the_check(biases: bool, share: float) -> None:
    problem = random_chains(biases=biases, share=share, longest=6)
    check_problem(problem)
    check_problem(Plain(problem))


@dataclass
class Dense(Plain):
    """A chain in Python whose corners are dense, as those of most problems."""

    sparse = property(lambda self: False)


@pytest.mark.parametrize(
    "options", [{}, {"average": "weighted"}, {"average": "suffix"}, {"step": "decreasing", "average": "uniform"}]
)
def test_sparse_shares_are_dense_ones(options: dict[str, str]) -> None:
    """Compiled and sparse, sparse in Python, and dense in Python: the same iterates of the same order."""
    problem = random_chains(25, p=4, longest=5)  # of features in common, so that no two labellings are as good
    solver = make_solver("bcfw", **options)
    assert solver.dual_point(problem, solver.init(problem, np.random.default_rng(0))).block_v is None  # sparse
    compiled, *others = (run(each, solver, gap=0.0, passes=9) for each in (problem, Plain(problem), Dense(problem)))
    for other in others:
        for ours, theirs in zip(compiled.trace, other.trace, strict=True):
            assert ours.primal == pytest.approx(theirs.primal, rel=1e-9)
            assert ours.dual == pytest.approx(theirs.dual, rel=1e-9, abs=1e-12)
            assert ours.oracle_calls == theirs.oracle_calls
        np.testing.assert_allclose(compiled.w, other.w, rtol=1e-8, atol=1e-10)


def test_memory_is_that_of_what_is_touched() -> None:
    """The entries that a block keeps are at most the features of its tokens, times its labels, and its neighbours'."""
    rng = np.random.default_rng(0)
    lengths, p, M = rng.integers(1, 6, 40), 100_000, 3
    columns = rng.integers(p, size=(lengths.sum(), 4))
    features = csr_array((np.ones(columns.size), columns.ravel(), 4 * np.arange(len(columns) + 1)), (len(columns), p))
    problem = ChainProblem.of(features, rng.integers(M, size=len(columns)), lengths, regularization=0.1, n_labels=M)
    solver = make_solver("bcfw")
    state = solver.init(problem, rng)
    for _ in range(10):
        solver.sweep(problem, state)
    assert (state.point.sizes <= 4 * M * lengths + M * M).all()
    assert state.point.end[0] <= 20 * lengths.sum() * 4 * M
    assert run(problem, solver, gap=1e-2, passes=500).status is Status.CONVERGED


def test_a_part_is_a_problem_of_its_own() -> None:
    problem, chosen = random_chains(10, longest=4), np.array([7, 2, 2])
    part, w = problem.take(chosen), weights_of(problem)
    ours, theirs = part.corners(np.arange(3), w), problem.corners(chosen, w)
    np.testing.assert_array_equal(ours.psi.toarray(), theirs.psi.toarray())
    np.testing.assert_array_equal(ours.losses, theirs.losses)
    assert problem.rehearsal().n_blocks == 1


FEATURES, LABELS = np.eye(3), [0, 1, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": [0, 1]}, "features of 3 tokens"),
        ({"lengths": [2]}, "lengths adding up to 2"),
        ({"lengths": []}, "lengths adding up to 0"),
        ({"lengths": [3, 0]}, "at least one token"),
        ({"features": np.full((3, 3), np.nan)}, "must be finite"),
        ({"n_labels": 1}, "labels must be from 0 to 0"),
        ({"labels": [-1, 0, 0]}, "labels must be from 0"),
        ({"labels": [0.5, 0, 0]}, "whole numbers"),
        ({"regularization": 0.0}, "regularization must be"),
        ({"regularization": np.nan}, "regularization must be"),
        ({"features": FEATURES[:, 0]}, r"features of shape \(3,\)"),
        ({"features": FEATURES[None]}, "a row for each token"),
        ({"features": 1.0}, "a row for each token"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told(change: dict[str, object], message: str) -> None:
    values = {"features": FEATURES, "labels": LABELS, "lengths": [2, 1], "regularization": 0.1, **change}
    with pytest.raises((ValueError, SettingError), match=message) as error:
        ChainProblem.of(**values)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite_are_refused(bad: float) -> None:
    problem = random_chains()
    for c in (0, problem.n_features - 1):
        w = np.zeros(problem.n_features)
        w[c] = bad
        with pytest.raises(ScoreError):
            problem.corners(np.arange(problem.n_blocks), w)
    with pytest.raises(ScoreError):
        problem.nearest(np.array([0]), np.full(problem.parts[1], bad), "entropic")
    with pytest.raises(ValueError, match="weights"):
        problem.predict(np.zeros(3))


def test_a_chain_says_what_it_is() -> None:
    problem = random_chains(5)
    assert problem.signature == "chains:5|labels:3|lambda:0.3|biases"
    assert replace(problem, regularization=0.5).signature.count("lambda:0.5") == 1
