"""A model is refused in a line that names it, or aligns: whatever its bytes, its header and its arrays are."""

import json
import random
import time
from functools import cache
from pathlib import Path
from typing import Any

from campaign.forks import in_children
from campaign.mutate import mutated as mutated_bytes
from campaign.rounds import Round, rounds, told
from model_files import mutated, rewrite

import aligner
from aligner.errors import AlignerError
from aligner.model.file import ModelError, read_model

PAIRS = [("the house .".split(), "la maison .".split()), (["a"], []), (["?"] * 3, ["?"] * 2)]
ODD: list[Any] = [
    None, [], {}, "", "x" * 100, 0, -1, 5, 2**70, 1e308, float("nan"), True, [[]], {"a": 1}, ["a"], [0, 1],
]  # fmt: skip


@cache
def read(model: Path) -> tuple[bytes, dict[str, Any], dict[str, Any]]:
    return model.read_bytes(), *read_model(model)


def odd_header(header: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """A header in which something is not what it was, at any depth."""
    out = json.loads(json.dumps(header))
    place = out
    while True:
        key = rng.choice([*(place if isinstance(place, dict) else range(len(place)))])
        if not place[key] or not isinstance(place[key], dict | list) or rng.randrange(2):
            break
        place = place[key]
    if rng.randrange(4):
        place[key] = rng.choice(ODD)
    else:
        del place[key]
    return out


def judge_model(model: Path, folder: Path, inputs: Round, number: int) -> None:
    rng, path = inputs.draw(number), folder / "b.model"
    content, header, arrays = read(model)
    match rng.randrange(4):
        case 0:
            path.write_bytes(mutated_bytes(content, rng, [content]))
        case 1:
            changed = odd_header(header, rng)
            rewrite(model, path, {}, **{name: changed.get(name) for name in header})
        case _:
            rewrite(model, path, mutated(arrays, rng))
    began = time.process_time()
    with told(inputs, number, path):
        refusal: AlignerError | None = None
        try:
            found = list(aligner.load(path).align_many(PAIRS))
            assert len(found) == len(PAIRS)
            for (source, target), one in zip(PAIRS, found, strict=True):
                assert all(0 <= j < len(source) and 0 <= k < len(target) for j, k in one.links)
        except AlignerError as error:
            refusal = error
        assert time.process_time() - began < 2.0
        if refusal is not None:
            assert str(refusal).isprintable()
        if isinstance(refusal, ModelError):
            assert str(refusal).startswith(f"{path}: ")


@rounds(100_000, 200)
def test_models(inputs: Round, model: Path, tmp_path: Path) -> None:
    in_children(judge_model, inputs.inputs, 250, model, tmp_path, inputs)
