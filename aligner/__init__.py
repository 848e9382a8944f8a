"""Word alignment of parallel text by maximum-margin bipartite matching.

    >>> import aligner
    >>> training = aligner.train("corpora/sample/train")        # text and links: train.en, train.fr, train.wa
    >>> found = training.model.align("a red house".split(), "une maison rouge".split())
    >>> sorted(found)
    [(0, 0), (1, 2), (2, 1)]

`train` makes a model, `load` opens one, ``model.align`` and ``model.align_many`` use it, `align_texts` aligns a bitext
without one, `evaluate` compares links with gold. Everything is imported at its first use, so that importing this
package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from aligner.decoding import Alignment
    from aligner.evaluation import evaluate
    from aligner.model import Model, load
    from aligner.training import Training, train
    from aligner.unsupervised import align_texts
    from corpora.errors import AlignerError

_HOMES = {
    "Alignment": "aligner.decoding",
    "AlignerError": "corpora.errors",
    "Model": "aligner.model",
    "Training": "aligner.training",
    "align_texts": "aligner.unsupervised",
    "evaluate": "aligner.evaluation",
    "load": "aligner.model",
    "train": "aligner.training",
}

__all__ = ["AlignerError", "Alignment", "Model", "Training", "align_texts", "evaluate", "load", "train"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'aligner' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
