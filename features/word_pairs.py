"""WordPairs: the distinct pairs of words of some sentence pairs; what is found for each is spread over the edges."""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from features._search_kernels import list_occurrences

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]


class WordPairs(NamedTuple):
    """The m distinct word pairs of a batch: what depends on the two words alone is found once for each of them.

    source, target: (m,) int32 words of the batch; the pairs of a source word stand in one run.
    of_edge: (E,) int32, the word pair of each edge.
    """

    source: I32
    target: I32
    of_edge: I32

    @classmethod
    def of(
        cls, source_tokens: I32, target_tokens: I32, source_offsets: I64, target_offsets: I64, edge_offsets: I64,
        n_source: int, n_target: int,
    ) -> WordPairs:  # fmt: skip
        """Those of sentence pairs, of n_source and n_target different words; see `features.batch.EdgeBatch`."""
        return cls(
            *_find(source_tokens, target_tokens, source_offsets, target_offsets, edge_offsets, n_source, n_target)
        )


@nb.njit(cache=True, nogil=True)
def _find(source_tokens, target_tokens, source_offsets, target_offsets, offsets, n_source, n_target):
    starts, pair_of, place = list_occurrences(np.int64(0), len(offsets) - 1, source_tokens, source_offsets, n_source)
    of_edge = np.empty(offsets[-1], np.int32)
    source = np.empty(offsets[-1] + 1, np.int32)  # one more than there can be: a pair is written before it is new
    target = np.empty(offsets[-1] + 1, np.int32)
    latest = np.empty(n_target, np.int32)  # the last word pair with this target word
    latest[:] = -1
    m = np.int32(0)
    for e in range(n_source):
        of_word = m
        for t in range(starts[e], starts[e + 1]):
            i = pair_of[t]
            edge = offsets[i] + place[t] * (target_offsets[i + 1] - target_offsets[i])
            for k in range(target_offsets[i], target_offsets[i + 1]):
                f = target_tokens[k]
                known = latest[f]
                new = known < of_word
                pair = m if new else known
                of_edge[edge] = pair
                latest[f] = pair
                source[m] = e
                target[m] = f
                m += np.int32(new)  # without a branch, whose outcome could not be predicted
                edge += 1
    return source[:m].copy(), target[:m].copy(), of_edge


@nb.njit(cache=True, nogil=True)
def end_of_run(source, first):
    """Where the word pairs of the source word of the first one end."""
    last = first + 1
    while last < len(source) and source[last] == source[first]:
        last += 1
    return last


@nb.njit(cache=True, nogil=True)
def spread(of_pairs, of_edge, out):
    """out[e] = of_pairs[of_edge[e]]: what a word pair has, for each of its edges."""
    for edge in range(len(of_edge)):
        out[edge] = of_pairs[of_edge[edge]]


@nb.njit(cache=True, nogil=True)
def add_spread(of_pairs, of_edge, out):
    """`spread`, added to what is there."""
    for edge in range(len(of_edge)):
        out[edge] += of_pairs[of_edge[edge]]


@nb.njit(cache=True, nogil=True)
def spread_rows(of_pairs, of_edge, out, column):
    """`spread` of rows of several columns, into the columns of out from `column` on."""
    for edge in range(len(of_edge)):
        for c in range(of_pairs.shape[1]):
            out[edge, column + c] = of_pairs[of_edge[edge], c]
