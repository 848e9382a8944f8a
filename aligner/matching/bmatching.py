"""The default oracle: each word's best edges, and where words of both sides contend, shortest augmenting paths."""

from collections import deque
from itertools import pairwise

import numpy as np

from aligner.matching import Task
from aligner.matching._path_kernels import bmatch_blocks
from corpora.ragged import F64, I64, Bools, Lists, word_offsets
from corpora.threads import cores, map_threads

_EDGES_WORTH_A_THREAD = 50_000


def match(task: Task, linked: Bools) -> None:
    """Exact: the best edges of one side alone, where these cost the other side nothing; else shortest paths.

    The words of one side take their best edges, as long as an edge scores more than a further link costs, as if the
    other side had no limits: an upper bound, and the optimum of a pair if no word of the other side must pay. The few
    other pairs need a path for each link, at most O(capacity · J) paths, of O(edges + words²) each.
    """
    edges = np.flatnonzero(task.scores > 0.0)
    pair, rows, columns = edge_words(task.lists, edges)
    sides = (rows, task.source_rewards), (columns, task.target_rewards)
    left = np.arange(len(edges))
    contended = np.zeros(len(task.lists.shapes), np.bool_)
    for (words, rewards), (others, prices) in (sides, sides[::-1]):
        kept = left[best_edges(task.scores[edges[left]], words[left], rewards)]
        links = np.bincount(others[kept])
        contended[:] = False
        contended[pair[kept[links[others[kept]] > _free(prices)]]] = True
        linked[edges[kept[~contended[pair[kept]]]]] = True
        left = left[contended[pair[left]]]
        if not len(left):
            return
    _match_by_paths(task, contended, linked)


def edge_words(lists: Lists, edges: I64) -> tuple[I64, I64, I64]:
    """The pair, source word and target word of each edge, (m,) each; words are numbered through all pairs."""
    pair = np.searchsorted(lists.offsets, edges, side="right") - 1
    first = word_offsets(lists.shapes)
    source, target = (first[pair, side] + lists[side][edges] for side in (0, 1))
    return pair, source, target


def _free(rewards: F64) -> int:
    """The number of links of a word that cost nothing."""
    return 1 + int(np.count_nonzero(rewards == 0.0))


def best_edges(scores: F64, words: I64, rewards: F64) -> I64:
    """Of m edges with positive scores, the indices (n,) of those that their words take if nothing else limits them."""
    crowded = np.flatnonzero(np.bincount(words)[words] > _free(rewards))
    crowded = crowded[np.lexsort((-scores[crowded], words[crowded]))]
    begins = np.flatnonzero(np.diff(words[crowded], prepend=-1))
    rank = np.arange(len(crowded)) - np.repeat(begins, np.diff(begins, append=len(crowded)))
    gains = np.concatenate([[0.0], rewards, [-np.inf]])[np.minimum(rank, len(rewards) + 1)] + scores[crowded]
    return np.delete(np.arange(len(scores)), crowded[gains <= 0.0])


def _match_by_paths(task: Task, pairs: Bools, linked: Bools) -> None:
    """Find the links of the pairs where the mask `pairs` (n,) is set, by shortest paths."""
    lists, edges = task.lists.take(np.flatnonzero(pairs)), np.repeat(pairs, np.diff(task.lists.offsets))
    scores = task.scores[edges]
    found = np.empty(len(scores), np.bool_)

    def run(part: tuple[int, int]) -> None:
        bmatch_blocks(scores, lists, *part, task.source_rewards, task.target_rewards, found)

    deque(map_threads(run, _parts(lists.offsets)), maxlen=0)
    linked[edges] = found


def _parts(offsets: I64) -> list[tuple[int, int]]:
    """Divide the pairs into runs with about as many edges each, enough for all cores."""
    n = len(offsets) - 1
    n_runs = max(1, min(4 * cores(), int(offsets[-1]) // _EDGES_WORTH_A_THREAD)) if cores() > 1 else 1
    cuts = np.searchsorted(offsets, np.linspace(0, offsets[-1], n_runs + 1)).clip(0, n).tolist()
    return [*pairwise(cuts)]
