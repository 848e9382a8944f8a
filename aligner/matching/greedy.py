"""A heuristic oracle: best edge first, at least half of the best score.

Half of a score is no share of a hinge, which is a score less that of the target and may be near 0: what [LJSP13 §5]
promises of approximate oracles is not promised of this one. Gaps are certified with exact matchings all the same.
"""

from aligner.matching import Task
from aligner.matching._kernels import bmatch_blocks_greedily
from corpora.ragged import Bools


def match(task: Task, linked: Bools) -> None:
    """Fast, and at least half of the best score; that bounds no share of a block's gap.

    Of tied edges any may come first. With several links a word the edge that adds most is next, with the rewards it
    brings.
    """
    bmatch_blocks_greedily(task.scores, task.lists, task.source_rewards, task.target_rewards, linked)
