"""The shared model, as an object."""

from __future__ import annotations

from pathlib import Path

import pytest

import aligner
from aligner.model.model import Model


@pytest.fixture(scope="session")
def model(model: Path) -> Model:
    """The shared model of the sample."""
    return aligner.load(model)
