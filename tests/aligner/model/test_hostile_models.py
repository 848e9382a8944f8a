"""A model whose checksums are right and whose contents are not: refused in a line that names it, or it aligns."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aligner
from aligner.errors import AlignerError
from aligner.model.file import ModelError, read_model
from aligner.model.model import Model
from tests.aligner.model.test_file import sealed
from tests.model_files import mutated, rewrite, wrapped


@pytest.fixture(scope="module")
def sound(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "a.model"
    model.save(path)
    return path


def refused(path: Path) -> None:
    with pytest.raises(ModelError, match=f"^{re.escape(str(path))}: .+$") as error:
        aligner.load(path)
    assert len(str(error.value).splitlines()) == 1


def test_any_array_may_be_anything(sound: Path, tmp_path: Path) -> None:
    rng, pairs = random.Random(32), [("the house .".split(), "la maison .".split()), (["a"], [])]
    _, arrays = read_model(sound, copy=True)
    ends = dict.fromkeys(("refused", "aligned"), 0)
    for _ in range(100):
        path = rewrite(sound, tmp_path / "b.model", mutated(arrays, rng))
        try:
            model = aligner.load(path, copy=True)
        except ModelError:
            refused(path)
            ends["refused"] += 1
            continue
        with suppress(AlignerError):
            assert len(list(model.align_many(pairs))) == 2
            ends["aligned"] += 1
    assert ends["refused"] > 50
    assert ends["aligned"] > 3


def test_every_array_has_its_dtype_and_rank(sound: Path, tmp_path: Path) -> None:
    _, arrays = read_model(sound, copy=True)
    for place, (name, array) in enumerate(arrays.items()):
        cast = array.astype("float32" if array.dtype == np.float64 else "float64")
        refused(rewrite(sound, tmp_path / "b.model", {name: cast if place % 2 else array[..., None]}))
    refused(rewrite(sound, tmp_path / "b.model", {"cooccurrence.more": np.zeros(3)}))


def test_offsets_whose_differences_wrap_round(sound: Path, tmp_path: Path) -> None:
    _, arrays = read_model(sound, copy=True)
    for name in (name for name in arrays if name.endswith("offsets")):
        far = wrapped(arrays[name], len(arrays[name]) + 1000)
        assert (np.diff(far) >= 0).all()
        refused(rewrite(sound, tmp_path / "b.model", {name: far}))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["translation.lexicons.words.row_offsets", "cooccurrence.row_offsets"])
def test_no_command_follows_such_offsets(sound: Path, tmp_path: Path, name: str) -> None:
    _, arrays = read_model(sound, copy=True)
    path = rewrite(sound, tmp_path / "b.model", {name: wrapped(arrays[name], 2**40)})
    command = [sys.executable, "-m", "aligner", "lexicon", str(path), "-o", str(tmp_path / "out"), "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1), done.stderr


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["weights", "translation.tables.words.0.cells", "translation.settings"])
def test_numbers_that_no_training_gives(sound: Path, tmp_path: Path, name: str, value: float) -> None:
    _, arrays = read_model(sound, copy=True)
    array = arrays[name].copy()
    array.reshape(-1)[1] = value
    refused(rewrite(sound, tmp_path / "b.model", {name: array}))


@pytest.mark.parametrize(
    "header",
    [
        {"record": [1]}, {"record": {"updates": 5}}, {"record": None}, {"languages": 7}, {"normalizers": [5, 6]},
        {"scorer": [1]}, {"rewards": [[10**400], []]}, {"calibration": {"scores": [1], "log_odds": None}},
        {"families": {"bias": 1}}, {"families": ["no\nsuch\x1b"]}, {"links": 3},
    ],
)  # fmt: skip
def test_headers_that_no_training_writes(sound: Path, tmp_path: Path, header: dict[str, Any]) -> None:
    refused(rewrite(sound, tmp_path / "b.model", **header))


@pytest.mark.parametrize("header", [b"[" * 100_000, b'{"a":' * 100_000])
def test_a_header_that_is_nested_deeply(tmp_path: Path, header: bytes) -> None:
    (tmp_path / "deep").write_bytes(sealed(header))
    refused(tmp_path / "deep")


def test_space_between_arrays_is_not_searched(tmp_path: Path) -> None:
    """A file of holes may be of any size, and take no room on a disk."""
    place = 1 << 36
    entry = {"dtype": "<i4", "shape": [0], "place": place, "crc32": 0}
    path = tmp_path / "sparse"
    for table, size in (({"a": entry}, place), ({}, place)):
        path.write_bytes(sealed(json.dumps({"arrays": table, "size_of_arrays": size}).encode()))
        with path.open("r+b") as file:
            file.truncate(path.stat().st_size + size)
        refused(path)
