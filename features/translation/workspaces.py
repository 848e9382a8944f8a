"""Workspaces of the HMM's kernels: the lattice of one sentence pair, and what is found of a chunk of pairs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corpora.ragged import F32, I64
from features.translation._lattice_kernels import CONTEXTS, LANES, N_JUMPS, WIDTHS, WINDOW, Moves


class Lattice(NamedTuple):
    """Workspace for one sentence pair in one direction.

    Rows of P padded states, one for each of T words: emission; posterior (forward probabilities before the backward
    pass).  Rows of P + 2 WINDOW: spread (what leaves each state for a jump) and arrival.  One row for each width:
    weights (of the jump from each state, P + 2 WINDOW) and moved (expected jumps over their weight, P).  (T,): null,
    null_posterior, scale, waiting (mass before the first position).  (P,): the others.
    """

    emission: F32
    posterior: F32
    spread: F32
    arrival: F32
    null: F32
    null_posterior: F32
    scale: F32
    waiting: F32
    start: F32
    leave: F32
    end: F32
    state: F32
    band: F32
    departed: F32
    ended: F32
    weights: F32
    moved: F32


def make_lattice(words: I64, states: I64) -> Lattice:
    """A lattice for any of some sentence pairs.  words, states: (n,) words and positions of each pair."""
    rows = -(-states // LANES) * LANES
    cells, wide = (words * rows).max(initial=0), (words * (rows + 2 * WINDOW)).max(initial=0)
    longest, row = words.max(initial=0), rows.max(initial=0)
    by_width = WIDTHS * (row + 2 * WINDOW), WIDTHS * row
    sizes = *[cells] * 2, *[wide] * 2, *[longest] * 3, longest + 1, *[row] * 7, *by_width
    return Lattice(*(np.zeros(size, np.float32) for size in sizes))


def make_moves(words: int, states: int, hmm: bool) -> Moves:
    """No jumps, of sentences with this many words and positions in all; without the HMM there are none to find."""
    states = states if hmm else 0
    return Moves(
        np.zeros(N_JUMPS), np.zeros(CONTEXTS), np.zeros((states, WIDTHS), np.float32), np.zeros(states, np.float32),
        np.zeros(words, np.float32),
    )  # fmt: skip
