"""Problems of a function, and what a researcher does with them: the first ten lines of docs/own-problem.md."""

from __future__ import annotations

import itertools
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from label_sequences import random_chains
from scipy.sparse import csr_array

from aligner import solvers
from aligner.errors import AlignerError
from aligner.solvers import Average, Block, ByGap, Pairwise, Result, Status, Suffix, Uniform
from aligner.solvers.gap import ask_all, dual_value, primal_value
from aligner.solvers.records import Audit

rng = np.random.default_rng(0)
Y = rng.integers(3, size=60)
X = rng.normal(size=(60, 4)) + 2.0 * np.eye(3, 4)[Y]
CLASSES, D = 3, 12


class Arrays(NamedTuple):
    x: np.ndarray
    y: np.ndarray


def corner(i: int, w: np.ndarray) -> tuple[np.ndarray, float]:
    losses = (np.arange(CLASSES) != Y[i]).astype(float)
    best = int(np.argmax(losses + w.reshape(CLASSES, -1) @ X[i]))
    return ((np.eye(CLASSES)[Y[i]] - np.eye(CLASSES)[best])[:, None] * X[i]).ravel(), losses[best]


def sparse_corner(i: int, w: np.ndarray) -> tuple[csr_array, float]:
    psi, loss = corner(i, w)
    return csr_array(psi[None]), loss


def corners(blocks: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    psi, losses = zip(*[corner(int(i), w) for i in blocks], strict=True)
    return np.array(psi), np.array(losses)


@numba.njit
def kernel(i, arrays, w, psi):  # type: ignore[no-untyped-def]
    x, y, p = arrays.x[i], arrays.y[i], arrays.x.shape[1]
    best, highest = 0, -np.inf
    for k in range(len(w) // p):
        score = (0.0 if k == y else 1.0) + np.dot(x, w[k * p : (k + 1) * p])
        if score > highest:
            best, highest = k, score
    psi[y * p : (y + 1) * p] += x
    psi[best * p : (best + 1) * p] -= x
    return 0.0 if best == y else 1.0


@numba.njit
def sparse_kernel(i, arrays, w, cost, columns, values):  # type: ignore[no-untyped-def]
    x, y, p = arrays.x[i], arrays.y[i], arrays.x.shape[1]
    best, highest = 0, -np.inf
    for k in range(len(w) // p):
        score = (0.0 if k == y else cost) + np.dot(x, w[k * p : (k + 1) * p])
        if score > highest:
            best, highest = k, score
    for c in range(p):  # both, so that columns repeat at the target
        columns[2 * c], columns[2 * c + 1], values[2 * c], values[2 * c + 1] = y * p + c, best * p + c, x[c], -x[c]
    return (0.0 if best == y else 1.0), 2 * p


def from_oracle(function: Callable[..., Any] = corner, **changed: Any) -> Any:
    return solvers.from_oracle(function, **{"n_blocks": 60, "n_features": D, "regularization": 0.1} | changed)


def from_kernel(function: Callable[..., Any] = kernel, arrays: Any = Arrays(X, Y), **changed: Any) -> Any:  # noqa: B008
    return solvers.from_kernel(function, arrays, **{"n_features": D, "regularization": 0.1} | changed)


def rule(b):  # type: ignore[no-untyped-def]
    return 2.0 * b.blocks / (b.step + 2.0 * b.blocks)


FORMS = {
    "one": from_oracle,
    "many": lambda **changed: from_oracle(corners, batched=True, **changed),
    "sparse": lambda **changed: from_oracle(
        lambda i, w: (csr_array(corner(i, w)[0][None]), corner(i, w)[1]), **changed
    ),
    "kernel": from_kernel,
    "sparse kernel": lambda **changed: from_kernel(sparse_kernel, most_entries=8, **changed),
}


def enclose(results: list[Result]) -> None:
    assert max(result.dual for result in results) <= min(result.primal for result in results) + 1e-12
    assert all(result.status is Status.CONVERGED for result in results), results


@pytest.mark.parametrize("weights", [None, np.arange(60) % 3])
def test_all_forms_are_the_same_problem(weights: np.ndarray | None) -> None:
    results = [solvers.solve(make(weights=weights), gap=1e-2) for make in FORMS.values()]
    enclose(results)
    for one in results[1:]:
        np.testing.assert_allclose(one.w, results[0].w, atol=1e-9)  # the same steps, compiled or not


def test_problems_and_their_results_can_be_sent_to_another_process() -> None:
    mine = Block(step=numba.njit(rule), average=Suffix(0.3))
    for problem in (from_oracle(corners, batched=True), from_kernel(), solvers.PerCoordinate(from_oracle())):
        first = solvers.solve(problem, mine, passes=3)
        sent = pickle.loads(pickle.dumps([problem, mine, first]))
        np.testing.assert_array_equal(solvers.solve(*sent[:2], passes=3).w, first.w)
        assert repr(sent[2]) == repr(first)
    loss = pickle.loads(pickle.dumps(solvers.LogLoss(random_chains())))
    assert solvers.solve(loss, "lbfgs", gap=1e-3).status is Status.CONVERGED


def test_weights_repeat_examples() -> None:
    """n is 60 in one and 120 in the other, so that λ is halved."""
    twice = np.repeat(np.arange(60), np.arange(60) % 4)
    weighted = solvers.solve(from_oracle(weights=np.arange(60) % 4), gap=1e-3)
    repeated = from_oracle(
        lambda i, w: corner(int(twice[i]), w), n_blocks=len(twice), regularization=0.1 * 60 / len(twice)
    )
    other = solvers.solve(repeated, gap=1e-3)
    assert weighted.primal * 60 == pytest.approx(other.primal * len(twice), rel=2e-3)


class Beyond:
    name = "beyond"

    def draw(self, n_blocks: int, rng: np.random.Generator) -> np.ndarray:
        return np.arange(1, n_blocks + 1)


OWN = {
    "order": {"order": ByGap(refresh=5), "step": Pairwise()},
    "step": {"step": lambda b: b.slope / max(b.curvature, 1e-12)},
    "decreasing": {"step": rule, "average": Suffix(0.5)},
    "average": {"average": lambda k: 2.0 / (k + 2.0)},
    "average beyond the iterates": {"average": numba.njit(lambda k: 2.0 if k % 2 else 1.0)},
    "suffix": {"average": Suffix(0.9), "order": Uniform()},
    "batch": {"batch": 7},
    "batch of corners": {"batch": 7, "order": ByGap(), "step": Pairwise(), "cache": True},
}


@pytest.mark.parametrize("own", OWN)
@pytest.mark.parametrize("form", ["many", "sparse", "kernel", "sparse kernel"])
def test_own_orders_steps_and_averages_find_the_optimum(own: str, form: str) -> None:
    best = solvers.solve(from_kernel(), gap=1e-5, passes=9000)
    enclose([best, solvers.solve(FORMS[form](), Block(**OWN[own]), gap=0.01, passes=9000)])


@pytest.mark.parametrize("form", FORMS)
def test_own_functions_do_what_those_of_the_library_do(form: str) -> None:
    """In Python and compiled."""
    problem = FORMS[form]()
    library = solvers.solve(problem, Block(step=solvers.Forward(line_search=False), average=Average.WEIGHTED), passes=6)

    def weighted(k):  # type: ignore[no-untyped-def]
        return 2.0 / (k + 2.0)

    for wrap in (lambda function: function, numba.njit):
        own = solvers.solve(problem, Block(step=wrap(rule), average=wrap(weighted)), passes=6)
        np.testing.assert_allclose(own.w, library.w, rtol=1e-9, atol=1e-12)
    halves = [Block(average=average) for average in (Average.SUFFIX, Suffix(0.5))]
    one, other = (solvers.solve(problem, solver, passes=6).w for solver in halves)
    np.testing.assert_array_equal(one, other)


def test_a_batch_is_one_call_and_the_dual_never_falls() -> None:
    sizes: list[int] = []

    def counted(blocks: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sizes.append(len(blocks))
        return corners(blocks, w)

    problem = from_oracle(counted, batched=True)
    sizes.clear()
    result = solvers.solve(problem, Block(batch=20), gap=0.0, passes=5)
    assert sizes.count(20) >= 15
    assert max(sizes) <= 60
    duals = [point.dual for point in result.trace]
    assert all(later >= earlier - 1e-12 for earlier, later in itertools.pairwise(duals))
    assert result.trace[-1].oracle_calls == 5 * 60


def test_results_are_short_and_are_kept(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("agg")
    saved: list[int] = []

    def callback(at: Result) -> bool | None:
        at.save(tmp_path / "run.state")
        saved.append(len(at.trace))
        assert at.status is Status.RUNNING
        assert at.dual_point is not None
        return len(saved) < 4

    problem = from_oracle()
    stopped = solvers.solve(problem, "bcfw", gap=1e-9, callback=callback, progress=True)
    assert stopped.status is Status.CALLBACK
    assert len(repr(stopped)) < 120
    assert len(repr(stopped.trace)) < 400
    assert stopped.gap == stopped.trace[-1].gap
    plotted = stopped.plot().lines[0].get_ydata()
    assert list(plotted) == [point.gap for point in stopped.trace]
    frame = stopped.trace.frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["gap"]) == [point.gap for point in stopped.trace]
    read = pickle.loads((tmp_path / "run.state").read_bytes())
    again = [solvers.solve(problem, "bcfw", gap=1e-4, start=start) for start in (stopped, read, stopped)]
    for one in again:
        np.testing.assert_array_equal(one.w, again[0].w)
    assert [path.name for path in tmp_path.iterdir()] == ["run.state"]


def test_penalties_of_single_weights() -> None:
    """As many as λ; and those of small ones are larger than they would be."""
    three = solvers.solve(solvers.PerCoordinate(from_oracle(), penalties=3.0), gap=1e-3)
    enclose([three, solvers.solve(from_oracle().at(0.3), gap=1e-3)])
    penalties = np.tile([1.0, 1.0, 1.0, 0.01], CLASSES)
    ours = solvers.PerCoordinate(from_oracle(), penalties=penalties)
    u = solvers.solve(ours, gap=1e-3).w
    w = ours.weights(u)
    assert w @ (penalties * w) == pytest.approx(u @ u)
    plain = solvers.solve(from_oracle(), gap=1e-3).w
    hinges = [sum(loss - psi @ v for psi, loss in (corner(i, v) for i in range(60))) for v in (w, plain)]
    strengths = [0.05 * float(v @ (penalties * v)) + hinge / 60 for v, hinge in zip((w, plain), hinges, strict=True)]
    assert strengths[0] <= strengths[1] + 1e-3
    assert abs(w[3::4]).sum() > abs(plain[3::4]).sum()


def test_parts_of_the_weights_of_chains() -> None:
    chains = random_chains()
    crf = solvers.solve(solvers.LogLoss(chains), "lbfgs", gap=1e-6, passes=500)
    newton = solvers.solve(solvers.LogLoss(chains), "newton", gap=1e-6, passes=500)
    enclose([crf, newton])
    parts, M = chains.unpack(crf.w), chains.arrays.n_labels
    assert parts.transitions.shape == (M, M)
    np.testing.assert_array_equal(np.concatenate([part.ravel() for part in parts]), crf.w)
    warm = solvers.solve(solvers.LogLoss(chains).at(0.9 * chains.regularization), "lbfgs", gap=1e-6, start=crf)
    assert warm.status is Status.CONVERGED
    assert warm.trace[0].gap < newton.trace[0].gap
    with pytest.raises(AlignerError, match="only the same data fit"):
        solvers.solve(solvers.LogLoss(random_chains(seed=1)), "lbfgs", start=crf)


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "no function": (lambda: from_oracle(3), "the oracle is int"),
    "no pair": (lambda: from_oracle(lambda i, w: corner(i, w)[0]), "the pair psi, loss"),
    "short psi": (lambda: from_oracle(lambda i, w: (corner(i, w)[0][1:], 0.0)), r"psi of shape \(11,\)"),
    "no numbers": (lambda: from_oracle(lambda i, w: (["a"] * D, 0.0)), "no array of numbers"),
    "wrong sign": (lambda: from_oracle(lambda i, w: corner(i, -w)), "not the best|below the target"),
    "not finite": (lambda: from_oracle(lambda i, w: (corner(i, w)[0], np.nan)), "not finite"),
    "weights": (lambda: from_oracle(weights=[1.0, 2.0]), "60 numbers from 0 on"),
    "no strength": (lambda: from_oracle(regularization=0.0), "regularization is 0.0"),
    "no arrays": (lambda: from_kernel(arrays=[X, Y]), "a NamedTuple of the arrays"),
    "a kernel of no numbers": (lambda: from_kernel(lambda i, arrays, w, psi: "a"), "numba cannot compile"),
    "a kernel beyond the columns": (
        lambda: from_kernel(sparse_kernel, n_features=9, most_entries=8), "a column that does not exist",
    ),
    "arrays of two lengths": (lambda: from_kernel(arrays=Arrays(X, Y[:-1])), "60, 59 rows .say which"),
    "no entries": (lambda: from_kernel(sparse_kernel, most_entries=-1), "most_entries is -1"),
    "a kernel of nan": (lambda: from_kernel(lambda i, arrays, w, psi: np.nan), "not finite"),
    "unknown solver": (lambda: solvers.solve(from_oracle(), "newtonian"), "unknown solver 'newtonian' .choose"),
    "unknown limit": (lambda: solvers.solve(from_oracle(), gaps=1.0), "unknown limit gaps"),
    "limit of words": (lambda: solvers.solve(from_oracle(), gap="small"), "limit gap is 'small' .a number from 0 on"),
    "stop": (lambda: solvers.solve(from_oracle(), "bcfw", stop=1e-3), "no Stop"),
    "another solver": (
        lambda: solvers.solve(from_oracle(), "bcfw-gap", start=solvers.solve(from_oracle(), passes=1)), "cannot go on",
    ),
    "an order of other blocks": (lambda: solvers.solve(from_kernel(), Block(order=Beyond())), "draws 1 to 60 "),
    "more blocks than rows": (lambda: from_kernel(n_blocks=61), "the longest array has 60 rows"),
    "lists": (lambda: from_kernel(arrays=Arrays(X.tolist(), Y)), "x is a list"),
    "weights alone": (lambda: solvers.solve(from_oracle(), start=np.zeros(D)), "start is ndarray"),
    "no such strength": (lambda: from_oracle().at(-1.0), "regularization is -1.0"),
    "no smooth loss": (lambda: solvers.solve(from_oracle(), "lbfgs"), "needs a smooth loss"),
    "no hinge": (lambda: solvers.solve(solvers.LogLoss(random_chains()), "bcfw"), "needs a problem with corners"),
    "no marginals": (lambda: solvers.LogLoss(from_oracle()), "marginals"),
    "no step": (lambda: Block(step="pairwise"), "step is 'pairwise'"),
    "a class for an average": (lambda: Block(average=Suffix), "average is <class"),
    "half a batch": (lambda: Block(batch=2.5), "whole numbers"),
    "other data": (
        lambda: solvers.solve(from_oracle(), start=solvers.solve(from_oracle(weights=np.full(60, 2.0)), passes=1)),
        "of other data",
    ),
    "no batch": (lambda: Block(batch=0), "whole numbers from 1 on"),
    "repeated batches": (lambda: Block(batch=2, repeats=2), "repeats or batch"),
    "penalties": (lambda: solvers.PerCoordinate(from_oracle(), penalties=[0.0] * D), "12 numbers above 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_uses_have_one_line(name: str) -> None:
    act, message = WRONG[name]
    with pytest.raises(AlignerError, match=message) as error:
        act()
    assert "\n" not in str(error.value)


@dataclass(frozen=True)
class FixedStep:
    """A solver of somebody else: its states have no origin, and it cannot go on at another λ."""

    signature = "fixed-step"

    def init(self, problem: Any, rng: np.random.Generator) -> dict[str, Any]:
        return {"w": np.zeros(problem.n_features), "loss": 0.0, "steps": 0}

    def sweep(self, problem: Any, state: dict[str, Any]) -> int:
        answers, step = ask_all(problem, state["w"]), 2 / (state["steps"] + 2)
        state["w"] = (1 - step) * state["w"] + step * answers.corner_w
        state["loss"] = (1 - step) * state["loss"] + step * answers.corner_loss
        state["steps"] += 1
        return int(problem.n_blocks)

    def audit(self, problem: Any, state: dict[str, Any]) -> Audit:
        w, answers = state["w"], ask_all(problem, state["w"])
        return Audit(w, primal_value(problem, w, answers), dual_value(problem, w, state["loss"]))

    def dual_point(self, problem: Any, state: dict[str, Any]) -> None:
        return None


def test_a_state_of_somebody_elses_solver_goes_on_where_it_fits() -> None:
    problem, mine = from_oracle(), FixedStep()
    first = solvers.solve(problem, mine, gap=0.0, passes=3)
    for start in (first, pickle.loads(pickle.dumps(first))):
        more = solvers.solve(problem, mine, gap=0.0, passes=3, start=start)
        np.testing.assert_array_equal(more.w, solvers.solve(problem, mine, gap=0.0, passes=6).w)
    heavier: Any = from_oracle(weights=np.full(60, 2.0))
    for other, solver in ((problem.at(0.09), mine), (heavier, mine), (problem, "bcfw")):
        with pytest.raises(AlignerError, match="only the same data fit, another λ if the solver has resume"):
            solvers.solve(other, solver, start=first)


def test_nobody_writes_into_weights() -> None:
    """Of `measure` they are those that are audited; a result's are the caller's."""
    problem = from_oracle()
    plain = solvers.solve(problem, passes=5, gap=0.0)
    with pytest.raises(ValueError, match="read-only"):
        solvers.solve(problem, passes=5, measure=lambda w: w.fill(0.0) or 0.0)
    changed = solvers.solve(problem, passes=5, gap=0.0, callback=lambda at: at.w.fill(0.0))
    np.testing.assert_array_equal(changed.w, plain.w)


@pytest.mark.slow
def test_stored_kernels_follow_what_they_read(tmp_path: Path) -> None:
    """Another module, a function of a function, a large array, and arrays in a tuple: none is taken from before."""
    (tmp_path / "base.py").write_text("import os\nCOST = float(os.environ['COST'])\n")
    (tmp_path / "deep.py").write_text("from numba import njit\n@njit\ndef cost():\n    return 1.0\n")
    (tmp_path / "between.py").write_text(
        "from numba import njit\nfrom deep import cost\n@njit\ndef call():\n    return cost()\n"
    )
    (tmp_path / "kernels.py").write_text("""
from typing import NamedTuple
import numpy as np
import base
from between import call
class Arrays(NamedTuple):
    x: np.ndarray
LARGE = np.ones(2000)
LARGE[1000] = base.COST
PAIR = LARGE, LARGE
def of_module(i, arrays, w, psi): return base.COST
def of_function(i, arrays, w, psi): return call()
def of_array(i, arrays, w, psi): return LARGE[1000]
def of_tuple(i, arrays, w, psi): return PAIR[1][1000]
""")
    (tmp_path / "run.py").write_text("""
import numpy as np
import kernels
from aligner.solvers.functions import FromKernel
from aligner.solvers._function_kernels import Weighted
arrays = Weighted(kernels.Arrays(np.ones(3)), np.ones(3))
for name in ("of_module", "of_function", "of_array", "of_tuple"):
    print(FromKernel(getattr(kernels, name), arrays, 3, 1, 1.0).corners(np.arange(1), np.zeros(1)).losses[0])
""")

    def losses(cost: str) -> list[float]:
        command, environment = [sys.executable, "run.py"], {**os.environ, "COST": cost}
        found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        return [float(line) for line in found.stdout.split()]

    assert losses("1") == [1.0, 1.0, 1.0, 1.0]
    assert losses("2") == [2.0, 1.0, 2.0, 2.0]
    (tmp_path / "deep.py").write_text("from numba import njit\n@njit\ndef cost():\n    return 3.0\n")
    assert losses("1") == [1.0, 3.0, 1.0, 1.0]
