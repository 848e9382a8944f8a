"""A heuristic oracle: best edge first, with at least half of the best score.

Half of a score is no share of a hinge, which is a score minus the target's and may be near 0: so the guarantee of
[LJSP13 §5] for approximate oracles does not hold. Gaps are certified with exact matchings all the same.
"""

from aligner.matching import Task
from aligner.matching._path_kernels import bmatch_blocks_greedily
from corpora.ragged import Bools


def match(task: Task, linked: Bools) -> None:
    """Fast, with at least half of the best score, which bounds no share of a block's gap.

    Of tied edges any may come first. If words may have several links, the next edge is the one that adds most, rewards
    included.
    """
    bmatch_blocks_greedily(task.scores, task.lists, task.source_rewards, task.target_rewards, linked)
