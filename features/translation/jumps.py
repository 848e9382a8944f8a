"""Jump weights of the HMM, from expected jumps.

Words that are frequent in the text have weights of their own: for the jump from them to the position of the next word
[He07], past an adjective back to its noun, from an article on to what it belongs to; and for the jump that reaches
them. All others share a group.

[He07]: see `translation.model`.
[DR72] Darroch and Ratcliff 1972, Generalized iterative scaling for log-linear models.
[Hunter 2004] Hunter 2004, MM algorithms for generalized Bradley-Terry models.
"""

import numpy as np

from corpora.ragged import F64, I32
from features.translation import _lattice_kernels as lattices
from features.translation._lattice_kernels import INSIDE, LEAVING, REACHING, WIDTHS, WINDOW, Jumps, JumpWeights

_PSEUDO_COUNT = 30.0
"""Jumps that a group is taken to have made, as all words together make them."""

_FREQUENT = 10.0
"""Occurrences from which on a word is a group of its own."""

_FIRST_PEAK = 0.3
"""How fast the first weights fall with each position from the next word."""

SURE_STEP = 0.5
LONG_STEP = 1.0
LONG_STEPS = 3
"""Passes of the HMM whose steps are long."""

_ROUNDS = 5
_LEAST = 1e-8
"""Weights stay above this: a jump that is needed must not be impossible."""

_NONE = np.empty(0, np.int32)


def group_words(occurrences: F64, known: I32 = _NONE) -> I32:
    """(V,) the group of each word: 0 of those that are not frequent.  known: (V or fewer,) groups that stay."""
    groups = np.zeros(len(occurrences), np.int32)
    groups[: len(known)] = known
    new = np.flatnonzero((occurrences >= _FREQUENT) & (groups == 0))
    groups[new] = np.arange(len(new)) + known.max(initial=0) + 1
    return groups


def first_jumps(groups: I32) -> JumpWeights:
    """Weights of the first pass, by which the next word is likeliest, as in most languages.  groups: (V,)."""
    shared, inside = np.ones(lattices.N_JUMPS), np.ones((2, groups.max(initial=0) + 1, WIDTHS))
    shared[INSIDE : INSIDE + WIDTHS] = np.exp(-_FIRST_PEAK * np.abs(np.arange(WIDTHS) - WINDOW - 1))
    inside[LEAVING] = _mean(shared)
    return JumpWeights(shared, inside, groups)


def new_jumps(groups: I32) -> Jumps:
    """No jumps, to be counted.  groups: (V,)."""
    inside, needs = np.zeros((2, 2, groups.max(initial=0) + 1, WIDTHS))
    return Jumps(np.zeros(lattices.N_JUMPS), np.zeros(lattices.CONTEXTS), inside, needs)


def with_groups(jumps: Jumps, weights: JumpWeights, groups: I32) -> tuple[Jumps, JumpWeights]:
    """The same with more groups, which have made no jumps.  groups: (V,)."""
    old = jumps.inside.shape[1]
    more, even = new_jumps(groups), first_jumps(groups)
    even.inside[LEAVING] = _mean(weights.shared)
    for mine, others in ((more.inside, jumps.inside), (more.needs, jumps.needs), (even.inside, weights.inside)):
        mine[:, :old] = others
    return jumps._replace(inside=more.inside, needs=more.needs), JumpWeights(weights.shared, even.inside, groups)


def fit_jumps(jumps: Jumps, weights: JumpWeights, smoothing: float, step: float = SURE_STEP) -> JumpWeights:
    """Weights that make the expected jumps more likely than the given weights do, or as likely.

    smoothing: factor of the pseudo-count, with which groups jump as all words do.  step: SURE_STEP or LONG_STEP.
    With n(d) jumps of width d of a group and its weight w(d), n(d) / needs(d) is the weight by which as many would have
    been expected. As two weights make a jump, each goes half of the way: w(d) <- sqrt(w(d) n(d) / needs(d)) never
    lowers the likelihood  [DR72]. Both may go the whole way while they are far from where they belong.
    """
    shared = _fit_shared(jumps, weights.shared)
    mean = _mean(shared)
    inside = weights.inside.copy()
    for side, even in ((LEAVING, 1.0), (REACHING, mean)):
        needs = jumps.needs[side] + smoothing * _PSEUDO_COUNT * even
        counts = jumps.inside[side] + smoothing * _PSEUDO_COUNT * mean
        np.divide(counts, needs, out=counts, where=needs > 0.0)
        inside[side] = np.where(needs > 0.0, inside[side] ** (1.0 - step) * counts**step, inside[side])
    inside[LEAVING] /= inside[LEAVING].sum(axis=1, keepdims=True)
    return JumpWeights(shared, np.maximum(inside, _LEAST), weights.groups)


def _mean(shared: F64) -> F64:
    """(WIDTHS,) chances of a jump inside a sentence where all widths are in reach."""
    inside: F64 = shared[INSIDE : INSIDE + WIDTHS] / shared[INSIDE : INSIDE + WIDTHS].sum()
    return inside


def _fit_shared(jumps: Jumps, weights: F64) -> F64:
    """Shared weights, (N_JUMPS,), with which the expected jumps of all words are likelier than with the given ones.

    A jump of width d is chosen with probability w(d) / Σ_r w(r) over the widths r that stay in the sentence, by a few
    contexts: the positions to either side. The likelihood is a Bradley-Terry model's with comparisons of many
    at once, and w(d) <- n(d) / Σ_context n(context) / Σ_r w(r) never lowers it  [Hunter 2004].
    """
    near = np.tri(WINDOW, dtype=bool)  # the first n widths, n = 1 .. WINDOW
    reach = np.arange(WINDOW + 1)
    width = np.arange(WIDTHS) - WINDOW
    inside = ((width >= -reach[:, None, None]) & (width <= reach[None, :, None])).reshape(-1, WIDTHS)
    fitted = weights.copy()
    for start, size, reached, n in (
        (lattices.START, WINDOW, near, jumps.contexts[0, 0, 1:]),
        (INSIDE, WIDTHS, inside, jumps.contexts[1].ravel()),
        (lattices.END, WINDOW, near, jumps.contexts[2, 0, 1:]),
    ):
        part = slice(start, start + size)
        fitted[part] = _fit(jumps.counts[part], reached.astype(np.float64), n, fitted[part])
    return fitted


def _fit(counts: F64, reach: F64, n: F64, weights: F64) -> F64:
    """counts: (D,) jumps by width.  reach: (contexts, D) 1 where the width stays inside.  n: (contexts,) choices."""
    if counts.sum() <= 0.0:
        return weights
    for _ in range(_ROUNDS):
        needed = (n / (reach @ weights)) @ reach
        weights = np.where(needed > 0.0, counts / np.where(needed > 0.0, needed, 1.0), weights)
        weights = np.maximum(weights / weights.sum(), _LEAST)
    return weights
