"""What a user writes: scripts of 20 and 40 lines in a fresh process, solved to 1e-4 by every solver that knows them.

Each script says what its problem is; the rest is the same for both.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from aligner.solvers import SOLVERS

DIGITS = """
import numpy as np
from sklearn.datasets import load_digits
from aligner.solvers import BlockDefaults, Corners
class Digits(BlockDefaults):
    def __init__(self, x, y, regularization):
        self.x, self.y, self.regularization = x, y, regularization
        self.n_blocks, self.n_features = len(x), 10 * x.shape[1]
    def corners(self, blocks, w):
        x, y, rows = self.x[blocks], self.y[blocks], np.arange(len(blocks))
        losses = 1.0 - np.eye(10)[y]
        best = (losses + x @ w.reshape(10, -1).T).argmax(axis=1)
        psi = np.zeros((len(blocks), 10, x.shape[1]))
        psi[rows, y] += x
        psi[rows, best] -= x
        return Corners(psi.reshape(len(blocks), -1), losses[rows, best])
x, y = load_digits(return_X_y=True)
problem = Digits(x[:60] / np.linalg.norm(x[:60], axis=1)[:, None], y[:60], 0.2)
"""

CHAIN = """
import numpy as np
from aligner.solvers import BlockDefaults, Corners
class Chain(BlockDefaults):
    def __init__(self, xs, ys, labels, regularization):
        self.xs, self.ys, self.labels, self.regularization = xs, ys, labels, regularization
        self.n_blocks, self.n_features = len(xs), labels * (xs[0].shape[1] + labels)
    def features(self, x, y):
        own, steps = np.zeros((self.labels, x.shape[1])), np.zeros((self.labels, self.labels))
        np.add.at(own, y, x)
        np.add.at(steps, (y[:-1], y[1:]), 1.0)
        return np.concatenate([own.ravel(), steps.ravel()]) / len(y)
    def best(self, x, w, losses):
        own, steps = np.split(w, [self.labels * x.shape[1]])
        scores = x @ own.reshape(self.labels, -1).T + losses
        total, before = scores[0], []
        for row in scores[1:]:
            ahead = total[:, None] + steps.reshape(self.labels, -1)
            before.append(ahead.argmax(axis=0))
            total = ahead.max(axis=0) + row
        path = [total.argmax()]
        for best in reversed(before):
            path.append(best[path[-1]])
        return np.array(path[::-1])
    def corners(self, blocks, w):
        psi, losses = [], []
        for x, y in ((self.xs[i], self.ys[i]) for i in blocks):
            z = self.best(x, w, np.arange(self.labels) != y[:, None])
            psi.append(self.features(x, y) - self.features(x, z))
            losses.append(np.mean(z != y))
        return Corners(np.array(psi), np.array(losses))
rng = np.random.default_rng(0)
ys = [np.repeat(rng.integers(3, size=2), 2) for _ in range(12)]
xs = [np.eye(3)[y] + 0.8 * rng.normal(size=(4, 3)) for y in ys]
problem = Chain(xs, ys, 3, 0.2)
"""

SOLVE = """
import sys
from aligner.solvers import Stop, check_problem, make_solver, solve
check_problem(problem)
for name in sys.argv[1:]:
    result = solve(problem, make_solver(name), stop=Stop(0.0, 20_000, audit_growth=1.5, absolute_gap=1e-4))
    print(name, result.status.name, result.primal, result.dual)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("script", "longest"), [(DIGITS, 20), (CHAIN, 40)], ids=["digits", "chain"])
def test_a_script_is_solved_by_every_solver_that_knows_it(script: str, longest: int, tmp_path: Path) -> None:
    assert script.count("\n") - 1 <= longest
    names = [name for name, entry in SOLVERS.items() if entry.weights and not entry.marginals]
    (tmp_path / "own.py").write_text(script + SOLVE)
    command = [sys.executable, "-W", "error", "own.py", *names]
    lines = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    found = [line.split() for line in lines]
    assert [(name, status) for name, status, *_ in found] == [(name, "CONVERGED") for name in names]
    assert max(float(dual) for *_, dual in found) <= min(float(primal) for *_, primal, _ in found)
