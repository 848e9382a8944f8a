"""The default model: weights that come with the program, over features that know no words of any language."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from aligner._version import __version__
from aligner.model.calibration import Calibration
from aligner.model.model import Model
from aligner.model.scoring import LinearScorer
from aligner.svm.prices import LinkRewards
from corpora.normalize import Normalizer
from features.extractor import FAMILIES, FeatureSet
from features.statistics import CorpusStatistics

REWARDS = LinkRewards((0.0, 0.0), (0.0, 0.0))
"""Rewards of further links: up to three links a word, at no price, as the weights were learnt edge by edge."""


@dataclass(frozen=True)
class DefaultWeights:
    """Weights by the name of the feature, from scores to probabilities, and how both came to be.

    See ``scripts/train_default.py``.
    """

    weights: Mapping[str, float]
    calibration: Calibration
    record: Mapping[str, Any]


@cache
def default_weights() -> DefaultWeights:
    """The weights and the calibration that come with the program."""
    content = json.loads(files("aligner.model").joinpath("default_weights.json").read_text("utf-8"))
    calibration = Calibration(**{name: tuple(values) for name, values in content["calibration"].items()})
    return DefaultWeights(content["weights"], calibration, content["record"])


def default_model(
    statistics: CorpusStatistics,
    *,
    normalizers: tuple[Normalizer, Normalizer] = (Normalizer(), Normalizer()),
    languages: tuple[str | None, str | None] = (None, None),
    record: Mapping[str, Any] | None = None,
    candidates: str = "likely",
) -> Model:
    """A model of a corpus without any label: its own statistics, with translation models, and the default weights.

    record: JSON values about the corpus.  candidates: the edges to look at, one of `features.candidates.CANDIDATES`.
    """
    features = FeatureSet(tuple(FAMILIES), candidates=candidates)
    found = default_weights()
    weights = np.array([found.weights.get(name, 0.0) for name in features.names])  # 0 of a family that is new
    facts = {"version": __version__, "default_weights": dict(found.record), **(record or {})}
    return Model(LinearScorer(weights), features, statistics, normalizers, languages, facts, REWARDS, found.calibration)
