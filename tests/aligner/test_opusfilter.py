"""The filter for OpusFilter, by OpusFilter itself."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from commands import run, write

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # of what OpusFilter imports
    pytest.mark.skipif(importlib.util.find_spec("opusfilter") is None, reason="opusfilter is not installed"),
]


def texts(sample: Path) -> list[list[str]]:
    return [(sample / f"test.{suffix}").read_text("utf-8").splitlines() for suffix in ("en", "fr")]


def test_opusfilter_keeps_pairs_that_translate_each_other(model: Path, sample: Path, tmp_path: Path) -> None:
    """Of a text and the same with its target lines shifted by one."""
    from opusfilter.opusfilter import OpusFilter

    source, target = texts(sample)
    for name, lines in (("good.fr", target), ("bad.fr", [*target[1:], target[0]])):
        write(tmp_path / name, *lines)
    (tmp_path / "M").write_bytes(model.read_bytes())
    write(tmp_path / "t.en", *source)
    numbers = {"model": "M", "fit": -6.0, "linked": 0.6, "confidence": 0.7}
    filters = [{"AlignerFilter": numbers, "module": "aligner.opusfilter"}]
    for name in ("good", "bad"):
        parts = {"inputs": ["t.en", f"{name}.fr"]}
        kept = {
            "type": "filter",
            "parameters": {**parts, "outputs": [f"{name}.k.en", f"{name}.k.fr"], "filters": filters},
        }
        scored = {"type": "score", "parameters": {**parts, "output": f"{name}.jsonl", "filters": filters}}
        OpusFilter({"common": {"output_directory": str(tmp_path)}, "steps": [kept, scored]}).execute_steps()
    kept_lines = {name: len((tmp_path / f"{name}.k.en").read_text().splitlines()) for name in ("good", "bad")}
    assert kept_lines["good"] > 0.8 * len(source)
    assert kept_lines["bad"] < 0.1 * len(source)
    scores = np.array(
        [json.loads(line)["AlignerFilter"] for line in (tmp_path / "good.jsonl").read_text().splitlines()]
    )
    rows = run("align", sample / "test.en", sample / "test.fr", "-m", model, "--format", "tsv").stdout.splitlines()
    columns = np.array([row.split("\t")[2:5] for row in rows], np.float64)
    columns[:, 1] = 1.0 - columns[:, 1]
    np.testing.assert_allclose(scores, columns, atol=6e-5)
    assert (scores >= [-6.0, 0.6, 0.7]).all(axis=1).sum() == kept_lines["good"]


def test_pairs_that_cannot_be_aligned_are_refused(model: Path, sample: Path) -> None:
    from aligner.opusfilter import AlignerFilter

    chosen = AlignerFilter(str(model), fit=-100.0)
    pairs = [*zip(*texts(sample), strict=True), ("", ""), ("a", ""), ("a " * 3000, "b")]
    assert list(chosen.score(pairs))[-3:] == [[-np.inf, 0.0, 0.0]] * 3
    assert list(chosen.filter(pairs)) == pairs[:-3]
    assert list(chosen.filterfalse(pairs)) == pairs[-3:]
