"""What the tests of errors begin with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest


class Desk:
    """A folder with t.en, t.fr, t.wa and a model M, and what is in it."""

    def __init__(self, folder: Path, sample: Path, model: Path) -> None:
        self.folder = folder
        for suffix in ("en", "fr", "wa"):
            shutil.copyfile(sample / f"test.{suffix}", folder / f"t.{suffix}")
        shutil.copyfile(model, folder / "M")
        self.model, self.text = folder / "M", folder / "t"
        self.source, self.target, self.gold = (folder / f"t.{suffix}" for suffix in ("en", "fr", "wa"))
        self.n_pairs = len(self.gold.read_text().splitlines())

    def joint(self, between: str) -> list[str]:
        """The text, a pair a line."""
        texts = (path.read_text("utf-8").splitlines() for path in (self.source, self.target))
        return list(map(between.join, zip(*texts, strict=True)))

    def contents(self) -> dict[str, bytes | None]:
        return {p.name: None if p.is_dir() else p.read_bytes() for p in self.folder.iterdir()}


@pytest.fixture
def desk(tmp_path: Path, sample: Path, model: Path) -> Desk:
    return Desk(tmp_path, sample, model)
