"""A reference oracle: min-cost flow, by networkx's network simplex on scores scaled to integers."""

import networkx as nx
import numpy as np

from aligner.matching import Task
from aligner.matching._references import Positive, match_one_by_one
from corpora.ragged import F64, Bools

RESOLUTION = 2**40
"""The greatest score becomes about this integer, so each edge is off by at most greatest / (2 RESOLUTION) and the
matching found is within min(J, K) * greatest / RESOLUTION of the optimum: 1e-12 of the greatest score per link.
Each reward is off by as much, so that a link that brings two of them may be off by thrice as much."""


def match(task: Task, linked: Bools) -> None:
    """Exact up to rounding (see RESOLUTION): the network simplex itself works on integers.

    Each link that a word may have is an arc of its own  [LTKJ06 §3].
    """
    match_one_by_one(_best, task, linked)


def _best(edges: Positive, source_rewards: F64, target_rewards: F64) -> Bools:
    J, K, rows, columns, scores = edges
    scale = RESOLUTION / float(scores.max())
    flow = min(J * (len(source_rewards) + 1), K * (len(target_rewards) + 1))
    graph = nx.MultiDiGraph()
    graph.add_node("in", demand=-flow)
    graph.add_node("out", demand=flow)
    graph.add_edge("in", "out", weight=0, capacity=flow)  # what is not worth linking passes by
    for j in np.unique(rows).tolist():
        for reward in [0.0, *source_rewards.tolist()]:
            graph.add_edge("in", ("row", j), weight=-round(reward * scale), capacity=1)
    for k in np.unique(columns).tolist():
        for reward in [0.0, *target_rewards.tolist()]:
            graph.add_edge(("column", k), "out", weight=-round(reward * scale), capacity=1)
    for j, k, score in zip(rows.tolist(), columns.tolist(), scores.tolist(), strict=True):
        graph.add_edge(("row", j), ("column", k), weight=-round(score * scale), capacity=1)
    _, flows = nx.network_simplex(graph)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return np.array([flows[("row", j)][("column", k)][0] > 0 for j, k in pairs])
