"""Compiled kernels that remember which edges of a block may score above 0 while w stays near.

Only edges that score above 0 can be in a best matching, and most edges are far below. With x_e the features of an edge,
x̄ any fixed vector and s_e(w) its loss-augmented score,

    s_e(w) = s_e(v) + (w − v)·x̄ + (w − v)·(x_e − x̄) <= s_e(v) + t (‖x_e − x̄‖ + κ),

where t = max(‖w − v‖, (w − v)·x̄ / κ). A block that is scored in full at v lists the edges with
s_e(v) > −r (‖x_e − x̄‖ + κ); as long as t < r no other edge can score above 0, and only those listed are scored. The
answer of the oracle is the same to the last bit. It is what is called safe screening of features in the lasso
[El Ghaoui, Viallon and Rabbani 2012], here of the variables of the oracle's linear program.

Threads may ask about the same block at once: what is remembered of it belongs to one at a time, and the others go
without.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from aligner.svm._intrinsics import exchange_shared, prefetch, store_shared
from features.codes import KAPPA, LINE

FIELDS = 8
OWNED, SIZE, USES = range(3)
"""Fields of a record, which takes a cache line: whether a thread is at it, edges listed, times the list has served."""

SHARE = 8
"""One edge in so many can be listed."""

MOST_USES = 16
"""After so many uses of a list a new one is made, as w may move less by now and shorter lists would do."""

AHEAD = 4.0
"""A new list is made to serve for so many times the way that w went from one question about the block to the next."""

HALVINGS = 3
"""Where there is room for less: after so many there is no list, as w is about to go too far."""

SHORTEST = 1e-4
"""Share of ‖w‖ that a radius is at least, before it is halved."""

MARGIN = 1e-5
"""Share of a radius that is given to rounding."""


class Screen(NamedTuple):
    """What the n blocks remember; all arrays are empty where nothing is.

    records: (n * FIELDS,) int64, zeros at first.  references: (n, 1 + d) float32, r and v, zeros at first.
    listed: (E // SHARE + 1,) int32, places of edges in block i, ascending, from offsets[i] // SHARE on.
    rows: (E // SHARE + 1, d + 1) int16, what `pack_rows` makes of them.
    """

    records: npt.NDArray[np.int64]
    references: npt.NDArray[np.float32]
    listed: npt.NDArray[np.int32]
    rows: npt.NDArray[np.int16]


def new_screen(n_blocks: int, n_edges: int, n_features: int) -> Screen:
    """Nothing is remembered yet."""
    return Screen(
        np.zeros(n_blocks * FIELDS, np.int64),
        np.zeros((n_blocks, 1 + n_features), np.float32),
        np.empty(n_edges // SHARE + 1, np.int32),
        np.empty((n_edges // SHARE + 1, n_features + 1), np.int16),
    )


@nb.njit(cache=True, nogil=True)
def take_record(i, records):
    """Whether what block i remembers is now this thread's."""
    return exchange_shared(records, i * FIELDS + OWNED, 0, 1)


@nb.njit(cache=True, nogil=True)
def give_record(i, records):
    store_shared(records, i * FIELDS + OWNED, 0)


@nb.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def distance_moved(i, w, centre, references):
    """t of block i at w; NaN and infinities where w has them."""
    square = 0.0
    along = 0.0
    for c in range(len(centre)):
        step = w[c] - references[i, 1 + c]
        square += step * step
        along += step * centre[c]
    return max(np.sqrt(square), along / KAPPA)


@nb.njit(cache=True, nogil=True)
def recall(i, moved, start, records, references, listed, edges, places):
    """Fill edges with those listed of block i, from `start` of the list on, and the place in the list of each edge.

    moved: `distance_moved` of the block.  Returns their number, -1 where the list does not serve.
    """
    record = i * FIELDS
    if not moved < references[i, 0] or records[record + USES] >= MOST_USES:
        return -1
    records[record + USES] += 1
    size = records[record + SIZE]
    for t in range(size):
        edges[t] = listed[start + t]
        places[edges[t]] = start + t
    return size


@nb.njit(cache=True, nogil=True, error_model="numpy")
def measure_margins(scores, least, distances, margins):
    """Fill margins with minus the radius from which on each edge is to be listed."""
    for e in range(len(distances)):
        margins[e] = (scores[e] - least) / distances[e]


@nb.njit(cache=True, nogil=True)
def count_above(margins, least):
    """How many margins are above `least`."""
    found = np.int32(0)
    for e in range(len(margins)):
        found += np.int32(margins[e] > least)
    return found


@nb.njit(cache=True, nogil=True)
def choose_radius(i, moved, norm, margins, room, records):
    """A radius for which at most `room` edges are to be listed; 0 where none is worth it."""
    radius = max(AHEAD * moved / (records[i * FIELDS + USES] + 1), SHORTEST * norm)
    for _ in range(1 + HALVINGS):
        if count_above(margins, -np.float32(radius)) <= room:
            return radius
        radius *= 0.5
    return 0.0


@nb.njit(cache=True, nogil=True)
def remember(i, radius, w, norm, found, edges, start, records, references, listed):
    """List these edges of block i, ascending, from `start` of the list on, as all that may score above 0 near w.

    radius: 0 for no list; only w is remembered then.
    """
    if radius > 0.0:
        for t in range(found):
            listed[start + t] = edges[t]
    for c in range(references.shape[1] - 1):
        references[i, 1 + c] = w[c]
    # v is rounded to float32, which moves it by less than ‖v‖ 2^-24.
    references[i, 0] = radius * (1.0 - MARGIN) - 1e-6 * norm if radius > 0.0 else 0.0
    records[i * FIELDS + SIZE] = found
    records[i * FIELDS + USES] = 0


@nb.njit(cache=True, nogil=True)
def ask_for_list(i, start, records, references, listed):
    """Ask for what block i remembers, but for the rows, ahead of its use."""
    prefetch(records, i * FIELDS)
    width = references.shape[1]
    flat = references.reshape(-1)
    for c in range(0, width, LINE // 4):
        prefetch(flat, i * width + c)
    for t in range(0, 4 * (LINE // 4), LINE // 4):
        prefetch(listed, start + t)


@nb.njit(cache=True, nogil=True)
def ask_for_rows(i, start, room, records, references, rows):
    """Ask for the rows of the edges that block i lists, `room` at most."""
    if not references[i, 0] > 0.0:
        return
    width = rows.shape[1]
    flat = rows.reshape(-1)
    for at in range(start * width, (start + min(records[i * FIELDS + SIZE], room)) * width, LINE // 2):
        prefetch(flat, at)
