"""What a typed program does with the public names: it runs, and `mypy --strict` finds nothing in it (.ci/run)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import aligner
from aligner import solvers

Array = npt.NDArray[np.float64]


@pytest.mark.slow
def test_aligning_and_training(sample: Path, tmp_path: Path) -> None:
    texts = str(sample / "test.en"), str(sample / "test.fr")
    settings = aligner.AlignSettings(offset=0.5)
    found: aligner.Alignments = aligner.align(*texts, settings=settings)
    first: aligner.Alignment = found[0]
    links: tuple[tuple[int, int], ...] = first.links
    assert len(links) == len(first.scores)
    told: list[str] = []
    training: aligner.Training = aligner.train(
        str(sample / "train"),
        learn=aligner.LearnSettings(cross_validate=0),
        count=aligner.CountSettings(sample=200),
        hooks=aligner.Hooks(on_progress=lambda news: told.append(news.stage)),
    )
    model: aligner.Model = training.model
    model.save(tmp_path / "M")
    again = aligner.load(tmp_path / "M").align(["a", "house"], ["une", "maison"])
    assert str(again) == str(model.align(["a", "house"], ["une", "maison"]))
    aer: float = aligner.evaluate(str(sample / "test.wa"), found).aer
    assert 0.0 < aer < 0.2
    assert told
    with pytest.raises(aligner.AlignerError):
        aligner.align("no such file", "nor this")


def test_solving_a_problem_of_ones_own() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(30, 4))
    labels = points[:, 0] > 0.0

    def oracle(block: int, w: Array) -> tuple[Array, float]:
        """The more violated of the two answers: ψ, and its loss."""
        i, sign = block, 1.0 if labels[block] else -1.0
        violated = 1.0 - 2.0 * sign * float(w @ points[i]) > 0.0
        return (2.0 * sign * points[i], 1.0) if violated else (np.zeros(4), 0.0)

    problem = solvers.from_oracle(oracle, n_blocks=30, n_features=4, regularization=0.1)
    result: solvers.Result = solvers.solve(problem, "bcfw", gap=1e-3)
    assert result.gap <= 1e-3
    assert float(np.abs(result.w).sum()) > 0.0
