"""What default weights that were learnt without the gold set at hand find in it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from gold import F64, Labelled, View, decode_with, default_weights, shipped_weights, text_with_gold, view, views
from gold_sets import DEV_SETS, FURTHER, GOLD_SETS, SETS, WIKIPEDIA

from aligner.evaluation.counts import scores
from aligner.model import default
from aligner.model.operating_point import offset_of
from corpora.links import Links
from corpora.normalize import Normalizer
from features.candidates import count_unlisted
from features.statistics import CorpusStatistics
from features.translation.priors import Priors
from tables import DATA, markdown, table

MOST = 12_500
"""Pairs of the largest corpus of a gold set."""

OFFSETS = [quarter / 4 for quarter in range(13)]

BINS = 10
CALIBRATED = "en-ja", "grc-en", "pud, ko", "pud, ar", "pud, fr", "cs-en", "en-es", "europarl", "hansards"

OWN, OTHERS = 100, 10_000
WITH_OTHERS = {"pud, fr": "hansards/train", "xl-wa, es": "en-es/train", "rwth-de-en": "comtrans-de-en/train"}
"""Gold sets, of which the first pairs are aligned, and corpora of other kinds of text in the same languages."""


@table("recall")
def recall(data: Path = DATA) -> str:
    """Operating points: AER, precision, recall and F1 by `--offset`, and the offset that is named for high recall.

    Means of gold sets of sixteen languages, each under its largest corpus of at most 12,500 pairs.
    """
    learnt = views(data, MOST)
    seen = [*{one.gold: one for one in learnt}.values()]  # the last of each is of its largest corpus
    seen += [view(data, name, *gold.corpora[-1]) for name, gold in {**FURTHER, **WIKIPEDIA}.items()]
    points, classic = [], []
    for one in seen:
        weights = default_weights(learnt, one.gold) if one in learnt else shipped_weights()
        points.append([rates(one.labelled, one.aligned(weights, offset)) for offset in OFFSETS])
        classic.append(rates(one.labelled, one.posteriors.symmetrized_links("grow-diag-final-and")))
        print(one.gold, *in_percent(points[-1][0]), flush=True)
    every = np.array(points)  # (sets, offsets, rates)

    def most_links(sets: F64) -> int:
        """The last offset whose mean F1 is no less than that of the first."""
        f1 = sets.mean(axis=0)[:, 3]
        return int(np.flatnonzero(f1 >= f1[0]).max())

    chosen = [most_links(np.delete(every, held, axis=0)) for held in range(len(every))]
    nested = [every[held, at] for held, at in enumerate(chosen)]
    print("offsets chosen without each set, of which the least is taken:", sorted(OFFSETS[at] for at in chosen))
    named = [f"`--offset {o:g}`" if o else "default" for o in OFFSETS]
    rows = [[name, *in_percent(every[:, at].mean(axis=0))] for at, name in enumerate(named)]
    rows.append(["the offset chosen on the other sets", *in_percent(np.mean(nested, axis=0))])
    rows.append(["`--decoding grow-diag-final-and`", *in_percent(np.mean(classic, axis=0))])
    return markdown([f"means of {len(every)} gold sets", "AER", "precision", "recall", "F1"], rows)


def rates(gold: Labelled, found: Links) -> list[float]:
    """AER, precision, recall of sure links, F1 of all."""
    return [float(rate) for rate in scores(gold.count(found).sum(axis=0))]


def in_percent(fractions: Sequence[float] | F64) -> list[str]:
    return [f"{100 * rate:.2f}" for rate in fractions]


@table("candidates")
def candidates(data: Path = DATA) -> str:
    """Which links of gold are candidates, how many candidates there are, and AER with them and with all word pairs.

    The rule was chosen on those gold sets that the default weights are learnt from; the others are reported only.
    """
    rows = []
    for name, gold in {**GOLD_SETS, **FURTHER, **DEV_SETS, **WIKIPEDIA}.items():
        corpora = [corpus for corpus in gold.corpora if corpus[1] <= MOST] or gold.corpora
        seen = view(data, name, *corpora[-1])
        links, lists = seen.labelled.links, seen.candidates.lists
        sure = Links.from_sets(pair.sure for pair in links)
        recalls = [1 - count_unlisted(lists, part) / len(part.source) for part in (sure, links)]
        tables = seen.candidates, seen.edges
        errors = [seen.labelled.aer(decode_with(shipped_weights(), table).links) for table in tables]
        listed, every = (len(table.features) for table in tables)
        a_word = f"{2 * listed / lists.shapes.sum():.2f}"
        figures = [*in_percent(recalls), a_word, f"{100 * listed / every:.2f}", *(f"{error:.2f}" for error in errors)]
        rows.append([name, f"{seen.pairs:,}", *figures])
    header = ["gold set", "pairs of the corpus", "sure links", "all links", "candidates a word", "of all edges", "AER"]
    return markdown([*header, "AER with all"], rows)


@table("calibration")
def calibration(data: Path = DATA) -> str:
    """Probabilities of the default weights, and how many links are right, by language and size of the text.

    The calibration, which comes with the program, is of links in held-out sets, this one among them where the weights
    were learnt from it.
    """
    known = views(data, MOST)
    groups = {(seen.gold, seen.pairs): [seen] for name in CALIBRATED for seen in known if seen.gold == name}
    groups["en-tr", 100] = views(data, MOST, ["en-tr"])
    for name, gold in WIKIPEDIA.items():
        for prefix, pairs in gold.corpora:
            of_size = groups.setdefault(("Wikipedia, ten languages", pairs if prefix else 0), [])
            of_size.append(view(data, name, prefix, pairs))
    rows = []
    for (name, pairs), several in groups.items():
        links = Links.join(calibrated(seen, default_weights(known, seen.gold)) for seen in several)
        found, right = links.known_scores, links.sure
        of_bin = np.minimum((found * BINS).astype(np.int64), BINS - 1)
        surplus = np.bincount(of_bin, found - right, BINS)
        figures = found.mean(), right.mean(), np.abs(surplus).sum() / len(right)
        text = f"{pairs:,}" if len(several) == 1 else f"{pairs:,} and its own"
        rows.append([name, text, f"{len(right):,}", *(f"{100 * figure:.1f}" for figure in figures)])
        print(rows[-1], flush=True)
    header = ["gold set", "pairs of text", "links", "mean probability", "right", "expected calibration error"]
    return markdown(header, rows)


def calibrated(seen: View, weights: F64) -> Links:
    """The links with their probabilities for scores."""
    found = seen.labelled.calibrating(seen.aligned(weights))
    scores = found.known_scores - offset_of(weights, seen.candidates)
    return replace(found, scores=default.default_weights().calibration.probabilities(scores))


@table("other-text")
def other_text(data: Path = DATA) -> str:
    """What a few pairs of text gain by what another text says, as priors or by its model."""
    known, rows = views(data, MOST), []
    for name, prefix in WITH_OTHERS.items():
        gold = SETS[name]
        labelled, weights = Labelled.open(data, gold).take(np.arange(OWN)), default_weights(known, name)
        others = CorpusStatistics.from_bitext(text_with_gold(gold.corpus(data, prefix), OTHERS, ()))
        priors = Priors.from_model(others.translation).to_model((Normalizer(), Normalizer()))
        own = (CorpusStatistics.from_bitext(labelled.bitext, priors=one) for one in (None, priors))
        seen = [View(name, OWN, labelled, statistics) for statistics in (*own, others)]
        rows.append([name, prefix, *(f"{labelled.aer(one.aligned(weights)):.1f}" for one in seen)])
        print(rows[-1], flush=True)
    header = ["gold set", "other text", f"{OWN} pairs alone", "with `--priors` of it", "by its model, `-m`"]
    return markdown(header, rows)
