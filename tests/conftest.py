"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import numpy as np
import pytest

from aligner.losses.capacity import Fertility
from aligner.losses.hinge import Costs, MatchingProblem
from aligner.matching import best_matchings
from corpora.links import Links, PairLinks
from corpora.ragged import Lists
from features.table import EdgeTable

ROOT = Path(__file__).resolve().parent.parent

hypothesis.settings.register_profile("untimed", deadline=None)  # a timing is never a test
hypothesis.settings.load_profile("untimed")


PRODUCT = tuple(f"tests/aligner/{folder}/" for folder in ("cli", "model", "training"))
LIBRARY = "tests/contracts/", *(f"tests/aligner/{folder}/" for folder in ("matching", "losses", "solvers"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the library in the middle, so that two workers begin with kernels that are not the same.

    The example of the package trains as a user does, choosing λ, which is slow.
    """
    items.sort(key=lambda item: 0 if item.nodeid.startswith(PRODUCT) else 1 if item.nodeid.startswith(LIBRARY) else 2)
    for item in items:
        if item.nodeid == "aligner/__init__.py::aligner":
            item.add_marker("slow")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real corpora (``ALIGNER_DATA``, else ``../shared/data``); tests that need it skip without it."""
    folder = Path(os.environ.get("ALIGNER_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"real data not found at {folder} (set ALIGNER_DATA)")
    return folder


@pytest.fixture(scope="session", autouse=True)
def _no_lines_of_progress() -> Iterator[None]:
    """Whether one is written would depend on the time that a command takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aligner.progress.FIRST_LINE", 3600.0)
        yield


@pytest.fixture(scope="session")
def sample() -> Path:
    """The bundled sample corpus."""
    return ROOT / "corpora" / "sample"


@pytest.fixture(scope="session")
def priors() -> Path:
    """Files that eflomal 2.0.0 and fast_align have written of the first 16 pairs of the sample's test text."""
    return ROOT / "tests" / "priors"


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], object]], Path]:
    """Fill a folder of this name once in a session: the first worker of pytest-xdist does it, the others wait."""
    base = tmp_path_factory.getbasetemp()

    def fill(name: str, make: Callable[[Path], object]) -> Path:
        folder, unfinished = base / name, base / f"{name}.unfinished"
        if not folder.exists():
            unfinished.mkdir(exist_ok=True)
            make(unfinished)
            unfinished.rename(folder)
        return folder

    if "PYTEST_XDIST_WORKER" not in os.environ:
        return fill
    import fcntl

    base = base.parent  # that of the session

    def fill_alone(name: str, make: Callable[[Path], object]) -> Path:
        with (base / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return fill(name, make)

    return fill_alone


@pytest.fixture(scope="session")
def make_problem() -> Callable[..., MatchingProblem]:
    """Make a random problem whose gold comes from noisy true weights, so that it can be learnt, but not perfectly.

    capacity: links a word may have, on each side.  listed: share of the edges that are.
    """

    def make(
        n: int = 12,
        d: int = 5,
        largest: int = 6,
        seed: int = 0,
        possible: bool = True,
        capacity: int = 1,
        listed: float = 1.0,
        **settings: object,
    ) -> MatchingProblem:
        rng = np.random.default_rng(seed)
        shapes = rng.integers(1, largest + 1, (n, 2))
        lists = Lists.of_all(shapes)
        features = rng.standard_normal((len(lists.source), d)).astype(np.float32)
        scores = features @ rng.standard_normal(d) + rng.standard_normal(len(features))
        fertility = Fertility(capacity, capacity)
        rewards = fertility.rewards(np.full(len(fertility.names), -0.4))
        linked, pairs = best_matchings(scores, lists, rewards.source, rewards.target), []
        for (J, K), first, last in zip(shapes.tolist(), lists.offsets, lists.offsets[1:], strict=False):
            sure = {divmod(e, K) for e in np.flatnonzero(linked[first:last]).tolist()}
            extra = {(int(rng.integers(J)), int(rng.integers(K)))} if possible else set()
            pairs.append(PairLinks(frozenset(sure), frozenset(extra - sure)))
        links = Links.from_pairs(pairs)
        kept = rng.random(len(features)) < listed
        kept[lists.find(np.repeat(np.arange(n), np.diff(links.offsets)), links.source, links.target)] = True
        lists = Lists(lists.source[kept], lists.target[kept], shapes, np.append(0, np.cumsum(kept))[lists.offsets])
        edges = EdgeTable(features[kept], lists, tuple(f"x{c}" for c in range(d)))
        settings = {"regularization": 0.1, "costs": Costs(possible=0.0), "fertility": fertility, **settings}
        return MatchingProblem.from_links(edges, links, **settings)  # type: ignore[arg-type]

    return make
