"""Compiled kernels of label sequences: scores, Viterbi's algorithm, forward-backward, and corners."""

from typing import NamedTuple

import numpy as np

from aligner.templates import DONE, NOT_FINITE
from corpora.compiled import compiled
from corpora.ragged import F32, F64, I32, I64


class ChainBlocks(NamedTuple):
    """The arrays of sequences of tokens.

    columns, values: the features of all tokens, those of token t at starts[t] : starts[t + 1].  labels: (N,) the right
    labels.  offsets: (n + 1,) where sequences begin.  n_inputs: p.  n_labels: M.  biases: whether labels have biases.

    The weight of feature c and label y is at c·M + y, that of neighbouring labels a, b at p·M + a·M + b; then, if there
    are biases, M weights of all labels, M of a sequence's first label and M of its last.
    """

    columns: I32
    values: F32
    starts: I64
    labels: I32
    offsets: I64
    n_inputs: int
    n_labels: int
    biases: bool


class ChainScratch(NamedTuple):
    """Workspaces for the longest sequence.  scores: (T, M).  ahead: (T, M).  path: (T,).  columns, values: (most,)."""

    scores: F64
    ahead: F64
    path: I32
    columns: I64
    values: F64


@compiled
def chain_scratch(chain):
    longest, most, M = 0, 0, chain.n_labels
    for i in range(len(chain.offsets) - 1):
        first, last = chain.offsets[i], chain.offsets[i + 1]
        longest = max(longest, last - first)
        # The most entries that `corner_entries` writes of a sequence, repeated columns included.
        most = max(most, 2 * (chain.starts[last] - chain.starts[first]) + 5 * (last - first) + 4)
    return ChainScratch(
        scores=np.empty((longest, M)),
        ahead=np.empty((longest, M)),
        path=np.empty(longest, np.int32),
        columns=np.empty(most, np.int64),
        values=np.empty(most),
    )


@compiled
def token_scores(i, chain, w, cost, scores):
    """Set scores[t, y] to the scores of the labels of sequence i, plus the cost if they are wrong."""
    M, p = chain.n_labels, chain.n_inputs
    first, last = chain.offsets[i], chain.offsets[i + 1]
    bias = (p + M) * M
    for t in range(first, last):
        row = scores[t - first]
        for y in range(M):
            row[y] = cost
        row[chain.labels[t]] = 0.0
        end = chain.starts[t + 1]
        alone = end - (end - chain.starts[t]) % 4
        for e in range(chain.starts[t], alone, 4):  # at once: a row is read and written a fourth as often
            one, two, three, four = chain.values[e], chain.values[e + 1], chain.values[e + 2], chain.values[e + 3]
            of_one, of_two = w[chain.columns[e] * M :], w[chain.columns[e + 1] * M :]
            of_three, of_four = w[chain.columns[e + 2] * M :], w[chain.columns[e + 3] * M :]
            for y in range(M):
                row[y] += one * of_one[y] + two * of_two[y] + three * of_three[y] + four * of_four[y]
        for e in range(alone, end):
            value, place = chain.values[e], chain.columns[e] * M
            for y in range(M):
                row[y] += value * w[place + y]
        if chain.biases:
            for y in range(M):
                row[y] += w[bias + y]
                if t == first:
                    row[y] += w[bias + M + y]
                if t == last - 1:
                    row[y] += w[bias + 2 * M + y]


@compiled
def best_path(T, steps, scratch):
    """Find the path of greatest score, write it to scratch.path and return its score  [Viterbi 1967].

    steps: (M·M,) scores of neighbouring labels.  Best neighbours are found again on the way back, one for each token.
    """
    M = scratch.scores.shape[1]
    scratch.ahead[0] = scratch.scores[0]
    for t in range(1, T):
        total, row = scratch.ahead[t - 1], scratch.ahead[t]
        row[:] = -np.inf
        for a in range(M):
            for b in range(M):
                found = total[a] + steps[a * M + b]
                row[b] = found if found > row[b] else row[b]
        for b in range(M):
            row[b] += scratch.scores[t, b]
    path = scratch.path
    path[T - 1] = np.argmax(scratch.ahead[T - 1])
    score = scratch.ahead[T - 1, path[T - 1]]
    for t in range(T - 1, 0, -1):
        total, b, best = scratch.ahead[t - 1], path[t], 0
        for a in range(1, M):
            if total[a] + steps[a * M + b] > total[best] + steps[best * M + b]:
                best = a
        path[t - 1] = best
    return score


@compiled
def answer(i, chain, w, cost, scratch):
    """Find the best labels of sequence i if each wrong one adds `cost`, in scratch.path; returns their score."""
    M, T = chain.n_labels, chain.offsets[i + 1] - chain.offsets[i]
    token_scores(i, chain, w, cost, scratch.scores)
    begin = chain.n_inputs * M
    return best_path(T, w[begin : begin + M * M], scratch)


@compiled
def corner_entries(i, chain, path, columns, values):
    """Write ψ_i of this path as columns, some more than once, and values; returns (how many there are, L_i)."""
    M, p, biases = chain.n_labels, chain.n_inputs, chain.biases
    first, last = chain.offsets[i], chain.offsets[i + 1]
    bias, n, wrong = (p + M) * M, 0, 0
    for t in range(first, last):
        y, z = chain.labels[t], path[t - first]
        if y != z:
            wrong += 1
            for e in range(chain.starts[t], chain.starts[t + 1]):
                place, value = chain.columns[e] * M, chain.values[e]
                columns[n], values[n] = place + y, value
                columns[n + 1], values[n + 1] = place + z, -value
                n += 2
            if biases:
                for kind in range(3):
                    if kind == 0 or (kind == 1 and t == first) or (kind == 2 and t == last - 1):
                        columns[n], values[n] = bias + kind * M + y, 1.0
                        columns[n + 1], values[n + 1] = bias + kind * M + z, -1.0
                        n += 2
        if t + 1 < last:
            of_target = y * M + chain.labels[t + 1]
            of_path = z * M + path[t + 1 - first]
            if of_target != of_path:
                columns[n], values[n] = p * M + of_target, 1.0
                columns[n + 1], values[n + 1] = p * M + of_path, -1.0
                n += 2
    return n, wrong / (last - first)


@compiled
def sparse_chain_corner(i, chain, w, scratch, cost):
    """Find the entries of a block's corner argmax_z cost · L_i(z) − w·ψ_i(z): (code, how many, L_i(z), the maximum)."""
    T = chain.offsets[i + 1] - chain.offsets[i]
    if not np.isfinite(answer(i, chain, w, cost / T, scratch)):
        return NOT_FINITE, 0, 0.0, 0.0
    n, loss = corner_entries(i, chain, scratch.path, scratch.columns, scratch.values)
    hinge = cost * loss
    for e in range(n):
        hinge -= scratch.values[e] * w[scratch.columns[e]]
    return DONE, n, loss, hinge


@compiled
def chain_corner(i, chain, w, scratch, psi):
    """Find a block's corner as psi (d,): (code, L_i(z), H_i(z; w))."""
    code, n, loss, hinge = sparse_chain_corner(i, chain, w, scratch, 1.0)
    psi[:] = 0.0
    for e in range(n):
        psi[scratch.columns[e]] += scratch.values[e]
    return code, loss, hinge


@compiled
def chain_corners(chosen, chain, w, ends, columns, values, losses):
    """Find the entries of the corners of many blocks, one after the other; those of the b-th end at ends[b].

    Returns (code, block at fault).
    """
    scratch, end = chain_scratch(chain), 0
    for b in range(len(chosen)):
        code, n, losses[b], _ = sparse_chain_corner(chosen[b], chain, w, scratch, 1.0)
        if code != DONE:
            return code, chosen[b]
        columns[end : end + n] = scratch.columns[:n]
        values[end : end + n] = scratch.values[:n]
        end += n
        ends[b] = end
    return DONE, -1


@compiled
def best_labels(chain, w, labels):
    """Find the best labels of all sequences, one after the other, (N,)."""
    scratch = chain_scratch(chain)
    for i in range(len(chain.offsets) - 1):
        answer(i, chain, w, 0.0, scratch)
        labels[chain.offsets[i] : chain.offsets[i + 1]] = scratch.path[: chain.offsets[i + 1] - chain.offsets[i]]


@compiled
def log_sum(values):
    """Return log Σ exp(values)."""
    most = values[0]
    for y in range(1, len(values)):
        most = max(most, values[y])
    total = 0.0
    for y in range(len(values)):
        total += np.exp(values[y] - most)
    return most + np.log(total)


@compiled
def chain_marginals(T, M, points, marginals):
    """Compute, by forward-backward, the marginals of p(z) ∝ exp ⟨points, z⟩ over labellings z of a chain of T tokens.

    points: their scores; marginals: written. Both (T·M + (T − 1)·M·M,): M labels of each token, then M·M pairs of
    labels of each two neighbours. Returns log Σ_z exp ⟨points, z⟩.
    """
    ahead, back = np.empty((T, M)), np.zeros((T, M))
    terms = np.empty(M)
    ahead[0] = points[:M]
    for t in range(1, T):
        edges = points[T * M + (t - 1) * M * M :]
        for b in range(M):
            for a in range(M):
                terms[a] = ahead[t - 1, a] + edges[a * M + b]
            ahead[t, b] = log_sum(terms) + points[t * M + b]
    for t in range(T - 2, -1, -1):
        edges = points[T * M + t * M * M :]
        for a in range(M):
            for b in range(M):
                terms[b] = back[t + 1, b] + edges[a * M + b] + points[(t + 1) * M + b]
            back[t, a] = log_sum(terms)
    whole = log_sum(ahead[T - 1])
    for t in range(T):
        for y in range(M):
            marginals[t * M + y] = np.exp(ahead[t, y] + back[t, y] - whole)
        if t + 1 < T:
            edge = T * M + t * M * M
            for a in range(M):
                for b in range(M):
                    end = points[(t + 1) * M + b] + back[t + 1, b] - whole
                    marginals[edge + a * M + b] = np.exp(ahead[t, a] + points[edge + a * M + b] + end)
    return whole


@compiled
def chain_scores(chosen, chain, w, starts, scores):
    """scores = F_iᵀ w + c_i of the parts of these blocks, those of the b-th from starts[b] on."""
    M = chain.n_labels
    steps = w[chain.n_inputs * M :]
    for b in range(len(chosen)):
        i = chosen[b]
        T = chain.offsets[i + 1] - chain.offsets[i]
        own = scores[starts[b] : starts[b + 1]]
        token_scores(i, chain, w, 1.0 / T, own[: T * M].reshape(T, M))
        for t in range(T - 1):
            for s in range(M * M):
                own[T * M + t * M * M + s] = steps[s]


@compiled
def chain_moments(chosen, chain, z, starts, moments):
    """moments (d + 1,) += Σ F_i z_i and Σ c_i·z_i of these blocks."""
    M, p = chain.n_labels, chain.n_inputs
    bias = (p + M) * M
    for b in range(len(chosen)):
        i = chosen[b]
        first, last = chain.offsets[i], chain.offsets[i + 1]
        T = last - first
        own = z[starts[b] : starts[b + 1]]
        for t in range(T):
            for y in range(M):
                share = own[t * M + y]
                if share != 0.0:
                    if y != chain.labels[first + t]:
                        moments[len(moments) - 1] += share / T
                    for e in range(chain.starts[first + t], chain.starts[first + t + 1]):
                        moments[chain.columns[e] * M + y] += share * chain.values[e]
                    if chain.biases:
                        moments[bias + y] += share
                        if t == 0:
                            moments[bias + M + y] += share
                        if t == T - 1:
                            moments[bias + 2 * M + y] += share
        for t in range(T - 1):
            for s in range(M * M):
                moments[p * M + s] += own[T * M + t * M * M + s]


@compiled
def all_marginals(chosen, chain, points, starts, marginals):
    """Call `chain_marginals` for each of these blocks."""
    for b in range(len(chosen)):
        T = chain.offsets[chosen[b] + 1] - chain.offsets[chosen[b]]
        own = slice(starts[b], starts[b + 1])
        chain_marginals(T, chain.n_labels, points[own], marginals[own])
