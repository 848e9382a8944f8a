"""The container gives back what it was given, bit for bit, and refuses all else, with the right checksums too."""

from __future__ import annotations

import io
import json
import os
import random
import re
import struct
import subprocess
import sys
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aligner
from aligner.errors import AlignerError
from aligner.model.file import FORMAT_VERSION, MAGIC, ModelError, read_model, write_model
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
    buffer = io.BytesIO()
    write_model(buffer, {"record": dict(model.record)}, {"weights": model.weights, **model.statistics.to_arrays()})
    return buffer.getvalue()


def test_round_trip(file: Path) -> None:
    file.write_bytes(packed())
    header, arrays = read_model(file)
    assert header == HEADER
    assert list(arrays) == list(ARRAYS)
    for name, array in arrays.items():
        assert same_bits(ARRAYS[name], array), name
        assert array.dtype == ARRAYS[name].dtype.newbyteorder("=")
    assert packed(header, arrays) == packed()
    file.write_bytes(packed({}, {}))
    assert read_model(file) == ({}, {}), "nothing but a header"


def test_arrays_are_aligned_read_only_maps(file: Path) -> None:
    file.write_bytes(packed({"length": "x" * 77}))
    _, arrays = read_model(file)
    for array in arrays.values():
        assert array.ctypes.data % 64 == 0
        assert not array.flags.writeable
        assert not array.flags.owndata
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_a_copy_does_not_follow_the_file(file: Path) -> None:
    """A map does, and ends the process where the file has become shorter."""
    file.write_bytes(packed())
    header, arrays = read_model(file, copy=True)
    os.truncate(file, 0)
    assert packed(header, arrays) == packed()
    assert not any(array.flags.writeable for array in arrays.values()), "kernels are compiled for one kind"


@settings(max_examples=50)
@given(
    st.dictionaries(
        st.text(max_size=5),
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
    places = {*range(min(4096, len(real))), *rng.sample(range(len(real)), 50), len(real) - 1}
    file.write_bytes(real)
    read_model(file)
    for place in sorted(places, reverse=True):
        os.truncate(file, place)
        with pytest.raises(ModelError, match=r"cut off|empty"):
            read_model(file)


def test_a_changed_byte_anywhere(file: Path, real: bytes) -> None:
    rng = random.Random(1)
    places = [*range(64), *rng.sample(range(len(real)), 300)]
    file.write_bytes(real)
    with file.open("r+b", buffering=0) as stream:
        for place in places:
            stream.seek(place)
            stream.write(bytes([real[place] ^ (1 << rng.randrange(8))]))
            with pytest.raises(ModelError):
                read_model(file)
            stream.seek(place)
            stream.write(real[place : place + 1])
    read_model(file)


def test_a_changed_byte_in_the_smallest_places(file: Path) -> None:
    # Every byte counts, the zeros between the arrays too.
    arrays = {"a": np.ones(3, np.uint8), "b": np.zeros(0, np.int32), "c": np.ones((), np.float64)}
    content = packed({}, arrays)
    for place in range(len(content)):
        file.write_bytes(content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :])
        with pytest.raises(ModelError):
            read_model(file)


@settings(max_examples=100)
@given(st.binary(max_size=200), st.sampled_from([b"", MAGIC, MAGIC + struct.pack("<I", FORMAT_VERSION)]))
def test_random_bytes(tmp_path_factory: pytest.TempPathFactory, content: bytes, start: bytes) -> None:
    file = tmp_path_factory.mktemp("random") / "file"
    file.write_bytes(start + content)
    for read in (read_model, aligner.load):
        with pytest.raises(ModelError):
            read(file)


def sealed(header: bytes, arrays: bytes = b"", version: int = FORMAT_VERSION) -> bytes:
    """A file whose header has its right checksum, whatever it says."""
    start = struct.pack("<8sIII", MAGIC, version, len(header), zlib.crc32(header)) + header
    return start + bytes(-len(start) % 64) + arrays


def one_array(**changes: Any) -> bytes:
    entry = {"dtype": "<i4", "shape": [2], "place": 0, "crc32": zlib.crc32(bytes(8)), **changes}
    return json.dumps({"arrays": {"a": entry}, "size_of_arrays": 64}).encode()


@pytest.mark.parametrize(
    "header",
    [
        b"", b"\xff", b"[]", b"7", b"{}", b'{"arrays": {}}', b'{"arrays": [], "size_of_arrays": 64}',
        b'{"arrays": {"a": 1}, "size_of_arrays": 64}', b'{"arrays": {}, "size_of_arrays": "x"}',
        one_array(dtype="|O"), one_array(dtype="<U1"), one_array(dtype=["<i4"]), one_array(shape=[-2]),
        one_array(shape=[3]), one_array(shape=[2**80]), one_array(shape=2), one_array(place=-8),
        one_array(place=60), one_array(place=2**70), one_array(crc32=1),
    ],
)  # fmt: skip
def test_a_header_that_says_nonsense(file: Path, header: bytes) -> None:
    file.write_bytes(sealed(header, bytes(64)))
    with pytest.raises(ModelError, match="damaged"):
        read_model(file)
    file.write_bytes(sealed(one_array(), bytes(64)))
    assert read_model(file)[1]["a"].tolist() == [0, 0], "the nonsense is near to sense"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (MAGIC[:3], "cut off"),
        (MAGIC, "cut off"),
        (b"A line of text.\n", "not a model file"),
        (b"\x80\x04\x95pickle", "not a model file"),
        (sealed(b"{}", version=FORMAT_VERSION + 1), "newer"),
        (sealed(b"{}", version=2**32 - 1), "newer"),
        (sealed(b"{}", version=FORMAT_VERSION - 1), "older"),
        (sealed(b"{}", version=0), "damaged"),
        (packed() + b"x", "damaged"),
        (packed() + bytes(64), "damaged"),
    ],
)
def test_other_files(file: Path, content: bytes, message: str) -> None:
    file.write_bytes(content)
    with pytest.raises(ModelError, match=message) as error:
        read_model(file)
    assert str(error.value).startswith(f"{file}: ")
    assert error.value.hint


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


@pytest.mark.slow
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
