"""`aligner train`: options of one solver, threads, and a model that finds its place taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from commands import invoke, run

from aligner.model.model import load
from corpora.threads import cores

QUICK = "-q", "--loss", "hinge", "--set", "max_passes=2", "--set", "max_labelled=20"


@pytest.mark.parametrize("command", ["train", "align", "info"])
def test_threads_are_those_of_the_command(command: str, tmp_path: Path) -> None:
    run(command, tmp_path / "nothing", code=1)  # whatever a test before has asked for
    before = cores()
    run(command, tmp_path / "nothing", "--threads", 1, code=1)
    assert cores() == 1
    run(command, tmp_path / "nothing", code=1)
    assert cores() == before
    run(command, tmp_path / "nothing", "--threads", 0, code=2)


@pytest.mark.slow
@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.parametrize("taken", [1, 2])
def test_a_model_whose_file_appears_during_training_is_kept_beside_it(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, labelled: bool, taken: int
) -> None:
    import aligner.training.train

    work, others = aligner.training.train.train_on, [tmp_path / "M", tmp_path / "M.1"][:taken]

    def train(*args: Any, **kwargs: Any) -> Any:
        for other in others:
            other.write_bytes(b"another program's")
        return work(*args, **kwargs)

    monkeypatch.setattr(aligner.training.train, "train_on", train)
    text = (
        ["--trace", tmp_path / "T", *QUICK, sample / "train"]
        if labelled
        else ["-q", sample / "train.en", sample / "train.fr"]
    )
    result = invoke("train", "-m", tmp_path / "M", *text)
    kept = tmp_path / f"M.{taken}"
    assert result.exit_code == 1
    assert result.stderr == (
        f"{tmp_path / 'M'}: a file of this name has appeared during training (the model is in {kept})\n"
    )
    assert all(other.read_bytes() == b"another program's" for other in others)
    assert load(kept).align(["a", "house"], ["une", "maison"])
    assert (tmp_path / "T").exists() == labelled
    run("train", "-m", tmp_path / "M", *text, "--force")
    assert load(tmp_path / "M").align(["a", "house"], ["une", "maison"])
