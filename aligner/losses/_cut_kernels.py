"""Compiled kernels of associative networks of two labels: minimum cuts, corners, and nearest points of the polytope."""

from typing import NamedTuple

import numpy as np

from aligner.matching._price_kernels import EUCLIDEAN
from aligner.templates import DONE, NOT_FINITE, POSITIVE_REWARD
from corpora.compiled import compiled
from corpora.ragged import F64, I64

BETWEEN, ROUNDING = 10, 1e-16
"""Of nearest points: steps between two duality gaps, and the rounding error of a gap, relative to Σ |points|."""


class CutBlocks(NamedTuple):
    """The arrays of graphs.

    nodes: (N, p) features of all nodes, those of graph i at offsets[i] : offsets[i + 1].  labels: (N,) 0 or 1.
    ends: (M, 2) the nodes of each edge, counted within its graph; edges of graph i at edge_offsets[i] : …[i + 1].
    edges: (M, q) features, >= 0.  incident: (2 M,) the arcs out of each node, arc 2 e from ends[e, 0], 2 e + 1 back, e
    counted within the graph; of node j at starts[j] : starts[j + 1].
    """

    nodes: F64
    labels: I64
    offsets: I64
    ends: I64
    edges: F64
    edge_offsets: I64
    incident: I64
    starts: I64


class CutScratch(NamedTuple):
    """Workspaces for the largest graph.  gains, source, sink: (N,).  capacity: (2 M,) of arcs.  others: (N,)."""

    gains: F64
    source: F64
    sink: F64
    capacity: F64
    level: I64
    place: I64
    queue: I64
    path: I64


@compiled
def cut_scratch(cuts):
    most, edges = 0, 0
    for i in range(len(cuts.offsets) - 1):
        most = max(most, cuts.offsets[i + 1] - cuts.offsets[i])
        edges = max(edges, cuts.edge_offsets[i + 1] - cuts.edge_offsets[i])
    return CutScratch(
        gains=np.empty(most),
        source=np.empty(most),
        sink=np.empty(most),
        capacity=np.empty(2 * edges),
        level=np.empty(most, np.int64),
        place=np.empty(most, np.int64),
        queue=np.empty(most, np.int64),
        path=np.empty(most, np.int64),
    )


@compiled
def measure_cut(i, cuts, w, cost, scratch):
    """Fill what label 1 of each node is worth, `gains`, and the capacities of edges.  Returns a code.

    cost: factor of the losses, 1/N for each node.
    """
    first, last, begin = cuts.offsets[i], cuts.offsets[i + 1], cuts.edge_offsets[i]
    p, share = cuts.nodes.shape[1], cost / (last - first)
    for j in range(last - first):
        gain = share if cuts.labels[first + j] == 0 else -share
        for c in range(p):
            gain += w[c] * cuts.nodes[first + j, c]
        if not np.isfinite(gain):
            return NOT_FINITE
        scratch.gains[j] = gain
    for e in range(cuts.edge_offsets[i + 1] - begin):
        capacity = 0.0
        for c in range(cuts.edges.shape[1]):
            capacity -= w[p + c] * cuts.edges[begin + e, c]
        if not np.isfinite(capacity):
            return NOT_FINITE
        if capacity < 0.0:
            return POSITIVE_REWARD
        scratch.capacity[2 * e] = scratch.capacity[2 * e + 1] = capacity
    return DONE


@compiled
def find_levels(i, cuts, scratch):
    """Set the levels of nodes that have a residual path from the source, −1 of others; whether one reaches the sink."""
    first, n = cuts.offsets[i], cuts.offsets[i + 1] - cuts.offsets[i]
    begin, end, reached = 0, 0, False
    for j in range(n):
        scratch.level[j] = -1
        if scratch.source[j] > 0.0:
            scratch.level[j] = 0
            scratch.queue[end] = j
            end += 1
    while begin < end:
        j = scratch.queue[begin]
        begin += 1
        reached = reached or scratch.sink[j] > 0.0
        for a in range(cuts.starts[first + j], cuts.starts[first + j + 1]):
            arc = cuts.incident[a]
            k = cuts.ends[cuts.edge_offsets[i] + arc // 2, 1 - arc % 2]
            if scratch.capacity[arc] > 0.0 and scratch.level[k] < 0:
                scratch.level[k] = scratch.level[j] + 1
                scratch.queue[end] = k
                end += 1
    return reached


@compiled
def push_from(i, root, cuts, scratch):
    """Push flow from a node along paths of rising levels, until there is none  [Dinic 1970]."""
    first, begin = cuts.offsets[i], cuts.edge_offsets[i]
    depth, j = 0, root
    while scratch.source[root] > 0.0:
        if scratch.sink[j] > 0.0:
            flow = min(scratch.source[root], scratch.sink[j])
            for d in range(depth):
                flow = min(flow, scratch.capacity[scratch.path[d]])
            scratch.source[root] -= flow
            scratch.sink[j] -= flow
            for d in range(depth):
                scratch.capacity[scratch.path[d]] -= flow
                scratch.capacity[scratch.path[d] ^ 1] += flow
            depth, j = 0, root
            continue
        if scratch.place[j] < cuts.starts[first + j + 1]:
            arc = cuts.incident[scratch.place[j]]
            k = cuts.ends[begin + arc // 2, 1 - arc % 2]
            if scratch.capacity[arc] > 0.0 and scratch.level[k] == scratch.level[j] + 1:
                scratch.path[depth] = arc
                depth, j = depth + 1, k
            else:
                scratch.place[j] += 1
        elif depth == 0:
            return
        else:  # a dead end: back to where the arc begins, and past it
            depth -= 1
            arc = scratch.path[depth]
            j = cuts.ends[begin + arc // 2, arc % 2]
            scratch.place[j] += 1


@compiled
def cut_graph(i, cuts, scratch):
    """Find the labels argmax_z Σ z_j gains_j − Σ capacity_jk |z_j − z_k|: 1 where `level` is not below 0 afterwards."""
    first, n = cuts.offsets[i], cuts.offsets[i + 1] - cuts.offsets[i]
    for j in range(n):
        scratch.source[j] = max(scratch.gains[j], 0.0)
        scratch.sink[j] = max(-scratch.gains[j], 0.0)
    while find_levels(i, cuts, scratch):
        for j in range(n):
            scratch.place[j] = cuts.starts[first + j]
        for j in range(n):
            push_from(i, j, cuts, scratch)


@compiled
def cut_corner(i, cuts, w, scratch, psi):
    """`Compiled.corner`."""
    code = measure_cut(i, cuts, w, 1.0, scratch)
    if code != DONE:
        return code, 0.0, 0.0
    cut_graph(i, cuts, scratch)
    first, n, p = cuts.offsets[i], cuts.offsets[i + 1] - cuts.offsets[i], cuts.nodes.shape[1]
    psi[:] = 0.0
    wrong = 0
    for j in range(n):
        change = cuts.labels[first + j] - (1 if scratch.level[j] >= 0 else 0)
        wrong += abs(change)
        for c in range(p):
            psi[c] += change * cuts.nodes[first + j, c]
    for e in range(cuts.edge_offsets[i], cuts.edge_offsets[i + 1]):
        j, k = cuts.ends[e]
        change = abs(cuts.labels[first + j] - cuts.labels[first + k])
        change -= 1 if (scratch.level[j] >= 0) != (scratch.level[k] >= 0) else 0
        for c in range(cuts.edges.shape[1]):
            psi[p + c] += change * cuts.edges[e, c]
    hinge = wrong / n
    for c in range(len(psi)):
        hinge -= w[c] * psi[c]
    return DONE, wrong / n, hinge


@compiled
def predict_cuts(cuts, w, labels):
    """Fill the labels (N,) of greatest score.  Returns a code."""
    scratch = cut_scratch(cuts)
    for i in range(len(cuts.offsets) - 1):
        code = measure_cut(i, cuts, w, 0.0, scratch)
        if code != DONE:
            return code
        cut_graph(i, cuts, scratch)
        for j in range(cuts.offsets[i + 1] - cuts.offsets[i]):
            labels[cuts.offsets[i] + j] = 1 if scratch.level[j] >= 0 else 0
    return DONE


@compiled
def free(geometry, u):
    """Return argmax u z − Ω(z) over 0 <= z <= 1."""
    return min(max(u, 0.0), 1.0) if geometry == EUCLIDEAN else np.exp(min(u, 0.0))


@compiled
def fill_nodes(geometry, points, ends, flows, z):
    """Fill the best nodes z (N,) if these flows run along the edges."""
    z[:] = points[: len(z)]
    for e in range(len(flows)):
        z[ends[e, 0]] -= flows[e]
        z[ends[e, 1]] += flows[e]
    for j in range(len(z)):
        z[j] = free(geometry, z[j])


@compiled
def fill_marginals(geometry, points, ends, flows, z):
    """Fill the marginals z (N + M,) of these flows; returns their duality gap, a sum of what is never below 0."""
    n, gap = len(z) - len(flows), 0.0
    fill_nodes(geometry, points, ends, flows, z[:n])
    for e in range(len(flows)):
        apart, size = z[ends[e, 0]] - z[ends[e, 1]], abs(flows[e])
        u = points[n + e] + size
        best, own = free(geometry, u), max(free(geometry, points[n + e]), abs(apart))
        z[n + e] = own
        if geometry == EUCLIDEAN:
            gap += 0.5 * (own - best) ** 2 + (best - u) * (own - best)
        else:
            gap += (own * (np.log(own) - u) if own > 0.0 else 0.0) - own + best + max(u, 0.0)
        gap += size * own - flows[e] * apart
    return gap


@compiled
def nearest_cut(geometry, i, cuts, points, tolerance, most, flows, z):
    """Fill z = (z_j of nodes, d_jk of edges), argmax ⟨points, z⟩ − Ω(z) over 0 <= z <= 1, |z_j − z_k| <= d_jk <= 1.

    Its dual is a flow of quadratic or exponential cost: min Σ_j Ω*(q_j − flow out of j) + Σ_jk Ω*(q_jk + |flow_jk|).
    As z <= 1, Ω is as curved as ½ ‖z‖² or more in both geometries: step lengths are the same, and ½ ‖z − z*‖² <= gap.
    Accelerated proximal steps with restarts [Beck and Teboulle 2009; O'Donoghue and Candès 2015], until the duality gap
    is at most `tolerance`, but for rounding, or for `most` steps; z is feasible in either case.
    flows: (M,) from ends[e, 0] to ends[e, 1], where it begins and ends.
    """
    m, starts = len(flows), cuts.starts[cuts.offsets[i] :]
    n, ends = len(points) - m, cuts.ends[cuts.edge_offsets[i] : cuts.edge_offsets[i + 1]]
    ahead, new, momentum, allowed = flows.copy(), np.empty(m), 1.0, tolerance + ROUNDING * np.abs(points).sum()
    for step in range(most):
        if step % BETWEEN == 0 and fill_marginals(geometry, points, ends, flows, z) <= allowed:
            return
        fill_nodes(geometry, points, ends, ahead, z[:n])
        uphill = 0.0
        for e in range(m):
            j, k, alone = ends[e, 0], ends[e, 1], free(geometry, points[n + e])
            curvature = 1.0 + starts[j + 1] - starts[j] + starts[k + 1] - starts[k]
            smooth = np.sign(ahead[e]) * (free(geometry, points[n + e] + abs(ahead[e])) - alone)
            goal = ahead[e] + (z[j] - z[k] - smooth) / curvature
            new[e] = np.sign(goal) * max(0.0, abs(goal) - alone / curvature)
            uphill += curvature * (new[e] - ahead[e]) * (new[e] - flows[e])
        faster = 0.5 + np.sqrt(0.25 + momentum * momentum)
        rate = (momentum - 1.0) / faster if uphill >= 0.0 else 0.0
        momentum = faster if uphill >= 0.0 else 1.0
        for e in range(m):
            ahead[e], flows[e] = new[e] + rate * (new[e] - flows[e]), new[e]
    fill_marginals(geometry, points, ends, flows, z)


@compiled
def nearest_cuts(geometry, blocks, cuts, points, starts, tolerance, most, duals, dual_starts, z):
    """`nearest_cut` of these blocks, one after the other at starts and dual_starts."""
    for b in range(len(blocks)):
        own, of_duals = slice(starts[b], starts[b + 1]), slice(dual_starts[b], dual_starts[b + 1])
        nearest_cut(geometry, blocks[b], cuts, points[own], tolerance, most, duals[of_duals], z[own])
