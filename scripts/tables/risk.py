"""What `align --risk` keeps and promises."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from gold_sets import DEV_SETS, FURTHER, GOLD_SETS, WIKIPEDIA, GoldSet

from aligner.errors import SettingError
from aligner.model.calibration import judged
from aligner.model.default import default_model
from aligner.model.operating_point import fitting_offset
from aligner.model.risk import WIDER, RiskCurve
from corpora.bitext import read_bitext
from corpora.links import Links
from corpora.normalize import Normalizer
from corpora.ragged import I64
from features.statistics import CorpusStatistics
from tables import DATA, markdown, table

ASKED = (0.1, 25), (0.1, 50), (0.05, 50), (0.05, 100), (0.02, 100)
"""Risks, and labelled pairs to calibrate with; as many others at least are there to try them."""
MOST = 25_000
"""Pairs of the corpus that a model is counted on."""

WHOLE = {name: gold for name, gold in (GOLD_SETS | DEV_SETS | WIKIPEDIA | FURTHER).items() if gold.words is None}
"""Of the others not all words are annotated, so that links look wrong that are not."""


def judged_links(data: Path, gold: GoldSet) -> tuple[Links, Links]:
    """All links with the scores that thresholds cut, and the usual ones, both judged."""
    corpora = [gold.corpus(data, prefix) for prefix in gold.prefixes]
    counted = [gold.corpus(data, prefix) for prefix, _ in gold.corpora[-1:] if prefix]
    texts = [*([] if gold.inside else corpora), *counted]
    text = read_bitext(texts, Normalizer(), Normalizer())
    text = text.take(np.arange(min(len(text), MOST)))
    model = default_model(CorpusStatistics.from_bitext(text))
    model = model.with_offset(fitting_offset(model, text), of_text=True)
    bitext = read_bitext(corpora, *model.normalizers)
    truth = Links.from_pairs(pair for corpus in corpora for pair in corpus.links())
    wider = replace(model.with_offset(WIDER), calibration=None).align_bitext(bitext).links
    wider = replace(wider, scores=wider.known_scores - WIDER)
    return judged(wider, truth), judged(model.align_bitext(bitext).links, truth)


def some(links: Links, pairs: I64) -> Links:
    """As `Links.take`, with scores."""
    sizes = np.diff(links.offsets)[pairs]
    rows = np.concatenate([np.arange(links.offsets[pair], links.offsets[pair + 1]) for pair in pairs])
    offsets = np.append(0, np.cumsum(sizes))
    return Links(links.source[rows], links.target[rows], links.sure[rows], offsets, scores=links.known_scores[rows])


def tried(found: Links, usual: Links, risk: float, labels: int, splits: int) -> tuple[float, float, float, float]:
    """The mean risk of the other pairs, the share of splits above, of the usual links kept, and of refusals.

    Where a risk is refused there are no links, and none is wrong.
    """
    rng, n = np.random.default_rng(1), len(found)
    risks, kept, refused = np.zeros(splits), np.zeros(splits), 0
    for split in range(splits):
        order = rng.permutation(n)
        curve = RiskCurve.of(some(found, order[:labels]), len(some(usual, order[:labels]).source))
        others, those = some(found, order[labels:]), len(some(usual, order[labels:]).source)
        try:
            threshold = curve.threshold(risk)
        except SettingError:
            refused += 1
            continue
        above = others.known_scores >= threshold
        links, wrong = (
            np.bincount(others.pairs[chosen], minlength=n - labels) for chosen in (above, above & ~others.sure)
        )
        risks[split], kept[split] = np.mean(wrong / np.maximum(links, 1)), links.sum() / those
    return float(risks.mean()), float(np.mean(risks > risk)), float(kept.mean()), refused / splits


@table("risk")
def risk(data: Path = DATA, splits: int = 200) -> str:
    """What `align --risk` keeps and promises, on the gold sets of which all words are annotated.

    For each a model of the default weights, counted on its corpus and its own text, is calibrated on a random sample of
    its labelled pairs and tried on the others: many times, as the promise is of the mean over samples.
    splits: samples.
    """
    rows = []
    for name, gold in WHOLE.items():
        found, usual = judged_links(data, gold)
        cells = []
        for asked, labels in ASKED:
            if len(found) < 2 * labels:
                cells.append("")
                continue
            mean, above, kept, refused = tried(found, usual, asked, labels, splits)
            told = f", refused {100 * refused:.0f}" if refused else ""
            cells.append("refused" if refused > 0.9 else f"{100 * mean:.1f}, {100 * above:.0f}, {100 * kept:.0f}{told}")
        rows.append([name, f"{len(found):,}", f"{100 * usual.sure.mean():.1f}", *cells])
        print(*rows[-1], flush=True)
    return markdown(["gold set", "pairs", "right", *(f"{asked:g} by {labels}" for asked, labels in ASKED)], rows)
