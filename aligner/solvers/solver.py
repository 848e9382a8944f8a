"""Solver: the members of a solver, a configuration that does not change."""

from typing import Protocol, TypeVar

import numpy as np

from aligner.problem import Problem
from aligner.solvers.records import Audit, DualPoint

State = TypeVar("State")
Solvable = TypeVar("Solvable", bound=Problem, contravariant=True)


class Solver(Protocol[Solvable, State]):
    """A frozen configuration of a solver; everything that changes is in the state it makes."""

    @property
    def signature(self) -> str: ...

    def init(self, problem: Solvable, rng: np.random.Generator) -> State:
        """Make the state before the first step."""
        ...

    def sweep(self, problem: Solvable, state: State) -> int:
        """Make one effective pass over the blocks; returns the number of oracle calls."""
        ...

    def audit(self, problem: Solvable, state: State) -> Audit:
        """Compute the objective of the present answer exactly, by one oracle call for each block; arrays are copies.

        The solver may use these oracle calls for its next step, and sets `Audit.used` if it does.
        """
        ...

    def dual_point(self, problem: Solvable, state: State) -> DualPoint | None:
        """The dual point of the state; None if it keeps no single point."""
        ...
