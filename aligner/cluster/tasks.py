"""Tasks of workers: functions of shards and other files, whose results do not depend on worker or repetition."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from aligner.cluster.shards import Shard, load, save
from corpora.bitext import Bitext, Text
from corpora.ragged import F64, I32, I64, Array
from features.cooccurrence import count_cooccurrences
from features.translation import jumps
from features.translation._lattice_kernels import JumpWeights
from features.translation._translation_kernels import Chain, Counts, DirectionCounts, Emissions
from features.translation.cells import Cells
from features.translation.counting import Chunks


class WordCounts(NamedTuple):
    """Counts of the words in a shard.  words: (n,) ascending.  counts: (n,)."""

    words: I64
    counts: Array

    @classmethod
    def of(cls, counts: Array) -> "WordCounts":
        words = np.flatnonzero(counts)
        return cls(words, counts[words])


def count_words(shards: list[Shard]) -> tuple[WordCounts, WordCounts, WordCounts]:
    """Count co-occurrences in some shards, and save them in files beside the first.

    Returns the number of sentence pairs with each source word, and each target word, and of each source word's cells.
    """
    bitexts, shard = [shard.read()[0] for shard in shards], shards[0]
    bitext = Bitext(_join([bitext.source for bitext in bitexts]), _join([bitext.target for bitext in bitexts]))
    table = count_cooccurrences(bitext, minimum_dice=0.0, vocabularies=shard.sizes)
    cells = WordCounts.of(np.diff(table.row_offsets))
    for name in ("targets", "counts"):
        save(f"{shard.path}.{name}", getattr(table, name))
    save(f"{shard.path}.rows.npz", {"words": cells.words, "offsets": np.append(0, np.cumsum(cells.counts))})
    return WordCounts.of(table.source_counts), WordCounts.of(table.target_counts), cells


def _join(texts: list[Text]) -> Text:
    offsets = np.append(0, np.cumsum(np.concatenate([text.lengths for text in texts])))
    return replace(texts[0], ids=np.concatenate([text.ids for text in texts]), offsets=offsets)


def merge_words(shards: list[Shard], totals: str, first: int, last: int, minimum_dice: float) -> tuple[I64, I32, I32]:
    """Add up the files of `count_words` for source words first .. last, and keep the cells with the least Dice.

    shards: each the first of some that were counted together.  totals: file with the sentence pairs of each word.
    Returns each word's number of cells, their targets and counts.
    """
    found, size = load(totals), last - first
    total = csr_array((size, len(found["target"])), dtype=np.int32)
    for shard in shards:
        mine = load(f"{shard.path}.rows.npz")
        a, b = np.searchsorted(mine["words"], [first, last]).tolist()
        offsets, sizes = mine["offsets"][a : b + 1], np.zeros(size, np.int64)
        sizes[mine["words"][a:b] - first] = np.diff(offsets)
        cells = [load(f"{shard.path}.{name}")[offsets[0] : offsets[-1]] for name in ("counts", "targets")]
        total = total + csr_array((*cells, np.append(0, np.cumsum(sizes))), total.shape)
    row = np.repeat(np.arange(size), np.diff(total.indptr))
    words = found["source"][first:last][row] + found["target"][total.indices]
    kept = 2.0 * total.data >= minimum_dice * words
    return np.bincount(row[kept], minlength=size), total.indices[kept].astype(np.int32), total.data[kept]


class Jumped(NamedTuple):
    """Expected counts of one direction.  groups: (g,) groups that jumped.  inside, needs: (2, g, WIDTHS) of groups."""

    null: WordCounts
    counts: F64
    contexts: F64
    groups: I64
    inside: F64
    needs: F64


class ShardCounts(NamedTuple):
    """Expected counts of a shard, except the counts of its cells, which are in a file."""

    forward: Jumped
    reverse: Jumped
    log_likelihoods: F64


def expect(shard: Shard, cells: str, state: str, chain: tuple[float, float], hmm: bool, columns: int) -> ShardCounts:
    """Run the expectation step over a shard.  Counts of its cells are saved in a file, see `read_counts`.

    cells: file of the word pairs.  state: file of their probabilities.  chain: the numbers of a `Chain`.
    """
    (bitext, chunks), found = shard.read(), load(state)
    every = Cells(load(cells)["row_offsets"], load(f"{cells}.targets"), shard.sizes[1])
    emissions = Emissions(load(f"{state}.cells"), *(found[name] for name in Emissions._fields[1:]))
    forward, reverse = (
        JumpWeights(*(found[f"{side}.{name}"] for name in JumpWeights._fields)) for side in ("forward", "reverse")
    )
    counts = Counts(
        np.zeros((len(every) + 1, columns)),
        DirectionCounts(np.zeros(shard.sizes[1]), jumps.new_jumps(forward.groups)),
        DirectionCounts(np.zeros(shard.sizes[0]), jumps.new_jumps(reverse.groups)),
        np.zeros(2),
    )
    text = Chunks(bitext, chunks, 1)
    text.use(every)
    text.add(emissions, Chain(forward, reverse, *chain), hmm, None, counts)
    places = np.flatnonzero(counts.cells[:-1])
    save(beside(shard, state), {"places": places, "counts": counts.cells.ravel()[places]})
    return ShardCounts(_jumped(counts.forward), _jumped(counts.reverse), counts.log_likelihoods)


def read_counts(shard: Shard, state: str) -> tuple[I64, F64]:
    """Read the expected counts of a shard's cells that are not 0, and their places in all counts, flat."""
    found = load(beside(shard, state))
    return found["places"], found["counts"]


def beside(shard: Shard, path: str) -> str:
    """The path of the part of a file that belongs to a shard; unique, so that late writers do no harm."""
    return f"{shard.path}.{Path(path).name}"


def _jumped(counts: DirectionCounts) -> Jumped:
    moves = counts.jumps
    groups = np.flatnonzero((moves.inside != 0.0).any(axis=(0, 2)) | (moves.needs != 0.0).any(axis=(0, 2)))
    parts = moves.inside[:, groups], moves.needs[:, groups]
    return Jumped(WordCounts.of(counts.null), moves.counts, moves.contexts, groups, *parts)
