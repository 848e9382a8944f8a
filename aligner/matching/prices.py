"""What prices certify: by the dual of the matching, no answer of a task scores more than a bound that they give."""

from __future__ import annotations

import numpy as np

from aligner.matching import Task
from aligner.matching.assignment import best_edges, edge_words
from corpora.ragged import F64, I64, Bools


def total_scores(task: Task, linked: Bools) -> F64:
    """(n,) what the matchings of the pairs, linked (E,), are worth, with the rewards of further links."""
    edges = np.flatnonzero(linked)
    pair, rows, columns = edge_words(task.lists, edges)
    total = _add(task, pair, task.scores[edges])
    return total + _rewards(task, pair, rows, task.source_rewards) + _rewards(task, pair, columns, task.target_rewards)


def price_bounds(task: Task, prices: F64) -> F64:
    """(n,) what no matching of a pair is worth more than, whatever the prices of the target words are.

    Σ_k Σ_t max(0, v_k + σ_t) + Σ_j max over sets of edges of row j of (Σ (s(j,k) − v_k) + rewards), with σ_1 = 0:
    columns sell each of their links at v_k, and rows buy what suits them. At the prices of an optimum it is its score.

    prices: (E,) v >= 0 of the target word of each edge.
    """
    pair, rows, columns = edge_words(task.lists, np.arange(len(prices)))
    _, one_of_word = np.unique(columns, return_index=True)
    slots = np.maximum(prices[one_of_word, None] + np.concatenate([[0.0], task.target_rewards]), 0.0).sum(axis=1)
    edges = np.flatnonzero(task.scores > prices)
    profits = task.scores[edges] - prices[edges]
    bought = best_edges(profits, rows[edges], task.source_rewards)
    edges, profits = edges[bought], profits[bought]
    income = _add(task, pair[one_of_word], slots) + _add(task, pair[edges], profits)
    return income + _rewards(task, pair[edges], rows[edges], task.source_rewards)


def _add(task: Task, pair: I64, values: F64) -> F64:
    return np.bincount(pair, values, len(task.lists.shapes)).astype(np.float64, copy=False)  # whole numbers if none


def _rewards(task: Task, pair: I64, words: I64, rewards: F64) -> F64:
    """(n,) rewards of all links after the first of a word.  pair, words: (m,) of the links."""
    _, one_of_word, links = np.unique(words, return_index=True, return_counts=True)
    return _add(task, pair[one_of_word], np.concatenate([[0.0, 0.0], np.cumsum(rewards)])[links])
