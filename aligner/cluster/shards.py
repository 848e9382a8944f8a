"""Shards: parts of a text as files of word ids, in a folder that all workers see; and other arrays as files there."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from corpora.bitext import Bitext
from corpora.errors import CorpusError
from corpora.ragged import I64
from features.translation.counting import Chunk, chunks_of, cut_chunks
from features.word_pairs import Pairs

_MOST_CHUNKS = 64
"""Chunks of a shard at most: a worker holds one shard for each of its threads, and what is counted of it."""

Arrays = Mapping[str, npt.NDArray[Any]]


class Shard(NamedTuple):
    """Some chunks of one batch of a text.  path: of the file; others of the shard begin with it.

    sizes: of the whole text's vocabularies.
    """

    path: str
    batch: int
    sizes: tuple[int, int]

    def read(self) -> tuple[Pairs, list[Chunk]]:
        """The pairs with word ids of the whole text, and the chunks."""
        found = load(self.path)
        ends = found["ends"].tolist()
        pairs = Pairs(*(found[name] for name in Pairs._fields))
        return pairs, list(zip([0, *ends[:-1]], ends, strict=True))


def write_shards(folder: Path, bitext: Bitext, batches: int, at_once: int) -> list[Shard]:
    """Write a text, for so many workers at once."""
    chunks = cut_chunks(Pairs.cut(bitext, 0, len(bitext)))
    batches = min(batches, len(chunks))
    shards: list[Shard] = []
    for batch in range(batches):
        mine = chunks_of(chunks, batch, batches)
        rounds = -(-len(mine) // (at_once * _MOST_CHUNKS))
        for part in np.array_split(np.arange(len(mine)), min(at_once * rounds, len(mine))):
            parts = [Pairs.cut(bitext, *mine[number]) for number in part.tolist()]
            path = folder / f"shard{len(shards)}.npz"
            ends = np.cumsum([len(some.edge_offsets) - 1 for some in parts])
            save(path, {"ends": ends, **_join(parts)._asdict()})
            sizes = len(bitext.source.vocabulary), len(bitext.target.vocabulary)
            shards.append(Shard(str(path), batch, sizes))
    return shards


def _join(parts: list[Pairs]) -> Pairs:
    def offsets(name: str) -> I64:
        lengths = [np.diff(getattr(part, name)) for part in parts]
        return np.concatenate([[0], np.cumsum(np.concatenate(lengths))])

    words = [np.concatenate([getattr(part, side) for part in parts]) for side in ("source", "target")]
    return Pairs(words[0], words[1], *map(offsets, Pairs._fields[2:]))


@contextmanager
def _writing(path: str | Path) -> Iterator[IO[bytes]]:
    """A file that is there as a whole or not at all."""
    draft = Path(f"{path}.{socket.gethostname()}.{os.getpid()}")
    with draft.open("wb") as file:
        yield file
    draft.replace(path)


def save(path: str | Path, arrays: Arrays) -> None:
    """Write arrays into a file."""
    with _writing(path) as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]  # a keyword of NumPy's is no array


def save_array(path: str | Path, array: npt.NDArray[Any]) -> None:
    """Write the bytes of an array alone into a file, for `map_array`."""
    with _writing(path) as file:
        file.write(array.data)


def load(path: str | Path) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a file.  Raises CorpusError where this machine cannot read it."""
    try:
        with np.load(path) as found:
            return dict(found)
    except (OSError, ValueError, EOFError) as error:
        raise _unreadable(path, error) from error


def map_array(path: str | Path, of: type[np.generic]) -> npt.NDArray[Any]:
    """An array, (n,), whose bytes alone a file has; it is read where it is looked at."""
    try:
        array: npt.NDArray[Any] = np.fromfile(path, of, 0)
        if Path(path).stat().st_size:
            array = np.asarray(np.memmap(path, of, "r"))
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    return array


def _unreadable(path: str | Path, error: Exception) -> CorpusError:
    what = f"cannot be read on {socket.gethostname()}: {getattr(error, 'strerror', None) or error}"
    return CorpusError(path, 0, what, hint="write the output into a folder that all workers see")
