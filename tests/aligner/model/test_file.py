"""A model file gives back what it was given, bit for bit; all else is refused in one line, before it takes memory."""

from __future__ import annotations

import io
import json
import os
import random
import re
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aligner
from aligner.errors import AlignerError
from aligner.model.file import FORMAT_VERSION, ModelError, is_model, read_model, write_model
from aligner.model.model import Model
from tests.model_files import mutated, rewrite, wrapped

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
    for name, array in arrays.items():
        assert same_bits(ARRAYS[name], array), name
        assert array.dtype == ARRAYS[name].dtype.newbyteorder("=")
        assert array.flags.carray, "as arrays of a training: kernels are compiled for one kind"
    assert packed(header, arrays) == packed(), "equal content, equal bytes"
    file.write_bytes(packed({}, {}))
    assert read_model(file) == ({}, {}), "nothing but a header"


def test_others_can_read_it(file: Path) -> None:
    file.write_bytes(packed())
    with np.load(file) as found:
        assert all(same_bits(array, found[name]) for name, array in ARRAYS.items())


@settings(max_examples=50)
@given(
    st.dictionaries(
        st.text("ab._", max_size=5),
        st.tuples(st.sampled_from(["<f4", "<f8", "<i4", "<i8", "|u1"]), st.lists(st.integers(0, 4), max_size=3)),
        max_size=5,
    )
)
def test_any_shapes(tmp_path_factory: pytest.TempPathFactory, shapes: dict[str, tuple[str, list[int]]]) -> None:
    rng = np.random.default_rng(1)
    arrays = {name: rng.integers(0, 100, shape).astype(dtype) for name, (dtype, shape) in shapes.items()}
    file = tmp_path_factory.mktemp("any") / "file"
    file.write_bytes(packed({}, arrays))
    found = read_model(file)[1]
    assert list(found) == list(arrays)
    assert all(same_bits(arrays[name], found[name]) for name in arrays)


def test_cut_off_anywhere(file: Path, real: bytes) -> None:
    rng = random.Random(0)
    places = {*range(min(4096, len(real))), *rng.sample(range(len(real)), 50), *range(len(real) - 100, len(real))}
    file.write_bytes(real)
    read_model(file)
    for place in sorted(places, reverse=True):
        os.truncate(file, place)
        with pytest.raises(ModelError, match=r"cut off" if place > 99 else "cut off|empty|not a model"):
            read_model(file)


def test_a_changed_byte_anywhere_is_found_or_does_nothing(file: Path, real: bytes) -> None:
    rng = random.Random(1)
    small = packed({}, {"a": np.ones(3, np.uint8), "b": np.zeros(0, np.int32), "c": np.ones((), np.float64)})
    for content, places in ((real, rng.sample(range(len(real)), 100)), (small, range(len(small)))):
        ends = []
        for place in places:
            changed = content[:place] + bytes([content[place] ^ (1 << rng.randrange(8))]) + content[place + 1 :]
            file.write_bytes(changed)
            with suppress(ModelError):
                ends.append(packed(*read_model(file)))
        assert {*ends} <= {content}
        assert len(ends) < len(places) / 2, "of dates and the like"


@settings(max_examples=100)
@given(st.binary(max_size=200), st.sampled_from([0, 4, 42, 90, 250]))
def test_random_bytes(tmp_path_factory: pytest.TempPathFactory, content: bytes, start: int) -> None:
    file = tmp_path_factory.mktemp("random") / "file"
    file.write_bytes(packed()[:start] + content)
    for read in (read_model, aligner.load):
        with pytest.raises(ModelError):
            read(file)


def archive(members: Mapping[str, bytes], kind: int = zipfile.ZIP_STORED, claimed: int | None = None) -> bytes:
    """An archive whose checksums are right.  claimed: size of the last member, by the archive's directory."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", kind) as out:
        for name, content in members.items():
            out.writestr(zipfile.ZipInfo(name), content, kind)
        if claimed is not None:
            out.infolist()[-1].file_size = out.infolist()[-1].compress_size = claimed
    return buffer.getvalue()


def npy(content: bytes = bytes(8)) -> bytes:
    """An array of bytes as NumPy writes it."""
    buffer = io.BytesIO()
    np.save(buffer, np.frombuffer(content, np.uint8))
    return buffer.getvalue()


def about(**table: Any) -> dict[str, bytes]:
    """The header of a file.  table: dtype and shape of its arrays."""
    return {"aligner.json": json.dumps({"format": FORMAT_VERSION, "arrays": table}).encode()}


SOUND = {**about(a=("<i4", [2])), "a.npy": npy()}
ZEROS = {**about(a=("|u1", [1 << 26])), "a.npy": npy(bytes(1 << 26))}


@pytest.mark.parametrize(
    "content",
    [
        *(archive({**about(a=entry), "a.npy": npy()}) for entry in (
            None, 7, ["<i4"], ["<i4", [2], 1], ["|O", [1]], ["<U1", [2]], [">i4", [2]], [["<i4"], [2]], ["<i4", 2],
            ["<i4", [-2]], ["<i4", [-1, -2]], ["<i4", [2**40]], ["<i4", [2**80]],
            ["<i4", [0, 2**80]], ["<i4", [2.0]], ["<i4", ["2"]],
        )),
        *(archive({"aligner.json": header}) for header in (
            b"", b"\xff", b"[]", b"7", b"{}", b"[" * 100_000, b'{"a":' * 100_000,
            b'{"format": 5}', b'{"format": 5, "arrays": 5}', b'{"format": 5, "arrays": ["a"]}',
        )),
        *(archive(ZEROS, kind) for kind in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)),
        archive({"aligner.json": b" " * (1 << 26)}, zipfile.ZIP_DEFLATED),
        archive({**about(a=("|u1", [1 << 35])), "a.npy": npy()}, claimed=(1 << 35) + 128),
        archive({"aligner.json": b"{}"}, claimed=1 << 35), archive(about(a=("<i4", [2]))), archive({**SOUND, "b": b""}),
        archive({**SOUND, "a.npy": b""}),
    ],
)  # fmt: skip
def test_archives_that_no_training_writes(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    tracemalloc.start()
    try:
        refused(file)
        assert tracemalloc.get_traced_memory()[1] < 1 << 24
    finally:
        tracemalloc.stop()
    file.write_bytes(archive(SOUND))
    assert read_model(file)[1]["a"].tolist() == [0, 0], "the nonsense is near to sense"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"A line of text.\n", "not a model file"),
        (b"\x80\x04\x95pickle", "not a model file"),
        (archive({"a.npy": npy()}), "not a model file"),
        (archive({"aligner.json": json.dumps({"format": FORMAT_VERSION + 1}).encode()}), "another format"),
        (archive({"aligner.json": b'{"format": "x"}'}), "another format"),
        (b"ALIGNER\x1a\x04\0\0\0 and more", "another format"),
    ],
)
def test_other_files(file: Path, content: bytes, message: str) -> None:
    file.write_bytes(content)
    with pytest.raises(ModelError, match=message) as error:
        read_model(file)
    assert str(error.value).startswith(f"{file}: ")
    assert error.value.hint
    assert is_model(file) == (message == "another format")


def test_no_file_at_all(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such file"):
        read_model(tmp_path / "none")
    with pytest.raises(ModelError, match="directory"):
        read_model(tmp_path)
    with pytest.raises(ModelError):
        read_model(os.devnull)


@pytest.fixture(scope="module")
def sound(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "a.model"
    model.save(path)
    return path


def refused(path: Path) -> None:
    with pytest.raises(ModelError, match=f"^{re.escape(str(path))}: .+$") as error:
        aligner.load(path)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.slow
def test_any_array_may_be_anything(sound: Path, tmp_path: Path) -> None:
    rng, pairs = random.Random(32), [("the house .".split(), "la maison .".split()), (["a"], [])]
    _, arrays = read_model(sound)
    ends = dict.fromkeys(("refused", "aligned"), 0)
    for _ in range(100):
        path = rewrite(sound, tmp_path / "b.model", mutated(arrays, rng))
        try:
            model = aligner.load(path)
        except ModelError:
            refused(path)
            ends["refused"] += 1
            continue
        with suppress(AlignerError):
            assert len(list(model.align_many(pairs))) == 2
            ends["aligned"] += 1
    assert ends["refused"] > 50
    assert ends["aligned"] > 3


@pytest.mark.slow
def test_every_array_has_its_dtype_and_rank(sound: Path, tmp_path: Path) -> None:
    _, arrays = read_model(sound)
    for place, (name, array) in enumerate(arrays.items()):
        cast = array.astype("float32" if array.dtype == np.float64 else "float64")
        refused(rewrite(sound, tmp_path / "b.model", {name: cast if place % 2 else array[..., None]}))
    refused(rewrite(sound, tmp_path / "b.model", {"cooccurrence.more": np.zeros(3)}))


def test_offsets_whose_differences_wrap_round(sound: Path, tmp_path: Path) -> None:
    _, arrays = read_model(sound)
    for name in (name for name in arrays if name.endswith("offsets")):
        far = wrapped(arrays[name], len(arrays[name]) + 1000)
        assert (np.diff(far) >= 0).all()
        refused(rewrite(sound, tmp_path / "b.model", {name: far}))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["translation.lexicons.words.row_offsets", "cooccurrence.row_offsets"])
def test_no_command_follows_such_offsets(sound: Path, tmp_path: Path, name: str) -> None:
    _, arrays = read_model(sound)
    path = rewrite(sound, tmp_path / "b.model", {name: wrapped(arrays[name], 2**40)})
    command = [sys.executable, "-m", "aligner", "lexicon", str(path), "-o", str(tmp_path / "out"), "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1), done.stderr


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["weights", "translation.tables.words.0.cells", "translation.settings"])
def test_numbers_that_no_training_gives(sound: Path, tmp_path: Path, name: str, value: float) -> None:
    _, arrays = read_model(sound)
    array = arrays[name].copy()
    array.reshape(-1)[1] = value
    refused(rewrite(sound, tmp_path / "b.model", {name: array}))


@pytest.mark.parametrize(
    "header",
    [
        {"record": [1]}, {"record": {"updates": 5}}, {"record": None}, {"languages": 7}, {"normalizers": [5, 6]},
        {"rewards": [[10**400], []]}, {"calibration": {"scores": [1], "log_odds": None}},
        {"families": {"bias": 1}}, {"families": ["no\nsuch\x1b"]}, {"links": 3},
    ],
)  # fmt: skip
def test_headers_that_no_training_writes(sound: Path, tmp_path: Path, header: dict[str, Any]) -> None:
    refused(rewrite(sound, tmp_path / "b.model", **header))
