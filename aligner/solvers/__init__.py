"""Solvers of structured SVMs: they know blocks and corners, not words. `solve` runs any of them.

Which one? All reach the same optimum and certify it; they differ in how soon: `docs/solvers.md` has the quickest for
each problem, λ and gap. ``bcfw``, the default, wherever features are thousands, as of label sequences; where they are
some hundred ``randomized-away`` and ``bcfw-gap``, which keep corners and ask the oracle several times less, for λ below
0.01, small gaps and dear oracles; ``cutting-plane`` where an oracle is best asked about all blocks at once;
``kernel-bcfw`` for polynomial and RBF kernels on edge features, of a few hundred pairs; ``extragradient`` where w must
stay in a ball. ``exponentiated-gradient`` and ``excessive-gap`` ask for marginals in place of maxima, of any problem
that has them (`Marginals`), the latter where λ is small and features few. The rest is for comparison. All are for
the hinge loss; the logistic one has `newton.Newton`, which is not to choose.

To add one: write a frozen dataclass with the four members of `driver.Solver`, and name it, with the options that a user
may give, in `registry.SOLVERS`. Everything is imported at its first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aligner.problem import BlockDefaults, BlockProblem, Corners, Marginals
    from aligner.solvers.approximate import Approximate
    from aligner.solvers.atomic import least_squares
    from aligner.solvers.checking import check_problem
    from aligner.solvers.driver import Solver, solve
    from aligner.solvers.records import DualPoint, Result, Status, Stop, TracePoint
    from aligner.solvers.registry import SOLVERS, make_solver
    from aligner.solvers.regularization import regularization_path
    from aligner.solvers.signs import Signed
    from aligner.svm.chain import ChainProblem

_HOMES = {
    "solvers.approximate": ("Approximate",),
    "solvers.atomic": ("least_squares",),
    "solvers.checking": ("check_problem",),
    "solvers.driver": ("Solver", "solve"),
    "solvers.records": ("DualPoint", "Result", "Status", "Stop", "TracePoint"),
    "solvers.registry": ("SOLVERS", "make_solver"),
    "solvers.regularization": ("regularization_path",),
    "solvers.signs": ("Signed",),
    "svm.chain": ("ChainProblem",),
    "problem": ("BlockDefaults", "BlockProblem", "Corners", "Marginals"),
}

__all__ = [
    "SOLVERS",
    "Approximate",
    "BlockDefaults",
    "BlockProblem",
    "ChainProblem",
    "Corners",
    "DualPoint",
    "Result",
    "Marginals",
    "Signed",
    "Solver",
    "Status",
    "Stop",
    "TracePoint",
    "check_problem",
    "least_squares",
    "make_solver",
    "regularization_path",
    "solve",
]


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"aligner.{home}"), name)
    raise AttributeError(f"module 'aligner.solvers' has no attribute {name!r}")
