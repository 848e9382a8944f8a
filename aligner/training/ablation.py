"""The features of a model: weights, effects on scores, and AER without each family."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aligner.evaluation.counts import error_rate
from aligner.losses.capacity import LinkRewards
from aligner.model.decoding import decode_edges
from aligner.model.model import Model
from aligner.progress import ignore
from aligner.training.inputs import LabelledPairs
from corpora.links import Links
from corpora.ragged import F64
from features.table import EdgeTable

FERTILITY_FAMILY = "fertility"
"""The family's name for rewards of further links of a word, which are no columns of edges."""


@dataclass(frozen=True)
class FeatureReport:
    """A feature of a model, one column.

    low, high: its least and greatest value on the labelled pairs, or None if not known.
    effect: how far it can move the score of an edge, |weight| · (high − low); None if not known.
    """

    name: str
    family: str
    weight: float
    low: float | None
    high: float | None
    effect: float | None


@dataclass(frozen=True)
class FamilyReport:
    """A family of features.

    ablation: AER on gold with its weights at 0, of fertility with one link a word, minus AER with them, as a fraction;
    None without gold.
    """

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
    gold: LabelledPairs | None = None,
    *,
    on_progress: Callable[[int, int], None] = ignore,
) -> ModelReport:
    """Report the weights and ranges of a model's features and, with gold, what AER is without each family.

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
    ablations: dict[str, float] = {}
    if gold is not None:
        model.check_links(gold.bitext, gold.others)
        edges = model.features.extract(gold.bitext, model.statistics, links=gold.others)
        ranges, pairs = edges.ranges().tolist(), len(edges)
        aer = _error(edges, gold.links, weights, [], model.rewards)
        for done, family in enumerate(sizes, 1):
            on_progress(done, 1 + len(sizes))
            those = columns.get(family, [])  # the family of rewards has none
            rewards = model.rewards if those else LinkRewards()
            ablations[family] = _error(edges, gold.links, weights, those, rewards) - aer
        on_progress(1 + len(sizes), 1 + len(sizes))
    features = []
    ranges = ranges or [(None, None)] * len(names)
    for name, family, weight, (low, high) in zip(names, families, weights.tolist(), ranges, strict=True):
        effect = None if low is None else abs(weight) * (high - low)
        features.append(FeatureReport(name, family, weight, low, high, effect))
    features.sort(key=lambda f: -abs(f.weight) if f.effect is None else -f.effect)
    summary = tuple(FamilyReport(family, size, ablations.get(family)) for family, size in sizes.items())
    return ModelReport(tuple(features), summary, aer, pairs)


def _error(edges: EdgeTable, gold: Links, weights: F64, without: Sequence[int], rewards: LinkRewards) -> float:
    """The AER, as a fraction, without some columns."""
    kept = weights.copy()
    kept[list(without)] = 0.0
    found = decode_edges(edges, kept, rewards).links
    return error_rate(gold, found)
