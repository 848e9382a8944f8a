"""Solvers of structured SVMs: they know blocks and corners, not words. `solve` runs any of them.

A problem is made of its oracle, a function of one block, by `from_oracle` or, compiled, by `from_kernel`; or it is a
class that inherits `BlockDefaults`: see docs/own-problem.md.

Which one? All reach the same optimum and certify it; they differ in how soon: `docs/solvers.md` has the quickest for
each problem, λ and gap. ``bcfw``, the default, wherever features are thousands, as of label sequences; where they are
some hundred ``randomized-away`` and ``bcfw-gap``, which keep corners and call the oracle less often: the first for
oracles in Python or of many blocks at once and λ near 1/n, the second for compiled ones, small λ and small gaps;
``kernel-bcfw`` for polynomial and RBF kernels on edge features, of a few hundred pairs, `KernelFeatures` for those of
other problems; ``extragradient`` where w must stay in a ball. ``exponentiated-gradient`` and ``excessive-gap`` ask for
marginals in place of maxima, of any problem that has them (`Marginals`), the latter where λ is small and features few.
The rest is for comparison. All are for the hinge loss; ``lbfgs`` is for the smooth loss `LogLoss` makes of
marginals: logistic regression, random fields. `minimize` is Frank-Wolfe for any smooth function over any set that has a
linear minimisation oracle, and `minimize_blocks` over a product of such sets.

To add one: write a frozen dataclass with the members of `solver.Solver`, and name it, with the options that a user
may give, in `registry.SOLVERS`. Everything is imported at its first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aligner.losses.chain import ChainProblem
    from aligner.losses.cut import CutProblem
    from aligner.losses.kernel_functions import KernelFeatures
    from aligner.problem import BlockDefaults, BlockProblem, Corners, MarginalDefaults, Marginals
    from aligner.solvers.approximate import Approximate
    from aligner.solvers.averages import Average, OwnAverage, Suffix
    from aligner.solvers.batch import FrankWolfe, Together
    from aligner.solvers.block import Block
    from aligner.solvers.block_minimization import minimize_blocks
    from aligner.solvers.checking import check_problem
    from aligner.solvers.constrained_least_squares import least_squares
    from aligner.solvers.coordinates import PerCoordinate
    from aligner.solvers.cutting_plane import CuttingPlane
    from aligner.solvers.driver import solve
    from aligner.solvers.excessive_gap import ExcessiveGap
    from aligner.solvers.extragradient import Extragradient
    from aligner.solvers.functions import from_kernel, from_oracle
    from aligner.solvers.kernel import KernelBlock
    from aligner.solvers.log_loss import LogLoss
    from aligner.solvers.minimization import minimize
    from aligner.solvers.newton import Newton
    from aligner.solvers.orders import ByGap, Cyclic, Permuted, Uniform
    from aligner.solvers.projected_gradient import ProjectedGradient
    from aligner.solvers.randomized_away import RandomizedAway
    from aligner.solvers.records import DualPoint, Result, Status, Stop, Trace, TracePoint
    from aligner.solvers.registry import SMOOTH, SOLVERS, make_solver
    from aligner.solvers.regularization import regularization_path
    from aligner.solvers.solver import Solver
    from aligner.solvers.steps import Away, Blended, Forward, OwnLength, Pairwise
    from aligner.solvers.subgradient import StochasticSubgradient
    from aligner.templates import Compiled, CompiledMarginals

_HOMES = {
    "losses.chain": "ChainProblem",
    "losses.cut": "CutProblem",
    "losses.kernel_functions": "KernelFeatures",
    "problem": "BlockDefaults BlockProblem Corners MarginalDefaults Marginals",
    "solvers.approximate": "Approximate",
    "solvers.averages": "Average OwnAverage Suffix",
    "solvers.batch": "FrankWolfe Together",
    "solvers.block": "Block",
    "solvers.checking": "check_problem",
    "solvers.constrained_least_squares": "least_squares",
    "solvers.coordinates": "PerCoordinate",
    "solvers.cutting_plane": "CuttingPlane",
    "solvers.driver": "solve",
    "solvers.excessive_gap": "ExcessiveGap",
    "solvers.extragradient": "Extragradient",
    "solvers.log_loss": "LogLoss",
    "solvers.functions": "from_kernel from_oracle",
    "solvers.kernel": "KernelBlock",
    "solvers.block_minimization": "minimize_blocks",
    "solvers.minimization": "minimize",
    "solvers.newton": "Newton",
    "solvers.orders": "ByGap Cyclic Permuted Uniform",
    "solvers.projected_gradient": "ProjectedGradient",
    "solvers.randomized_away": "RandomizedAway",
    "solvers.records": "DualPoint Result Status Stop Trace TracePoint",
    "solvers.registry": "SMOOTH SOLVERS make_solver",
    "solvers.regularization": "regularization_path",
    "solvers.solver": "Solver",
    "solvers.steps": "Away Blended Forward OwnLength Pairwise",
    "solvers.subgradient": "StochasticSubgradient",
    "templates": "Compiled CompiledMarginals",
}

__all__ = [
    "SMOOTH",
    "SOLVERS",
    "Approximate",
    "Average",
    "Away",
    "Blended",
    "Block",
    "BlockDefaults",
    "BlockProblem",
    "ByGap",
    "ChainProblem",
    "Compiled",
    "CompiledMarginals",
    "Corners",
    "CutProblem",
    "CuttingPlane",
    "Cyclic",
    "DualPoint",
    "ExcessiveGap",
    "Extragradient",
    "Forward",
    "FrankWolfe",
    "KernelBlock",
    "KernelFeatures",
    "LogLoss",
    "MarginalDefaults",
    "Marginals",
    "Newton",
    "OwnAverage",
    "OwnLength",
    "Pairwise",
    "PerCoordinate",
    "Permuted",
    "ProjectedGradient",
    "RandomizedAway",
    "Result",
    "Solver",
    "Status",
    "StochasticSubgradient",
    "Stop",
    "Suffix",
    "Together",
    "Trace",
    "TracePoint",
    "Uniform",
    "check_problem",
    "from_kernel",
    "from_oracle",
    "least_squares",
    "make_solver",
    "minimize",
    "minimize_blocks",
    "regularization_path",
    "solve",
]

_FOUND = {name: home for home, names in _HOMES.items() for name in names.split()}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name not in _FOUND:
        raise AttributeError(f"module 'aligner.solvers' has no attribute {name!r}")
    return getattr(import_module(f"aligner.{_FOUND[name]}"), name)
