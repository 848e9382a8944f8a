"""Ablation of the features of a model: weights, effects on scores, and AER without each feature."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aligner.evaluation.counts import error_rate
from aligner.losses.capacity import LinkRewards
from aligner.model.decoding import decode_edges
from aligner.model.model import Model
from aligner.progress import ignore
from aligner.training.inputs import Labelled
from corpora.alignment import Links
from corpora.ragged import F64
from features.table import EdgeTable

FERTILITY_FAMILY = "fertility"
"""The family's name for rewards of further links of a word, which are no columns of edges."""


@dataclass(frozen=True)
class FeatureReport:
    """A feature of a model, one column.

    low, high: its least and greatest value on the labelled pairs, or None if not known.
    ablation: AER on gold with its weight at 0, minus AER with it, as a fraction; None without gold.
    """

    name: str
    family: str
    weight: float
    low: float | None
    high: float | None
    ablation: float | None

    @property
    def effect(self) -> float | None:
        """How far the feature can move the score of an edge: |weight| · (high − low)."""
        return None if self.low is None or self.high is None else abs(self.weight) * (self.high - self.low)


@dataclass(frozen=True)
class FamilyReport:
    """A family of features.  ablation: as for a feature, by all its weights; for fertility, by one link a word."""

    name: str
    columns: int
    ablation: float | None


@dataclass(frozen=True)
class ModelReport:
    """A report on a model's features, by falling effect (or |weight|), and families, in the order of the columns.

    aer: on gold, a fraction, with all features; None without gold.  pairs: of gold, or those of which ranges are known.
    """

    features: tuple[FeatureReport, ...]
    families: tuple[FamilyReport, ...]
    aer: float | None
    pairs: int


def describe_model(
    model: Model,
    gold: Labelled | None = None,
    *,
    on_progress: Callable[[int, int], None] = ignore,
) -> ModelReport:
    """Report the weights, ranges and, with gold, ablation deltas of a model's features.

    gold: labelled pairs, see `inputs.read_labelled`; without it ranges are those that training recorded.
    on_progress: called with the number of alignments of gold that are done, and how many there will be.

    Features are extracted once; an ablation decodes all pairs with some weights at 0 and learns none anew, though
    other weights might make up for the loss.
    Raises AlignerError if links or gold do not fit.
    """
    names, weights = model.features.names, model.weights
    families = model.features.groups
    columns = {family: [i for i, f in enumerate(families) if f == family] for family in dict.fromkeys(families)}
    sizes = {family: len(those) for family, those in columns.items()}
    if model.rewards != LinkRewards():
        sizes[FERTILITY_FAMILY] = len(model.rewards.source) + len(model.rewards.target)
    ranges, pairs = model.record.get("feature_ranges"), int(model.record.get("labelled_pairs", 0))
    aer: float | None = None
    alone: list[float | None] = [None] * len(names)
    together: dict[str, float | None] = dict.fromkeys(sizes)
    if gold is not None:
        model.check_links(gold.bitext, gold.others)
        edges = model.features.extract(gold.bitext, model.statistics, links=gold.others)
        ranges, pairs = edges.ranges().tolist(), len(edges)
        without = [*([i] for i in range(len(names))), *(columns.get(family, []) for family in sizes)]
        aer = _error(edges, gold.links, weights, [], model.rewards)
        losses = []
        for done, those in enumerate(without, 1):
            on_progress(done, 1 + len(without))
            # What has no columns is the family of rewards.
            losses.append(_error(edges, gold.links, weights, those, model.rewards if those else LinkRewards()) - aer)
        on_progress(1 + len(without), 1 + len(without))
        alone = [*losses[: len(names)]]
        together = dict(zip(sizes, losses[len(names) :], strict=True))
    lows, highs = ([None] * len(names), [None] * len(names)) if ranges is None else zip(*ranges, strict=True)
    features = [FeatureReport(*row) for row in zip(names, families, weights.tolist(), lows, highs, alone, strict=True)]
    features.sort(key=lambda f: -abs(f.weight) if f.effect is None else -f.effect)
    summary = tuple(FamilyReport(family, size, together[family]) for family, size in sizes.items())
    return ModelReport(tuple(features), summary, aer, pairs)


def _error(edges: EdgeTable, gold: Links, weights: F64, without: Sequence[int], rewards: LinkRewards) -> float:
    """The AER, as a fraction, without some columns."""
    kept = weights.copy()
    kept[list(without)] = 0.0
    found = decode_edges(edges, kept, rewards).to_links()
    return error_rate(gold, found)
