"""The default model: weights that come with the program, over features that know no words of any language."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from aligner._version import __version__
from aligner.losses.capacity import LinkRewards
from aligner.model.calibration import Calibration
from aligner.model.model import Model
from corpora.normalize import PLAIN, Normalizers
from corpora.ragged import F64
from features.extractor import FAMILIES, FeatureSet
from features.families.links import numbered
from features.statistics import CorpusStatistics

REWARDS = LinkRewards((0.0, 0.0), (0.0, 0.0))
"""Rewards of further links: up to three links a word, at no price, as the weights were learnt edge by edge."""

_NUMBER = re.compile(r"^(links:[a-z]+)-[0-9]+")


@dataclass(frozen=True)
class DefaultWeights:
    """Weights by the name of the feature, from scores to probabilities, and how both came to be.

    See ``scripts/train_default.py``, and ``scripts/train_links.py`` for what is of other aligners' links:
    links: weights by the kind of the aligner, ``links:KIND`` and ``links:KIND:pair``.  consensus: see `consensus`.
    """

    weights: Mapping[str, float]
    calibration: Calibration
    record: Mapping[str, Any]
    links: Mapping[str, float]
    consensus: Mapping[str, float]

    def of(self, names: Sequence[str], offset: float = 0.0) -> F64:
        """(d,) the weights of these features, 0 of a family that is new.  offset: added to all scores."""
        known = {**self.weights, **self.links, "bias": self.weights["bias"] + offset}
        return np.array([known.get(_NUMBER.sub(r"\1", name), 0.0) for name in names])


@cache
def default_weights() -> DefaultWeights:
    """The weights and the calibration that come with the program."""
    folder = files("aligner.model")
    content, others = (
        json.loads(folder.joinpath(f"{name}_weights.json").read_text("utf-8")) for name in ("default", "links")
    )
    calibration = Calibration(**{name: tuple(values) for name, values in content["calibration"].items()})
    return DefaultWeights(content["weights"], calibration, content["record"], others["links"], others["consensus"])


def default_model(
    statistics: CorpusStatistics,
    normalizers: Normalizers = PLAIN,
    languages: tuple[str | None, str | None] = (None, None),
    record: Mapping[str, Any] | None = None,
    candidates: str = "fewer",
) -> Model:
    """A model of a corpus without any label: its own statistics, with translation models, and the default weights.

    record: JSON values about the corpus.  candidates: the edges to look at, one of `features.candidates.CANDIDATES`.
    """
    features = FeatureSet(tuple(FAMILIES), candidates=candidates)
    found = default_weights()
    facts = {"version": __version__, "default_weights": dict(found.record), **(record or {})}
    weights = found.of(features.names)
    return Model(weights, features, statistics, normalizers, languages, facts, REWARDS, found.calibration)


def with_links(model: Model, kinds: Sequence[str]) -> Model:
    """A model with the default weights, and those for the links of other aligners of these kinds.

    kinds: of `corpora.link_files.KINDS`.
    """
    if not kinds:
        return model
    links = FeatureSet(families=(), links=numbered(kinds)).names
    weights = np.concatenate([model.weights, default_weights().of(links)])
    return replace(model, weights=weights, features=replace(model.features, links=numbered(kinds)), risk=None)
