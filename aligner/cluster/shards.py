"""Shards: parts of a text, and other arrays, as files in a folder that all workers see."""

import os
import socket
from pathlib import Path
from tokenize import TokenError
from typing import Any, NamedTuple
from zipfile import BadZipFile, is_zipfile

import numpy as np

from corpora.bitext import Bitext, Text, Vocabulary
from corpora.errors import CorpusError
from corpora.ragged import Array, Arrays
from features.translation.counting import Chunk, chunks_of, cut_chunks
from features.word_pairs import Pairs

_MOST_CHUNKS = 64
"""Chunks of a shard at most: a worker holds one shard for each of its threads, and the shard's counts."""


class Shard(NamedTuple):
    """Some chunks of one batch of a text.  path: of its file; its other files have names that begin with it.

    sizes: of the whole text's vocabularies.
    """

    path: str
    batch: int
    sizes: tuple[int, int]

    def read(self) -> tuple[Bitext, list[Chunk]]:
        """Read the pairs, with word ids of the whole text but without its words, and the chunks."""
        found = load(self.path)
        ends = found["ends"].tolist()
        source, target = (
            Text(found[side], found[f"{side}_offsets"], Vocabulary([]), None) for side in ("source", "target")
        )
        return Bitext(source, target), list(zip([0, *ends[:-1]], ends, strict=True))


def write_shards(folder: Path, bitext: Bitext, batches: int, at_once: int) -> list[Shard]:
    """Write a text as shards, for `at_once` threads of workers."""
    chunks = cut_chunks(bitext)
    batches = min(batches, len(chunks))
    shards: list[Shard] = []
    for batch in range(batches):
        mine = chunks_of(chunks, batch, batches)
        rounds = -(-len(mine) // (at_once * _MOST_CHUNKS))
        for part in np.array_split(np.arange(len(mine)), min(at_once * rounds, len(mine))):
            parts = [np.arange(*mine[number]) for number in part.tolist()]
            path, pairs = folder / f"shard{len(shards)}.npz", bitext.take(np.concatenate(parts))
            save(path, {"ends": np.cumsum([*map(len, parts)]), **Pairs.cut(pairs, 0, len(pairs))._asdict()})
            sizes = len(bitext.source.vocabulary), len(bitext.target.vocabulary)
            shards.append(Shard(str(path), batch, sizes))
    return shards


def save(path: str | Path, arrays: Arrays | Array) -> None:
    """Write named arrays, or a single one, into a file, which appears whole or not at all."""
    draft = Path(f"{path}.{socket.gethostname()}.{os.getpid()}")
    with draft.open("wb") as file:
        if isinstance(arrays, np.ndarray):
            np.save(file, arrays)
        else:
            np.savez(file, **arrays)  # type: ignore[arg-type]  # a keyword of NumPy's is no array
    draft.replace(path)


def load(path: str | Path) -> Any:
    """The named arrays of a file, read whole; or its single array, memory-mapped.

    Raises CorpusError if this machine cannot read it.
    """
    try:
        if not is_zipfile(path):
            return np.asarray(np.lib.format.open_memmap(path, mode="c"))
        with np.load(path) as found:
            return dict(found)
    except (OSError, ValueError, EOFError, RuntimeError, BadZipFile, TokenError) as error:
        what = f"cannot be read on {socket.gethostname()}: {getattr(error, 'strerror', None) or error}"
        raise CorpusError(path, 0, what, hint="write the output into a folder that all workers see") from error
