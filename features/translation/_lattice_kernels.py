"""The lattice of one sentence in one direction: its times are the words, its states the positions of the other side.

The chain is [VNT96]'s with the NULL of [ON03]: at every word, NULL is chosen with probability p0 and the position
stays what it was, or another position is jumped to:

    p(s' | s) = (1 - p0) ((1 - u) w(s, s') / Σ_r w(s, r) + u / S),   |s' - s| <= WINDOW in the first term,

where w(s, s') is the weight that the word at s has for leaving it by this width [He07] times the weight of the word at
s' for reaching it. From before the sentence into it the weights are of the distance from its start, out of it from its
end, whatever the words.

Rows are padded with zeros to a multiple of LANES states, so that vector loops have no remainder, and those that are
read shifted have WINDOW zeros more on either side, so that jumps out of the sentence need no test. Indices are unsigned
because numba lets signed ones count from the end, a choice in every access that cannot be vectorised.

No sum may be reassociated by the compiler here: a kernel is optimised once by itself and once more inside each that
calls it, and which copy runs depends on whether they came from the cache.

What is added up over many sentences is rounded to a grid first, so that float64 holds the sums exactly and they are the
same in whatever order, and in whatever groups, the sentences are looked at.
"""

from typing import NamedTuple

import numpy as np

from corpora.compiled import compiled
from corpora.ragged import F32, F64, I32

WINDOW = 8
WIDTHS = 2 * WINDOW + 1
LANES = 8
AT_ONCE = 8
"""Words whose jumps are added up before they are stored."""
START, INSIDE, END, N_JUMPS = 0, WINDOW, WINDOW + WIDTHS, 2 * WINDOW + WIDTHS
"""Where the weights of the jumps into the sentence, inside it, and out of it begin."""
CONTEXTS = 3, WINDOW + 1, WINDOW + 1
LEAVING, REACHING = 0, 1
LINKS, JUMPS = 1.5 * 2.0**28, 1.5 * 2.0**32
"""For `on_grid`: links are multiples of 2^-24, whose sums are exact below 2^29, jumps of 2^-20, below 2^33."""
LEAST_LINK = 2.0**-25
"""Links up to this are 0 on the grid."""

U = np.uint64


class JumpWeights(NamedTuple):
    """Weights of jumps.

    shared: (N_JUMPS,), of all words together; those inside the sentence are not used here.  inside: (2, G, WIDTHS), for
    LEAVING and REACHING words of each group.  groups: (V,), the group of each word of the language of the states.
    """

    shared: F64
    inside: F64
    groups: I32


class Jumps(NamedTuple):
    """Expected jumps of one direction.

    counts: (N_JUMPS,) by width.  contexts: CONTEXTS, how often a choice was made at the start, inside and at the end,
    by the number of positions in reach to the left and to the right (start and end: to the right).
    inside: (2, G, WIDTHS), LEAVING and REACHING words of each group.  needs: (2, G, WIDTHS), expected number of inside
    jumps under the current weights, divided by the weight of the group.
    """

    counts: F64
    contexts: F64
    inside: F64
    needs: F64


class Moves(NamedTuple):
    """Expected jumps of some sentences in one direction, before they are added to the jumps of groups of words.

    counts, contexts: see `Jumps`.  inside, needs: (positions, WIDTHS) from each position; needs times the weights.
    null: (words,) posteriors of NULL.
    """

    counts: F64
    contexts: F64
    inside: F32
    needs: F32
    null: F32


@compiled(inline="always")
def on_grid(value, grid):
    """Round a value, below grid / 3, to the spacing of float64 at `grid`, 2^-24 (LINKS) or 2^-20 (JUMPS)."""
    return (value + grid) - grid


@compiled
def padded(states):
    return (states + LANES - 1) // LANES * LANES


@compiled
def add_row(values, first, P):
    """Sum of a row in an order no compiler changes: four sums side by side, so that none waits for another."""
    a = b = c = d = np.float32(0.0)
    rest = first + P - P % U(4)
    for s in range(rest, first + P):
        a += values[s]
    for s in range(first, rest, U(4)):
        a += values[s]
        b += values[s + U(1)]
        c += values[s + U(2)]
        d += values[s + U(3)]
    return (a + b) + (c + d)


@compiled(inline="always")
def prepare(lattice, words, jumps, uniform, p0):
    """Factors of the start, of leaving each position, and of the end, for a sentence whose positions are of words."""
    S = len(words)
    P = padded(S)
    R = P + 2 * WINDOW
    shared, weights = jumps.shared, lattice.weights
    start, leave, end = lattice.start, lattice.leave, lattice.end
    w = min(S, WINDOW)
    first = 0.0
    last = 0.0
    for s in range(w):
        first += shared[START + s]
        last += shared[END + s]
    leave[:P] = 0.0
    start[:S] = uniform / S
    start[S:P] = 0.0
    end[:S] = uniform / S
    end[S:P] = 0.0
    for s in range(w):
        start[s] += (1.0 - uniform) * shared[START + s] / first
        end[S - 1 - s] += (1.0 - uniform) * shared[END + s] / last
    weights[: WIDTHS * R] = 0.0
    for s in range(S):
        group, total = U(jumps.groups[U(words[s])]), 0.0
        for i in range(U(max(WINDOW - s, 0)), U(min(WINDOW + S - s, WIDTHS))):
            reached = U(jumps.groups[U(words[U(s) + i - U(WINDOW)])])
            weight = jumps.inside[U(LEAVING), group, i] * jumps.inside[U(REACHING), reached, i]
            weights[i * U(R) + U(WINDOW + s)] = weight
            total += weight
        leave[s] = (1.0 - uniform) * (1.0 - p0) / total


@compiled(inline="always")
def forward_backward(lattice, T, S, uniform, p0):
    """Posteriors of a prepared lattice; returns the log likelihood.

    What the forward pass finds of a word is divided by its sum one word later, so that nothing waits for the sum; the
    backward pass divides by that of the word before, too, so that spread times arrival are expected jumps.
    """
    emission, posterior, spread, arrival = lattice.emission, lattice.posterior, lattice.spread, lattice.arrival
    start, leave, end, state, band = lattice.start, lattice.leave, lattice.end, lattice.state, lattice.band
    ended, weights = lattice.ended, lattice.weights
    P = U(padded(S))
    W = U(WINDOW)
    R = P + W + W
    floor = np.float32((1.0 - p0) * uniform / S)
    move, one = np.float32(1.0 - p0), np.float32(1.0)
    waiting = scale = one
    lattice.waiting[0] = one
    total = np.float32(0.0)
    product, log_likelihood = 1.0, 0.0
    for s in range(P):
        state[s] = 0.0
    rows = U(T + AT_ONCE + 1) * R
    for s in range(rows):
        spread[s] = 0.0
        arrival[s] = 0.0
    for t in range(U(T)):
        row, before = t * P, t * R
        null = np.float32(p0) * lattice.null[t]
        enter, jump, stay = move * waiting, floor * total * scale, null * scale
        for s in range(P):
            arrived = np.float32(0.0)
            for i in range(U(WIDTHS)):
                left = W + W - i + s
                arrived += weights[i * R + left] * spread[before + left]
            real = (arrived * scale + jump + enter * start[s]) * emission[row + s]
            posterior[row + s] = real
            now = real + stay * state[s]
            state[s] = now
            spread[before + R + W + s] = now * leave[s]
        total = add_row(state, U(0), P)
        waiting *= null
        scale = one / (total + waiting)
        lattice.waiting[t + U(1)] = waiting
        lattice.scale[t] = scale
        waiting *= scale
        product *= scale
        if not 1e-200 < product < 1e200:
            log_likelihood -= np.log(product)
            product = 1.0
    for s in range(P):
        ended[s] = state[s] * end[s] * scale
    final = waiting / np.float32(S) + add_row(ended, U(0), P)
    log_likelihood += np.log(final / product)
    final = one / final
    last = U(T) - U(1)
    back = lattice.scale[last - U(1)] if T > 1 else one
    for s in range(P):
        ended[s] *= final
        state[s] = end[s] * final * scale
        posterior[last * P + s] *= state[s]
        arrival[last * R + W + s] = emission[last * P + s] * state[s] * back
    for after in range(U(1), U(T)):
        now = last - after
        row, here = now * P, now * R
        later = here + R
        lattice.null_posterior[now + U(1)] = max(np.float32(0.0), one - add_row(posterior, row + P, P))
        jump = floor * add_row(arrival, later + W, P)
        stay = np.float32(p0) * lattice.null[now + U(1)] * back
        back = lattice.scale[now - U(1)] if now > U(0) else one
        for s in range(P):
            ahead = np.float32(0.0)
            for i in range(U(WIDTHS)):
                ahead += weights[i * R + W + s] * arrival[later + i + s]
            band[s] = ahead
        for s in range(P):
            value = stay * state[s] + leave[s] * band[s] + jump
            state[s] = value
            posterior[row + s] *= value
            arrival[here + W + s] = emission[row + s] * value * back
    lattice.null_posterior[0] = max(np.float32(0.0), one - add_row(posterior, U(0), P))
    return log_likelihood


@compiled(inline="always")
def find_moves(lattice, T, S, uniform, p0, moves, at):
    """Compute the expected jumps of a lattice after `forward_backward`, only inside the window.

    at: row of moves.inside and moves.needs that belongs to the first position.
    """
    spread, arrival, counts, contexts = lattice.spread, lattice.arrival, moves.counts, moves.contexts
    weights, moved, departed = lattice.weights, lattice.moved, lattice.departed
    P = U(padded(S))
    W = U(WINDOW)
    R = P + W + W
    w = min(S, WINDOW)
    started = 0.0
    ended = 0.0
    for s in range(w):
        last = S - 1 - s
        share = lattice.ended[last] * (1.0 - uniform / S / lattice.end[last])
        counts[END + s] += share
        ended += share
        share = 0.0
        column = W + U(s)
        for t in range(U(T)):
            share += lattice.waiting[t] * arrival[t * R + column]
        share *= (1.0 - p0) * (lattice.start[s] - uniform / S)
        counts[START + s] += share
        started += share
    contexts[0, 0, w] += started
    contexts[2, 0, w] += ended
    if T == 1:
        return
    for s in range(P):
        departed[s] = 0.0
    for i in range(U(WIDTHS)):
        for s in range(P):
            moved[i * P + s] = 0.0
        for t in range(U(0), U(T - 1), U(AT_ONCE)):  # rows beyond the last word's are 0
            here, there = (t + U(1)) * R + W, (t + U(1)) * R + i
            for s in range(P):
                total = np.float32(0.0)
                for later in range(U(AT_ONCE)):
                    total += spread[here + later * R + s] * arrival[there + later * R + s]
                moved[i * P + s] += total
        for s in range(P):
            moved[i * P + s] *= weights[i * R + W + s]
            departed[s] += moved[i * P + s]
    for s in range(S):
        left = min(s, WINDOW)
        right = min(S - 1 - s, WINDOW)
        contexts[1, left, right] += departed[s]
        chosen = np.float32(departed[s] * lattice.leave[s] / ((1.0 - uniform) * (1.0 - p0)))
        for i in range(WINDOW - left, WINDOW + right + 1):
            weight = weights[U(i) * R + W + U(s)]
            share = moved[U(i) * P + U(s)]
            counts[INSIDE + i] += share
            moves.inside[at + U(s), U(i)] = share
            moves.needs[at + U(s), U(i)] = chosen * weight


@compiled(inline="always")
def add_moves(words, groups, moves, at, jumps):
    """Add the jumps inside a sentence, and needs times weights, to those of the groups of its words.

    words: (S,).  at: as for `find_moves`.  Jumps that leave words come first: a row of a group is in the cache then.
    """
    S = len(words)
    for end in (LEAVING, REACHING):
        for s in range(S):
            group = U(groups[words[s]])
            for i in range(WINDOW - min(s, WINDOW), WINDOW + min(S - 1 - s, WINDOW) + 1):
                row, width = (s, i) if end == LEAVING else (s + i - WINDOW, 2 * WINDOW - i)
                place, from_place = (U(end), group, U(width)), (U(at + row), U(width))
                jumps.inside[place] += on_grid(moves.inside[from_place], JUMPS)
                jumps.needs[place] += on_grid(moves.needs[from_place], JUMPS)


@compiled
def mix(lattice, T, S, p0, values, edge, word_step, state_step):
    """Posteriors of IBM Model 1 [BDDM93], every position as likely as another; returns the log likelihood.

    values: emissions from `edge` on, in whose place come the posteriors.  word_step, state_step: from a word, and from
    a position, to the next; one of them is 1.
    """
    totals = lattice.scale
    T, S = U(T), U(S)
    for t in range(T):
        totals[t] = 0.0
    if word_step == U(1):
        for s in range(S):
            for t in range(T):
                totals[t] += values[edge + s * state_step + t]
    else:
        for t in range(T):
            totals[t] = add_row(values, edge + t * word_step, S)
    log_likelihood = 0.0
    share, one = np.float32((1.0 - p0) / S), np.float32(1.0)
    for t in range(T):
        null = np.float32(p0) * lattice.null[t]
        total = null + share * totals[t]
        log_likelihood += np.log(total)
        lattice.null_posterior[t] = null / total
        totals[t] = share / total
    if word_step == U(1):
        for s in range(S):
            for t in range(T):
                values[edge + s * state_step + t] = min(values[edge + s * state_step + t] * totals[t], one)
    else:
        for t in range(T):
            for s in range(S):
                values[edge + t * word_step + s] = min(values[edge + t * word_step + s] * totals[t], one)
    return log_likelihood
