"""Model files that say what a test wants them to, with the right checksums."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from aligner.model.file import read_model, write_model

Arrays = dict[str, np.ndarray]


def rewrite(model: Path, path: Path, arrays: Mapping[str, np.ndarray] = {}, **header: Any) -> Path:
    """Write a copy of a model with some arrays and values of its header replaced."""
    old_header, old_arrays = read_model(model)
    with path.open("wb") as file:
        write_model(file, {**old_header, **header}, {**old_arrays, **arrays})
    return path


def wrapped(offsets: np.ndarray, far: int) -> np.ndarray:
    """Offsets beyond what they divide, whose differences of int64 are all at least 0 and sum to the right total."""
    out, rows = np.array(offsets), len(offsets) - 1
    out[1 : rows - 4] = np.arange(rows - 5) * 3 + far
    out[rows - 4 :] = [2**63 - 1, -(2**63), -1, 0, offsets[-1]]
    return out


def mutated(arrays: Mapping[str, np.ndarray], rng: random.Random) -> Arrays:
    """One or two arrays of a model with another shape, dtype, or numbers."""
    return {name: _mutated(arrays[name], rng) for name in rng.sample(sorted(arrays), rng.choice([1, 1, 2]))}


def _mutated(array: np.ndarray, rng: random.Random) -> np.ndarray:
    out = np.array(array)
    match rng.randrange(4):
        case 0:
            flat = out.reshape(-1)
            shapes = [out[..., None], out[None], flat, flat[:0], flat[:-1], np.append(flat, flat[-1:])]
            return np.ascontiguousarray(rng.choice([*shapes, *([out[:-1], out[..., :-1]] if out.ndim else [])]))
        case 1:
            return out.astype(rng.choice(["float32", "float64", "int32", "int64", "uint8"]))
        case 2 if out.ndim == 1 and out.dtype == np.int64 and len(out) > 6:
            return wrapped(out, rng.choice([2**40, int(out[-1]) + 1000]))
    numbers = [np.nan, np.inf, -np.inf, -1.0, 1e308] if out.dtype.kind == "f" else [-1, 0, 1000, 2**31 - 1, 2**63 - 1]
    if out.size:
        value = rng.choice(numbers)
        with np.errstate(over="ignore"):
            value = np.array(value).astype(out.dtype)
        out.reshape(-1)[rng.randrange(out.size) if rng.randrange(2) else slice(None)] = value
    return out
