"""How long the campaign is, by which seeds it draws, and what it keeps of an input that fails."""

import os
import random
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

SCALE = float(os.environ.get("ALIGNER_CAMPAIGN", "1"))
"""What the counts of a whole campaign are multiplied by."""

SEED = int(
    os.environ.get("ALIGNER_CAMPAIGN_SEED") or zlib.crc32(os.environ.get("PYTEST_XDIST_TESTRUNUID", "1").encode())
)
"""Of the whole campaign: another one each time, the same in all workers."""


class Round(NamedTuple):
    """A number of inputs, each drawn by itself from the seed and its own number."""

    seed: int
    inputs: int

    def numbered(self) -> Iterator[tuple[int, random.Random]]:
        for number in range(self.inputs):
            yield number, self.draw(number)

    def draw(self, number: int) -> random.Random:
        return random.Random(f"{self.seed} {number}")


def rounds(inputs: int, short: int, chunks: int = 8) -> Callable[..., Any]:
    """Run a test once with a few inputs of a fixed seed, and every night with so many in chunks.

    What a chunk draws depends on its number, SEED and SCALE alone.
    """
    each = max(1, round(inputs * SCALE / chunks))
    whole = [
        pytest.param(Round(SEED + chunk, each), id=f"{chunk}", marks=pytest.mark.nightly) for chunk in range(chunks)
    ]
    return pytest.mark.parametrize(
        "inputs", [pytest.param(Round(1, short), id="short", marks=pytest.mark.slow), *whole]
    )


@contextmanager
def told(inputs: Round, number: int, *files: Path) -> Iterator[None]:
    """Say of a failure within which input it was, and where its files are kept."""
    try:
        yield
    except BaseException as error:
        kept = Path(tempfile.mkdtemp(prefix="aligner-campaign-"))
        for file in files:
            if file.is_file():
                (kept / file.name).write_bytes(file.read_bytes())
        error.add_note(f"input {number} of seed {inputs.seed} (ALIGNER_CAMPAIGN_SEED={SEED}); its files are in {kept}")
        raise
