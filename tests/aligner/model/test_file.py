"""A model file gives back what it was given, bit for bit; all else is refused in one line, before it takes memory."""

from __future__ import annotations

import io
import json
import os
import random
import re
import tracemalloc
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aligner
from aligner.model.file import FORMAT_VERSION, ModelError, is_model, read_model, write_model
from aligner.model.model import Model
from tests.model_files import rewrite, wrapped

HEADER = {"text": "é \u2028 \U0001f600", "number": 0.1, "nothing": None, "nested": {"list": [1, True, {}]}}
ARRAYS: dict[str, np.ndarray] = {
    "float32": np.array([[1.5, np.nan, -0.0], [np.inf, 1e-45, 3]], np.float32),
    "float64": np.random.default_rng(0).standard_normal((3, 1, 2)),
    "int32": np.array([-(2**31), 2**31 - 1], np.int32),
    "int64": np.array([2**62], np.int64),
    "uint8": np.arange(255, dtype=np.uint8),
    "scalar": np.array(7, np.int64),
    "empty": np.zeros(0, np.float64),
    "no rows": np.zeros((0, 5), np.int32),
    "big-endian": np.arange(5, dtype=">i4"),
    "strided": np.arange(20.0).reshape(4, 5)[::2, ::-1],
}


def packed(header: Any = HEADER, arrays: dict[str, np.ndarray] = ARRAYS) -> bytes:
    buffer = io.BytesIO()
    write_model(buffer, header, arrays)
    return buffer.getvalue()


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.astype(b.dtype).tobytes() == b.tobytes()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.model"


@pytest.fixture(scope="session")
def real(model: Model) -> bytes:
    """The bytes of a whole model."""
    return packed({"record": dict(model.record)}, {"weights": model.weights, **model.statistics.to_arrays()})


def test_round_trip(file: Path) -> None:
    file.write_bytes(packed())
    header, arrays = read_model(file)
    assert header == HEADER
    assert list(arrays) == list(ARRAYS)
    with np.load(file) as others:  # as any program reads it
        for name, array in arrays.items():
            assert same_bits(ARRAYS[name], array), name
            assert same_bits(ARRAYS[name], others[name]), name
            assert array.dtype == ARRAYS[name].dtype.newbyteorder("=")
            assert array.flags.carray, "as arrays of a training: kernels are compiled for one kind"
    assert packed(header, arrays) == packed(), "equal content, equal bytes"
    file.write_bytes(packed({}, {}))
    assert read_model(file) == ({}, {}), "nothing but a header"


def test_cut_off_anywhere(file: Path, real: bytes) -> None:
    rng = random.Random(0)
    places = {*range(200), *rng.sample(range(len(real)), 50), *range(len(real) - 100, len(real))}
    file.write_bytes(real)
    for place in sorted(places, reverse=True):
        os.truncate(file, place)
        with pytest.raises(ModelError, match="cut off" if place > 99 else "cut off|empty|not a model"):
            read_model(file)


def test_a_changed_byte_anywhere_is_found_or_does_nothing(file: Path) -> None:
    """For those of a whole model see the campaign."""
    content, found = packed({}, {"a": np.ones(3, np.uint8), "b": np.zeros(0, np.int32)}), 0
    for place in range(len(content)):
        file.write_bytes(content[:place] + bytes([content[place] ^ (1 << place % 8)]) + content[place + 1 :])
        try:
            assert packed(*read_model(file)) == content
        except ModelError:
            found += 1
    assert found > len(content) / 2, "the others are dates and the like"


def archive(members: Mapping[str, bytes], kind: int = zipfile.ZIP_STORED, claimed: int | None = None) -> bytes:
    """An archive whose checksums are right.  claimed: size of the last member, by the archive's directory."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", kind) as out:
        for name, content in members.items():
            out.writestr(zipfile.ZipInfo(name), content, kind)
        if claimed is not None:
            out.infolist()[-1].file_size = out.infolist()[-1].compress_size = claimed
    return buffer.getvalue()


def about(entry: Any = ("<i4", [2]), content: bytes = bytes(8)) -> dict[str, bytes]:
    """The header of a file and its array, a, by its dtype and shape, and as NumPy writes it."""
    np.save(buffer := io.BytesIO(), np.frombuffer(content, np.uint8))
    header = json.dumps({"format": FORMAT_VERSION, "arrays": {"a": entry}}).encode()
    return {"aligner.json": header, "a.npy": buffer.getvalue()}


@pytest.mark.parametrize(
    "content",
    [
        *(archive(about(entry)) for entry in (
            None, ["<i4"], ["<i4", [2], 1], ["|O", [1]], [">i4", [2]], ["<i4", 2], ["<i4", [-1, -2]],
            ["<i4", [2**80]], ["<i4", [0, 2**80]], ["<i4", ["2"]],
        )),
        *(archive({"aligner.json": header}) for header in (
            b"", b"\xff", b"[]", b"{}", b"[" * 100_000, b'{"format": 5}', b'{"format": 5, "arrays": ["a"]}',
        )),
        archive(about(("|u1", [1 << 26]), bytes(1 << 26)), zipfile.ZIP_DEFLATED),
        archive({"aligner.json": b" " * (1 << 26)}, zipfile.ZIP_DEFLATED), archive(about(), zipfile.ZIP_DEFLATED),
        archive(about(("|u1", [1 << 35])), claimed=(1 << 35) + 128), archive({"aligner.json": b"{}"}, claimed=1 << 35),
        archive({**about(), "b": b""}), archive({**about(), "a.npy": b""}),
    ],
)  # fmt: skip
def test_archives_that_no_training_writes(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(ModelError, match=r"damaged|another format"):
            read_model(file)
        assert tracemalloc.get_traced_memory()[1] < 1 << 24
    finally:
        tracemalloc.stop()
    file.write_bytes(archive(about()))
    assert read_model(file)[1]["a"].tolist() == [0, 0], "the nonsense is near to sense"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"), (b"A line of text.\n", "not a model file"), (b"\x80\x04\x95pickle", "not a model file"),
        (archive({"a.npy": b"x"}), "not a model file"), (archive({"aligner.json": b'{"format": 6}'}), "another format"),
        (b"ALIGNER\x1a\x04\0\0\0 and more", "another format"),
    ],
)  # fmt: skip
def test_other_files(file: Path, content: bytes, message: str) -> None:
    file.write_bytes(content)
    with pytest.raises(ModelError, match=message) as error:
        read_model(file)
    assert str(error.value).startswith(f"{file}: ")
    assert error.value.hint
    assert is_model(file) == (message == "another format")


def test_no_file_at_all(tmp_path: Path) -> None:
    for path, what in ((tmp_path / "none", "no such file"), (tmp_path, "directory"), (os.devnull, "empty|not a model")):
        with pytest.raises(ModelError, match=what):
            read_model(path)


@pytest.fixture(scope="module")
def sound(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "a.model"
    model.save(path)
    return path


def refused(path: Path, what: str = "") -> None:
    """In one line, printable, whatever is in it."""
    with pytest.raises(ModelError, match=f"^{re.escape(str(path))}: .*{what}") as error:
        aligner.load(path)
    assert str(error.value).isprintable()


@pytest.mark.slow
def test_every_array_has_its_dtype_rank_and_size(sound: Path, tmp_path: Path) -> None:
    _, arrays = read_model(sound)
    for place, (name, array) in enumerate(arrays.items()):
        cast = array.astype("float32" if array.dtype == np.float64 else "float64")
        refused(rewrite(sound, tmp_path / "b.model", {name: cast if place % 2 else array[..., None]}))
    for name in ("weights", "cooccurrence.targets", "source_words.letters", "target_words.flags"):
        refused(rewrite(sound, tmp_path / "b.model", {name: arrays[name][:-1]}))
    refused(rewrite(sound, tmp_path / "b.model", {"cooccurrence.more": np.zeros(3)}))
    with (tmp_path / "b.model").open("wb") as stream:
        write_model(stream, read_model(sound)[0], {name: arrays[name] for name in arrays if name != "weights"})
    refused(tmp_path / "b.model")


@pytest.mark.parametrize("far", [1000, 2**40])
def test_offsets_whose_differences_wrap_round(sound: Path, tmp_path: Path, far: int) -> None:
    _, arrays = read_model(sound)
    for name in (name for name in arrays if name.endswith("offsets")):
        offsets = wrapped(arrays[name], len(arrays[name]) + far)
        assert (np.diff(offsets) >= 0).all()
        refused(rewrite(sound, tmp_path / "b.model", {name: offsets}))


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["weights", "translation.tables.words.0.cells", "translation.settings"])
def test_numbers_that_no_training_gives(sound: Path, tmp_path: Path, name: str, value: float) -> None:
    array = read_model(sound)[1][name].copy()
    array.reshape(-1)[1] = value
    refused(rewrite(sound, tmp_path / "b.model", {name: array}))


@pytest.mark.parametrize(
    "header",
    [
        {"record": [1]}, {"record": {"updates": 5}}, {"record": None}, {"languages": 7}, {"normalizers": [5, 6]},
        {"rewards": [[10**400], []]}, {"families": {"bias": 1}}, {"families": ["no\nsuch\x1b"]}, {"links": 3},
    ],
)  # fmt: skip
def test_headers_that_no_training_writes(sound: Path, tmp_path: Path, header: dict[str, Any]) -> None:
    refused(rewrite(sound, tmp_path / "b.model", **header))


CURVE = {"thresholds": [2.0, 1.0], "losses": [0.0, 1.0], "kept": [0.5, 1.0], "pairs": 0}


@pytest.mark.parametrize(
    "change",
    [
        {"families": ["bias", "later invention"]}, {"families": ["bias"]}, {"families": None},
        {"words": [["the"], []]}, {"words": [[], [], []]}, {"words": None}, {"feature_names": ["other"]},
        {"normalizers": [{}]}, {"normalizers": [{"casefold": True, "later": 1}, {}]},
        {"normalizers": [{"stem": "klingon"}, {}]}, {"languages": []}, {"candidates": "later"}, {"risk": CURVE},
        {"calibration": {}}, {"calibration": {"scores": [1.0], "log_odds": []}}, {"calibration": [1]},
        {"calibration": {"scores": ["x"], "log_odds": [1.0]}}, {"calibration": {"scores": [1], "log_odds": None}},
    ],
)  # fmt: skip
def test_models_of_other_versions(sound: Path, tmp_path: Path, change: dict[str, Any]) -> None:
    path = rewrite(sound, tmp_path / "b.model", **change, version="9.9")
    refused(path, r"of version 9\.9, holds what .*train the model again")
