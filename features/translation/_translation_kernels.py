"""Expectation step and posteriors of translation models, one sentence pair after the other."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from corpora.compiled import compiled
from corpora.ragged import F32, F64, I64
from features.translation import _lattice_kernels as lattices
from features.word_pairs import Pairs

U = np.uint64
_READ_AHEAD = 64
"""Counts that are read together."""


class Lattice(NamedTuple):
    """Workspace for one sentence pair in one direction.

    Rows of P padded states, one for each of T words: emission; posterior (forward probabilities before the backward
    pass).  Rows of P + 2 WINDOW, with rows of zeros to spare: spread (row t + 1: what leaves each state for a jump
    after word t) and arrival (row t: at word t); one row for each width: weights (of the jump from each state) and
    moved (rows of P, expected jumps).  (T,): null, null_posterior, scale.  waiting: (T + 1,) mass before the first
    position.  (P,): the others.
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
    rows = -(-states // lattices.LANES) * lattices.LANES
    cells, padded = (words * rows).max(initial=0), (words + lattices.AT_ONCE + 1) * (rows + 2 * lattices.WINDOW)
    longest, row = words.max(initial=0), rows.max(initial=0)
    by_width = lattices.WIDTHS * (row + 2 * lattices.WINDOW)
    sizes = *[cells] * 2, *[padded.max(initial=0)] * 2, *[longest] * 3, longest + 1, *[row] * 7, *[by_width] * 2
    return Lattice(*(np.zeros(size, np.float32) for size in sizes))


def make_moves(words: int, states: int, hmm: bool) -> lattices.Moves:
    """No jumps, of sentences with this many words and positions in all; without the HMM there are none to find."""
    inside, needs = np.zeros((2, states if hmm else 0, lattices.WIDTHS), np.float32)
    no_jumps = np.zeros(lattices.N_JUMPS), np.zeros(lattices.CONTEXTS)
    return lattices.Moves(*no_jumps, inside, needs, np.zeros(words, np.float32))


class Emissions(NamedTuple):
    """Probabilities of words, in two directions: of the target word given the source word and the reverse.

    cells: (C + 1, 2), the last row not used: words without a cell have background[generated] · scale[given].
    null_target: (V_target,), null_source: (V_source,), given NULL.
    """

    cells: F32
    source_scale: F32
    target_scale: F32
    source_background: F32
    target_background: F32
    null_source: F32
    null_target: F32


class Chain(NamedTuple):
    """Jump weights of the direction that generates the target, and of the other.

    uniform: share of jumps to anywhere.  p0: probability of NULL.
    """

    forward: lattices.JumpWeights
    reverse: lattices.JumpWeights
    uniform: float
    p0: float


class DirectionCounts(NamedTuple):
    """Expected counts of one direction.  null: (V,) words it generates that are given NULL."""

    null: F64
    jumps: lattices.Jumps


class Counts(NamedTuple):
    """Expected counts.  cells: (C + 1, 1) of both directions under agreement, (C + 1, 2) of each without."""

    cells: F64
    forward: DirectionCounts
    reverse: DirectionCounts
    log_likelihoods: F64


@compiled
def infer(text, edge_offsets, by_row, null, weights, uniform, p0, hmm, lattice, moves, values):
    """Posteriors of the edges of n pairs in one direction, (E,), in place of their emissions.

    text: see `Pairs.directions`.  by_row: whether the edges of a word that is generated stand side by side.
    null: (V,) probabilities of these words given NULL.  hmm: or IBM Model 1.  moves: what is expected of these pairs,
    unless its arrays are empty.  Returns the log likelihoods, (n,), 0 where a side is empty.
    """
    words, word_offsets, states, state_offsets = text
    at, of_word = U(0), U(0)
    log_likelihoods = np.zeros(len(edge_offsets) - 1)
    for i in range(len(log_likelihoods)):
        T = word_offsets[i + 1] - word_offsets[i]
        S = state_offsets[i + 1] - state_offsets[i]
        edge = U(edge_offsets[i])
        word_step, state_step = (U(S), U(1)) if by_row else (U(1), U(T))
        P = U(lattices.padded(S))
        if T > 0 and S > 0:
            for t in range(U(T)):
                lattice.null[t] = null[words[word_offsets[i] + np.int64(t)]]
            if hmm:
                for t in range(U(T)):
                    for s in range(U(S)):
                        lattice.emission[t * P + s] = values[edge + t * word_step + s * state_step]
                    for s in range(U(S), P):
                        lattice.emission[t * P + s] = 0.0
                lattices.prepare(lattice, states[state_offsets[i] : state_offsets[i + 1]], weights, uniform, p0)
                log_likelihoods[i] = lattices.forward_backward(lattice, T, S, uniform, p0)
                if len(moves.needs) > 0:
                    lattices.find_moves(lattice, T, S, uniform, p0, moves, at)
                for t in range(U(T)):
                    for s in range(U(S)):
                        values[edge + t * word_step + s * state_step] = lattice.posterior[t * P + s]
            else:
                in_place = values, edge, word_step, state_step
                log_likelihoods[i] = lattices.mix(lattice, T, S, p0, *in_place)
            if len(moves.null) > 0:
                for t in range(U(T)):
                    moves.null[of_word + t] = lattice.null_posterior[t]
        at += U(S)
        of_word += U(T)
    return log_likelihoods


def infer_both(
    pairs: Pairs,
    null: tuple[F32, F32],
    chain: Chain,
    hmm: bool,
    values: F32,
    moves: Sequence[lattices.Moves] | None = None,
) -> F64:
    """`infer` in both directions, values (2, E); returns the log likelihoods (2, n).

    null: of target words, then of source words.
    """
    lattice = make_lattice(pairs.shapes.T.ravel(), pairs.shapes.T[::-1].ravel())  # one for both
    none, weights = make_moves(0, 0, False), (chain.forward, chain.reverse)
    return np.stack(
        [
            infer(
                text,
                pairs.edge_offsets,
                reverse == 1,
                null[reverse],
                weights[reverse],
                chain.uniform,
                chain.p0,
                hmm,
                lattice,
                none if moves is None else moves[reverse],
                values[reverse],
            )
            for reverse, text in enumerate(pairs.directions)
        ]
    )


@compiled
def add_links(ids, links, cells):
    """Add links (columns, E), of edges whose cells are ids, to the counts of these cells (C + 1, columns).

    Returns a number of no use: counts are read before any is changed, so that the cache gets many at the same time.
    Most links of directions that agree are 0 on the grid: their counts are not read at all.
    """
    touched, kept = 0.0, np.empty(_READ_AHEAD, np.uint64)
    for first in range(U(0), U(len(ids)), U(_READ_AHEAD)):
        n = U(0)
        for edge in range(first, min(first + U(_READ_AHEAD), U(len(ids)))):
            kept[n] = edge  # without a branch, whose outcome could not be predicted
            n += U(max(links[0, edge], links[-1, edge]) > lattices.LEAST_LINK)
        for x in range(n):
            touched += cells[U(ids[kept[x]]), U(0)]
        for x in range(n):
            cell = U(ids[kept[x]])
            for column in range(U(len(links))):
                cells[cell, column] += lattices.on_grid(links[column, kept[x]], lattices.LINKS)
    return touched


@compiled
def add_moves(text, groups, hmm, moves, total):
    """Add what `infer` has found of some pairs to `total`, but for `Moves.counts` and `Moves.contexts`.

    groups: of the words of the states.  Needs are added times the weights, see `Jumps`.
    """
    words, _, states, offsets = text
    for t in range(len(words)):
        total.null[words[t]] += lattices.on_grid(moves.null[t], lattices.LINKS)
    if not hmm:
        return
    for i in range(len(offsets) - 1):
        lattices.add_moves(states[offsets[i] : offsets[i + 1]], groups, moves, offsets[i], total.jumps)
