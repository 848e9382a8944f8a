"""The models that tests share: each is trained once in a session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from commands import run

import aligner
from aligner.model.model import Model

Once = Callable[[str, Callable[[Path], object]], Path]


@pytest.fixture(scope="session")
def model(once: Once, sample: Path) -> Path:
    """The file of a model of the sample; λ and costs are not chosen, which takes twenty times as long."""
    train = ["train", sample / "train", "-q", "--cross-validate", 0]
    return once("model", lambda folder: run(*train, "-m", folder / "M")) / "M"


@pytest.fixture(scope="session")
def curved(once: Once, sample: Path) -> Model:
    """A model that scores by an rbf kernel."""
    settings = {"solver": "kernel-bcfw", "solver_options": {"bandwidth": 1.5}, "max_passes": 5, "max_labelled": 80}
    folder = once("curved", lambda folder: aligner.train(sample / "train", **settings).model.save(folder / "M"))  # type: ignore[arg-type]
    return aligner.load(folder / "M")


@pytest.fixture(scope="session")
def linked(once: Once, sample: Path) -> Model:
    """A model that looks at another aligner's links: here at the gold itself."""
    settings = {"links": sample / "train.wa", "max_passes": 20, "cross_validate": 0}
    folder = once("linked", lambda folder: aligner.train(sample / "train", **settings).model.save(folder / "M"))  # type: ignore[arg-type]
    return aligner.load(folder / "M")
