"""Fixtures shared by the tests of the aligner."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import run


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory, sample: Path) -> Path:
    """The file of a model of the sample, trained as a user does."""
    path = tmp_path_factory.mktemp("model") / "M"
    run("train", sample / "train", "-m", path, "-q")
    return path
