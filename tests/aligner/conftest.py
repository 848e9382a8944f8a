"""The models that tests share: each is trained once in a session; and a browser."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import run
from reports import CHROMIUM, open_browser, unavailable

import aligner
from aligner.model.model import Model
from aligner.training.settings import LearnSettings

Once = Callable[[str, Callable[[Path], object]], Path]


@pytest.fixture(scope="session")
def model(once: Once, sample: Path) -> Path:
    """The file of a model of the sample; λ and costs are not chosen, which takes twenty times as long."""
    train = ["train", sample / "train", "-q", "--set", "cross_validate=0"]
    return once("model", lambda folder: run(*train, "-m", folder / "M")) / "M"


@pytest.fixture(scope="session")
def linked(once: Once, sample: Path) -> Model:
    """A model that looks at another aligner's links: here at the gold itself."""
    settings = LearnSettings(max_passes=20, cross_validate=0)

    def make(folder: Path) -> None:
        aligner.train(sample / "train", learn=settings, links=sample / "train.wa").model.save(folder / "M")

    folder = once("linked", make)
    return aligner.load(folder / "M")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's chromium, driven by Playwright."""
    if importlib.util.find_spec("playwright") is None:
        unavailable("playwright is not installed")
    if not Path(CHROMIUM).exists():
        unavailable(f"there is no {CHROMIUM}")
    with open_browser() as chromium:
        yield chromium
