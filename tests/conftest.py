"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from aligner.matching import best_bmatchings
from aligner.svm.hinge import MatchingProblem
from aligner.svm.prices import Fertility
from corpora.alignment import Links, PairLinks
from corpora.ragged import edge_offsets
from features.table import EdgeTable

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real corpora (``ALIGNER_DATA``, else ``../shared/data``); tests that need it skip without it."""
    folder = Path(os.environ.get("ALIGNER_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"real data not found at {folder} (set ALIGNER_DATA)")
    return folder


@pytest.fixture(scope="session")
def sample() -> Path:
    """The bundled sample corpus."""
    return ROOT / "corpora" / "sample"


@pytest.fixture(scope="session")
def make_problem() -> Callable[..., MatchingProblem]:
    """Make a random problem whose gold comes from noisy true weights, so that it can be learnt, but not perfectly.

    capacity: links a word may have, on each side.
    """

    def make(
        n: int = 12,
        d: int = 5,
        largest: int = 6,
        seed: int = 0,
        possible: bool = True,
        capacity: int = 1,
        **settings: object,
    ) -> MatchingProblem:
        rng = np.random.default_rng(seed)
        shapes = rng.integers(1, largest + 1, (n, 2))
        offsets = edge_offsets(shapes)
        features = rng.standard_normal((offsets[-1], d)).astype(np.float32)
        scores = features @ rng.standard_normal(d) + rng.standard_normal(offsets[-1])
        fertility = Fertility(capacity, capacity)
        rewards = fertility.rewards(np.full(len(fertility.names), -0.4))
        mates = best_bmatchings(scores, shapes, rewards.source, rewards.target)
        pairs, slot = [], 0
        for J, K in shapes.tolist():
            sure = {(s // capacity, int(k)) for s, k in enumerate(mates[slot : slot + J * capacity]) if k >= 0}
            slot += J * capacity
            extra = {(int(rng.integers(J)), int(rng.integers(K)))} if possible else set()
            pairs.append(PairLinks(frozenset(sure), frozenset(extra - sure)))
        edges = EdgeTable(features, shapes, offsets, tuple(f"x{c}" for c in range(d)))
        settings = {"regularization": 0.1, "possible_cost": 0.0, "fertility": fertility, **settings}
        return MatchingProblem.from_links(edges, Links.from_pairs(pairs), **settings)  # type: ignore[arg-type]

    return make
