"""Word alignment of parallel text, by weights learnt from hand-aligned pairs and exact bipartite matching.

    >>> import aligner
    >>> training = aligner.train("corpora/sample/train")        # text and links: train.en, train.fr, train.wa
    >>> found = training.model.align("a red house".split(), "une maison rouge".split())
    >>> sorted(found)
    [(0, 0), (1, 2), (2, 1)]

`train` makes a model, with settings such as ``aligner.LearnSettings(loss="hinge")``. `load` opens one, ``model.align``
and ``model.align_many`` use it, `align` aligns text without one, `evaluate` compares links with gold, `project` carries
inline markup to a translation.
What is slow to import is imported at its first use, so that importing this package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aligner._version import __version__

if TYPE_CHECKING:
    from aligner.evaluation.comparison import compare, evaluate
    from aligner.model.decoding import Alignment, Alignments
    from aligner.model.inline import Projected, project
    from aligner.model.model import Model, load
    from aligner.model.settings import AlignSettings
    from aligner.model.unsupervised import align
    from aligner.progress import Hooks
    from aligner.training.learn import Training, learn
    from aligner.training.settings import CountSettings, LearnSettings
    from aligner.training.train import train, update_model
    from corpora import AlignerError

_HOMES = {
    "Alignment": "aligner.model.decoding",
    "AlignerError": "corpora",
    "AlignSettings": "aligner.model.settings",
    "Alignments": "aligner.model.decoding",
    "CountSettings": "aligner.training.settings",
    "Hooks": "aligner.progress",
    "LearnSettings": "aligner.training.settings",
    "Model": "aligner.model.model",
    "Projected": "aligner.model.inline",
    "Training": "aligner.training.learn",
    "align": "aligner.model.unsupervised",
    "compare": "aligner.evaluation.comparison",
    "evaluate": "aligner.evaluation.comparison",
    "learn": "aligner.training.learn",
    "load": "aligner.model.model",
    "project": "aligner.model.inline",
    "train": "aligner.training.train",
    "update_model": "aligner.training.train",
}

__all__ = [
    "AlignSettings", "AlignerError", "Alignment", "Alignments", "CountSettings", "Hooks", "LearnSettings", "Model",
    "Projected", "Training", "__version__", "align", "compare", "evaluate", "learn", "load", "project", "train",
    "update_model",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'aligner' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
