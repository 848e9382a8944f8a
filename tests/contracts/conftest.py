"""The problems that contracts of solvers are run on."""

from __future__ import annotations

import pytest
from label_sequences import random_chains
from solver_configurations import Foreign, MakeKind, MakeProblem, Multiclass

from aligner.losses.hinge import MatchingProblem


@pytest.fixture
def make(make_problem: MakeProblem) -> MakeKind:
    def make(kind: str, n: int, **settings: int) -> MatchingProblem | Foreign:
        if kind in ("multiclass", "chains"):
            return Multiclass.random(n) if kind == "multiclass" else random_chains(n)
        return make_problem(n=n, capacity=1 if kind == "matchings" else 2, listed=0.7, **settings)

    return make
