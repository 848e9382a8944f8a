"""Expectation step and posteriors of translation models, one sentence pair after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corpora.compiled import compiled
from corpora.ragged import F32, F64, I64
from features.translation import _lattice_kernels as lattices

U = np.uint64


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
    rows = -(-states // lattices.LANES) * lattices.LANES
    cells, wide = (words * rows).max(initial=0), (words * (rows + 2 * lattices.WINDOW)).max(initial=0)
    longest, row = words.max(initial=0), rows.max(initial=0)
    by_width = lattices.WIDTHS * (row + 2 * lattices.WINDOW), lattices.WIDTHS * row
    sizes = *[cells] * 2, *[wide] * 2, *[longest] * 3, longest + 1, *[row] * 7, *by_width
    return Lattice(*(np.zeros(size, np.float32) for size in sizes))


def make_moves(words: int, states: int, hmm: bool) -> lattices.Moves:
    """No jumps, of sentences with this many words and positions in all; without the HMM there are none to find."""
    states = states if hmm else 0
    return lattices.Moves(
        np.zeros(lattices.N_JUMPS), np.zeros(lattices.CONTEXTS), np.zeros((states, lattices.WIDTHS), np.float32),
        np.zeros(states, np.float32), np.zeros(words, np.float32),
    )  # fmt: skip


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


class Found(NamedTuple):
    """Posteriors of some sentence pairs, from which their expected counts follow.

    links: (E, 1 or 2) of each edge, as `Counts.cells`.  log_likelihoods: (2,) of both directions.
    """

    links: F32
    forward: lattices.Moves
    reverse: lattices.Moves
    log_likelihoods: F64


@compiled
def _fill(cells, source, target, emissions, forward, reverse):
    """Emissions of both lattices: the times of `forward` are the target words, those of `reverse` the source words."""
    J = U(len(source))
    K = U(len(target))
    P = U(lattices.padded(len(source)))
    Q = U(lattices.padded(len(target)))
    table, into, back = emissions.cells, forward.emission, reverse.emission
    missing = len(table) - 1
    for k in range(K):
        for j in range(J, P):
            into[k * P + j] = 0.0
        forward.null[k] = emissions.null_target[target[k]]
    for j in range(J):
        e = source[j]
        row = j * Q
        for k in range(K, Q):
            back[row + k] = 0.0
        reverse.null[j] = emissions.null_source[e]
        for k in range(K):
            cell = cells[j * K + k]
            if cell == missing:
                f = target[k]
                into[k * P + j] = emissions.target_background[f] * emissions.source_scale[e]
                back[row + k] = emissions.source_background[e] * emissions.target_scale[f]
            else:
                into[k * P + j] = table[U(cell), U(0)]
                back[row + k] = table[U(cell), U(1)]


@compiled
def _infer(lattice, T, states, hmm, jumps, uniform, p0, moves, at, first):
    """states: (S,) the words of the positions.  at, first: rows of `moves` of the first position and of the first word.

    Returns the log likelihood.
    """
    S = len(states)
    if hmm:
        lattices.prepare(lattice, states, jumps, uniform, p0)
        log_likelihood = lattices.forward_backward(lattice, T, S, uniform, p0)
        lattices.find_moves(lattice, T, S, uniform, p0, moves, at)
    else:
        log_likelihood = lattices.mix(lattice, T, S, p0)
    for t in range(T):
        moves.null[first + t] = lattice.null_posterior[t]
    return log_likelihood


@compiled
def expect(first, last, pairs, ids, emissions, chain, hmm, forward, reverse, found):
    """Posteriors of pairs first .. last; ids are the cells of their edges.

    Under agreement a link counts as often as both directions make it  [LTK06, eq. 4].
    """
    agreement = found.links.shape[1] == 1
    links = found.links
    base = pairs.edge_offsets[first]
    for i in range(first, last):
        source = pairs.source[pairs.source_offsets[i] : pairs.source_offsets[i + 1]]
        target = pairs.target[pairs.target_offsets[i] : pairs.target_offsets[i + 1]]
        J = len(source)
        K = len(target)
        if J == 0 or K == 0:
            continue
        edge = pairs.edge_offsets[i] - base
        _fill(ids[edge : edge + J * K], source, target, emissions, forward, reverse)
        uniform, p0 = chain.uniform, chain.p0
        at = pairs.source_offsets[i] - pairs.source_offsets[first]
        to = pairs.target_offsets[i] - pairs.target_offsets[first]
        likelihoods = found.log_likelihoods
        likelihoods[0] += _infer(forward, K, source, hmm, chain.forward, uniform, p0, found.forward, at, to)
        likelihoods[1] += _infer(reverse, J, target, hmm, chain.reverse, uniform, p0, found.reverse, to, at)
        P = U(lattices.padded(J))
        Q = U(lattices.padded(K))
        for j in range(U(J)):
            row = U(edge) + j * U(K)
            for k in range(U(K)):
                one = forward.posterior[k * P + j]
                other = reverse.posterior[j * Q + k]
                if agreement:
                    links[row + k, U(0)] = one * other
                else:
                    links[row + k, U(0)] = one
                    links[row + k, U(1)] = other


@compiled
def add_up(first, last, pairs, ids, found, chain, hmm, counts):
    """Add what `expect` has found of pairs first .. last, but for `Moves.counts`, `Moves.contexts` and likelihoods."""
    cells, links = counts.cells, found.links
    for edge in range(U(len(ids))):
        cell = U(ids[edge])
        for column in range(U(links.shape[1])):
            cells[cell, column] += links[edge, column]
    _add_direction(
        first, last, pairs.target, pairs.target_offsets, pairs.source, pairs.source_offsets, chain.forward, chain, hmm,
        found.forward, counts.forward,
    )  # fmt: skip
    _add_direction(
        first, last, pairs.source, pairs.source_offsets, pairs.target, pairs.target_offsets, chain.reverse, chain, hmm,
        found.reverse, counts.reverse,
    )  # fmt: skip


@compiled
def _add_direction(first, last, words, word_offsets, states, offsets, weights, chain, hmm, moves, total):
    for t in range(word_offsets[first], word_offsets[last]):
        total.null[words[t]] += moves.null[t - word_offsets[first]]
    if not hmm:
        return
    for i in range(first, last):
        sentence = states[offsets[i] : offsets[i + 1]]
        lattices.add_moves(sentence, weights, chain.uniform, chain.p0, moves, offsets[i] - offsets[first], total.jumps)


@compiled
def decode(pairs, forward_emission, reverse_emission, null_source, null_target, chain, lattice):
    """Posteriors of sentence pairs, of both directions, in place of the emissions of their edges."""
    step = np.int64(1)  # no literal, for which what is called would be compiled once more
    for i in range(len(pairs.edge_offsets) - 1):
        source = pairs.source[pairs.source_offsets[i] : pairs.source_offsets[i + 1]]
        target = pairs.target[pairs.target_offsets[i] : pairs.target_offsets[i + 1]]
        J = len(source)
        K = len(target)
        if J == 0 or K == 0:
            continue
        one = forward_emission[pairs.edge_offsets[i] : pairs.edge_offsets[i + 1]]
        other = reverse_emission[pairs.edge_offsets[i] : pairs.edge_offsets[i + 1]]
        lattices.prepare(lattice, source, chain.forward, chain.uniform, chain.p0)
        _infer_direction(one, target, J, step, K, null_target, chain, lattice)
        lattices.prepare(lattice, target, chain.reverse, chain.uniform, chain.p0)
        _infer_direction(other, source, K, K, step, null_source, chain, lattice)


@compiled
def _infer_direction(values, words, S, word_step, state_step, null, chain, lattice):
    """Posteriors in place of emissions, of words that are generated by S positions; steps: between their values."""
    P = lattices.padded(S)
    for t in range(len(words)):
        lattice.null[t] = null[words[t]]
        for s in range(S):
            lattice.emission[t * P + s] = values[t * word_step + s * state_step]
        lattice.emission[t * P + S : (t + 1) * P] = 0.0
    lattices.forward_backward(lattice, len(words), S, chain.uniform, chain.p0)
    for t in range(len(words)):
        for s in range(S):
            values[t * word_step + s * state_step] = lattice.posterior[t * P + s]
