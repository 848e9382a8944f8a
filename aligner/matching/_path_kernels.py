"""Compiled kernels of maximum-weight matching of listed edges; words may have several links at decreasing rewards.

maximise  Σ_jk s(j,k) z(j,k) + Σ_j Σ_{t=2..deg(j)} ρ_t + Σ_k Σ_{t=2..deg(k)} σ_t  over z in {0,1}^(J, K) with row
and column sums within the capacities, 0 >= ρ_2 >= ρ_3 >= ..., and σ likewise: a min-cost flow with convex costs, whose
arcs hold one unit each  [LTKJ06 §3].

An edge of s <= 0 is never needed: without it both of its words lose their last reward, which is <= 0 as well. So
the kernels work on the edges of positive score only.
"""

from typing import NamedTuple

import numpy as np

from corpora.compiled import MAXIMA, compiled
from corpora.ragged import F64, I64, Bools


class Flow(NamedTuple):
    """Scratch of the b-matching kernels. The nodes of the flow are the J rows, then the K columns.

    Edges of positive score, row by row: row j has edges starts[j] to starts[j + 1].  row, column: their nodes.
    place: their places among the listed edges.
    joined: (N, capacity) the edges linked to each column, the first degree[k] of a row in use.
    price: dual variables.  label: distance in a search; unscanned: the same until the node is scanned, +inf from then
    on; parent: the edge that a node was reached by.
    """

    starts: I64
    place: I64
    row: I64
    column: I64
    score: F64
    linked: Bools
    joined: I64
    degree: I64
    price: F64
    label: F64
    unscanned: F64
    parent: I64
    scanned: I64


@compiled
def largest(lists, first, last):
    """Return (the longest side, the most edges) of pairs first .. last, each at least 1."""
    words, edges = 1, 1
    for i in range(first, last):
        words = max(words, max(lists.shapes[i, 0], lists.shapes[i, 1]))
        edges = max(edges, lists.offsets[i + 1] - lists.offsets[i])
    return words, edges


@compiled
def make_flow(lists, first, last, target_capacity):
    """Make scratch for the largest of pairs first .. last."""
    words, edges = largest(lists, first, last)
    nodes = 2 * words
    return Flow(
        starts=np.empty(words + 1, np.int64),
        place=np.empty(edges, np.int64),
        row=np.empty(edges, np.int64),
        column=np.empty(edges, np.int64),
        score=np.empty(edges),
        linked=np.empty(edges, np.bool_),
        joined=np.empty((nodes, target_capacity), np.int64),
        degree=np.empty(nodes, np.int64),
        price=np.empty(nodes),
        label=np.empty(nodes),
        unscanned=np.empty(nodes),
        parent=np.empty(nodes, np.int64),
        scanned=np.empty(nodes, np.int64),
    )


@compiled(inline="always")
def begin(scores, source, target, J, K, flow):
    """Begin with no links, and with the edges of positive score."""
    size = 0
    rows = 0
    for e in range(len(scores)):
        if scores[e] > 0.0:
            while rows <= source[e]:
                flow.starts[rows] = size
                rows += 1
            flow.place[size] = e
            flow.row[size] = source[e]
            flow.column[size] = J + target[e]
            flow.score[size] = scores[e]
            flow.linked[size] = False
            size += 1
    flow.starts[rows : J + 1] = size
    flow.degree[: J + K] = 0


@compiled(inline="always")
def write_links(J, flow, linked):
    """Set linked to which of the listed edges are linked."""
    linked[:] = False
    for e in range(flow.starts[J]):
        linked[flow.place[e]] = flow.linked[e]


@compiled(inline="always")
def reward(rewards, links):
    """Return ρ of the next link of a word that has `links` already; the first has 0."""
    return rewards[links - 1] if links > 0 else 0.0


@compiled(fastmath=MAXIMA)
def least(labels):
    lowest = np.inf
    for i in range(len(labels)):
        lowest = labels[i] if labels[i] < lowest else lowest
    return lowest


@compiled(inline="always")
def search(source, length, J, K, source_rewards, target_rewards, flow):
    """Find the shortest path for one more unit of flow into row `source`, on reduced costs; updates the duals.

    length: the cost of leaving the unit out.  Dijkstra's method, alternating between rows, which take up edges, and
    columns, which give links back, until the unit leaves through a column below capacity or a row that gives up a link.
    Returns the node where it leaves; `source`: the unit is best left out.
    """
    capacity = len(target_rewards) + 1
    price, label, unscanned = flow.price, flow.label, flow.unscanned
    open_rows, open_columns = unscanned[:J], unscanned[J : J + K]
    label[: J + K] = np.inf
    unscanned[: J + K] = np.inf
    label[source] = 0.0
    node, reached = source, 0.0
    exit_node = source
    n_scanned = 0
    while True:
        unscanned[node] = np.inf
        flow.scanned[n_scanned] = node
        n_scanned += 1
        own = price[node]
        if node < J:
            for e in range(flow.starts[node], flow.starts[node + 1]):
                k = flow.column[e]
                # Reduced costs are >= 0 but for rounding, which must not reopen a scanned node.
                through = reached + max(0.0, own + price[k] - flow.score[e])
                if through < label[k] and not flow.linked[e]:
                    label[k] = through
                    unscanned[k] = through
                    flow.parent[k] = e
                    links = flow.degree[k]
                    if links < capacity:
                        end = through + max(0.0, -price[k] - reward(target_rewards, links))
                        if end < length:
                            length = end
                            exit_node = k
        else:
            for slot in range(flow.degree[node]):
                e = flow.joined[node, slot]
                j = flow.row[e]
                through = reached + max(0.0, flow.score[e] - price[j] - own)
                if through < label[j]:
                    label[j] = through
                    unscanned[j] = through
                    flow.parent[j] = e
                    end = through + max(0.0, price[j] + reward(source_rewards, flow.degree[j] - 1))
                    if end < length:
                        length = end
                        exit_node = j
        nearest_row, nearest_column = least(open_rows), least(open_columns)
        reached = min(nearest_row, nearest_column)
        if reached >= length:
            break
        node = 0
        if nearest_row <= nearest_column:
            while open_rows[node] != reached:
                node += 1
        else:
            while open_columns[node] != reached:
                node += 1
            node += J
    for t in range(n_scanned):
        node = flow.scanned[t]
        if node < J:
            price[node] = max(0.0, price[node] - (length - label[node]))
        else:
            price[node] += length - label[node]
    return exit_node


@compiled(inline="always")
def augment(source, exit_node, J, flow):
    """Send a unit of flow from row `source` along the parents to where it leaves."""
    flow.degree[source] += 1
    if exit_node < J:
        flow.degree[exit_node] -= 1
    else:
        flow.joined[exit_node, flow.degree[exit_node]] = flow.parent[exit_node]
        flow.degree[exit_node] += 1
    node = exit_node
    while node != source:
        e = flow.parent[node]
        if node < J:  # gives the link back to its column, which has another in its place
            flow.linked[e] = False
            node = flow.column[e]
            slot = 0
            while flow.joined[node, slot] != e:
                slot += 1
            flow.joined[node, slot] = flow.parent[node]
        else:
            flow.linked[e] = True
            node = flow.row[e]


@compiled
def bmatch_block(scores, source, target, J, K, source_rewards, target_rewards, flow, linked):
    """Find the best b-matching of the listed edges of one pair, (E,), and write it to linked (E,).

    Successive shortest paths: the links that rows may have are allowed one after another, and one unit of flow keeps
    the flow optimal each time. A row's next link is worth no more than one it does without, so that ends the row.

    source_rewards: (capacity - 1,) ρ from the second link on.  target_rewards: σ likewise.
    Also leaves optimal duals >= 0, u (J,) then v (K,), in flow.price: the score of the matching is
    Σ_j Σ_t max(0, u_j + ρ_t) + Σ_k Σ_t max(0, v_k + σ_t) + Σ_jk max(0, s(j,k) - u_j - v_k), with ρ_1 = σ_1 = 0.
    """
    begin(scores, source, target, J, K, flow)
    capacity = len(source_rewards) + 1
    flow.price[: J + K] = 0.0
    for j in range(J):
        highest = 0.0
        for e in range(flow.starts[j], flow.starts[j + 1]):
            highest = max(highest, flow.score[e] - flow.price[flow.column[e]])
        flow.price[j] = highest
        for links in range(capacity):
            length = flow.price[j] + reward(source_rewards, links)
            if length <= 0.0:
                break
            exit_node = search(j, length, J, K, source_rewards, target_rewards, flow)
            if exit_node == j:
                break
            augment(j, exit_node, J, flow)
    write_links(J, flow, linked)


@compiled
def bmatch_blocks(scores, lists, first, last, source_rewards, target_rewards, linked):
    """Find the best b-matchings of pairs first .. last, and write them to linked (E,)."""
    flow = make_flow(lists, first, last, len(target_rewards) + 1)
    for i in range(first, last):
        edges = slice(lists.offsets[i], lists.offsets[i + 1])
        bmatch_block(
            scores[edges],
            lists.source[edges],
            lists.target[edges],
            lists.shapes[i, 0],
            lists.shapes[i, 1],
            source_rewards,
            target_rewards,
            flow,
            linked[edges],
        )


@compiled
def bmatch_blocks_greedily(scores, lists, source_rewards, target_rewards, linked):
    """Match all pairs greedily, always by the edge that adds most at the time, and write it to linked (E,).

    At least half of the best score. Let O be an optimum that holds all links taken so far, and (j, k) the next, which
    adds m. Put it into O, in place of a later link of row j and one of column k, if O has such links: as neither added
    more than m to the links taken, O loses m at most, and in the end no link of O adds anything.
    """
    source_capacity, target_capacity = len(source_rewards) + 1, len(target_rewards) + 1
    flow = make_flow(lists, np.int64(0), len(lists.shapes), target_capacity)
    for i in range(len(lists.shapes)):
        edges = slice(lists.offsets[i], lists.offsets[i + 1])
        J, K = lists.shapes[i, 0], lists.shapes[i, 1]
        begin(scores[edges], lists.source[edges], lists.target[edges], J, K, flow)
        while True:
            best, highest = -1, 0.0
            for e in range(flow.starts[J]):
                row_links, column_links = flow.degree[flow.row[e]], flow.degree[flow.column[e]]
                if flow.score[e] <= highest or flow.linked[e]:
                    continue
                if row_links < source_capacity and column_links < target_capacity:
                    gain = flow.score[e] + reward(source_rewards, row_links)
                    gain += reward(target_rewards, column_links)
                    if gain > highest:
                        best, highest = e, gain
            if best < 0:
                break
            flow.linked[best] = True
            flow.degree[flow.row[best]] += 1
            flow.degree[flow.column[best]] += 1
        write_links(J, flow, linked[edges])
