"""Alignment error rate, precision, recall and F1 of links against gold, with bootstrap intervals and tests.

The notation is that of Och and Ney 2003: A the links of a hypothesis, S the sure links of the gold and
P ⊇ S its sure and possible ones. Every figure is a function of five counts that add up over sentence
pairs, so a subset or a resample of a corpus is scored from sums of rows (as sacrebleu does for BLEU).

Koehn 2004, Statistical significance tests for machine translation evaluation (EMNLP).
Efron and Tibshirani 1993, An introduction to the bootstrap, chapters 13 and 15.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from aligner._version import __version__
from corpora.alignment import I64, Bools, Links
from corpora.errors import CorpusError
from corpora.link_files import INDEX_BASES

F64 = npt.NDArray[np.float64]
Interval = tuple[float, float]

_BLOCK = 65_536  # pairs counted at a time, to bound memory
_DRAWS = 2_000_000  # sentence draws held at a time, to bound memory
_LENGTH_BINS = {"0-10": (0, 10), "11-20": (11, 20), "21-30": (21, 30), "31-40": (31, 40), "41+": (41, np.inf)}


class Scores(NamedTuple):
    """Fractions between 0 and 1, arrays of one shape (scalars for one corpus)."""

    aer: F64
    precision: F64
    recall: F64
    f1: F64


class LengthRow(NamedTuple):
    """The scores of the pairs whose source length lies in one bin."""

    lengths: str
    pairs: int
    links: int
    aer: float
    precision: float
    recall: float
    f1: float


class PairedTest(NamedTuple):
    """Paired bootstrap test of a difference in AER on the same gold sentences.

    baseline: the name of the system compared with.
    difference: AER − AER of the baseline, as a fraction; negative where the baseline is worse.
    interval: percentile interval of the difference, at the confidence of the evaluation.
    p_value: two-sided, in (0, 1]. Both systems are scored on the same B resamples of the sentences; with
        d*_b the differences found there,

            p = min(1, 2 (1 + min(#{d*_b ≤ 0}, #{d*_b ≥ 0})) / (B + 1))

        This is Koehn's 2004 count of the resamples on which the better system wins, doubled because no
        side is named beforehand, and with the observed sample counted in so that p is never 0. It is the
        significance level at which an end of the percentile interval reaches 0 (Efron and Tibshirani
        1993, §15.4), so p and interval agree. The bootstrap is optimistic on a handful of sentences.
    """

    baseline: str
    difference: float
    interval: Interval
    p_value: float


@dataclass(frozen=True)
class Evaluation:
    """How the links of one system compare with the gold.

    aer, precision, recall, f1: fractions, over the corpus (micro).
    links, sure, possible: |A|, |S| and |P|, where P includes S.
    intervals: metric -> (low, high), fractions, at the given confidence.
    lengths: where the source lengths of `by_length` come from: the text, or the links alone (see `evaluate_links`).
    paired: against the first hypothesis; None for the first itself.
    """

    name: str
    gold: str
    aer: float
    precision: float
    recall: float
    f1: float
    links: int
    sure: int
    possible: int
    pairs: int
    confidence: float
    intervals: Mapping[str, Interval]
    lengths: Literal["text", "links"]
    by_length: tuple[LengthRow, ...]
    paired: PairedTest | None
    signature: str

    def __repr__(self) -> str:
        figures = f"precision {100 * self.precision:.2f} %, recall {100 * self.recall:.2f} %"
        return f"Evaluation({self.name}: AER {100 * self.aer:.2f} %, {figures}, {self.pairs} pairs)"

    def to_dict(self) -> dict[str, Any]:
        """JSON values, an object of the list that ``aligner evaluate --format json`` prints.

        Metrics, intervals and differences are percent (0-100); p_value is a probability. `interval` is that of
        AER, `intervals` has all. `possible` includes the sure links. `lengths` tells whether the lengths in
        `by_length` are those of the text or only inferred from the links.
        """
        test, intervals = self.paired, {m: [100 * bound for bound in self.intervals[m]] for m in Scores._fields}
        return {
            **{name: getattr(self, name) for name in ("name", "gold", "links", "sure", "possible", "pairs", "lengths")},
            **{metric: 100 * getattr(self, metric) for metric in Scores._fields},
            "confidence": 100 * self.confidence,
            "interval": intervals["aer"],
            "intervals": intervals,
            "by_length": [in_percent(row._asdict(), *Scores._fields) for row in self.by_length],
            "paired": test
            and in_percent(test._asdict(), "difference") | {"interval": [100 * bound for bound in test.interval]},
            "signature": self.signature,
        }

    def to_frame(self) -> Any:
        """A pandas frame of one row: pairs, links, and each metric with its interval, in percent.

        ``pandas.concat`` joins those of several systems.  Raises ImportError without pandas.
        """
        import pandas

        found = self.to_dict()
        row = {name: found[name] for name in ("pairs", "links")}
        for metric in Scores._fields:
            low, high = found["intervals"][metric]
            row |= {metric: found[metric], f"{metric}_low": low, f"{metric}_high": high}
        return pandas.DataFrame(row, index=[self.name])


def in_percent(values: Mapping[str, Any], *fractions: str) -> dict[str, Any]:
    """The values, those named as percents of what are fractions, or None."""
    return {name: 100 * value if name in fractions and value is not None else value for name, value in values.items()}


def count(gold: Links, hypothesis: Links) -> I64:
    """What evaluation needs to know of each pair, (n, 5): |A|, |S|, |P|, |A∩S|, |A∩P|; rows may be added.

    Every link of the hypothesis counts, whatever its sure or possible mark. A link given twice counts once;
    a gold link marked both sure and possible is sure. NULL links are not in `Links` and so are ignored.

    Raises ValueError if the numbers of pairs differ.
    """
    pairs = len(gold)
    if len(hypothesis) != pairs:
        raise ValueError(f"{len(hypothesis)} pairs of links cannot be counted against {pairs} pairs of gold")
    height = 1 + max(int(links.source.max(initial=0)) for links in (gold, hypothesis))
    width = 1 + max(int(links.target.max(initial=0)) for links in (gold, hypothesis))
    # Positions are below 2^31, so cell numbers of a block fit int64 even where a file holds absurd ones.
    step = max(1, min(_BLOCK, 2**62 // (height * width)))
    table = np.zeros((pairs, 5), dtype=np.int64)
    for start in range(0, pairs, step):
        stop = min(start + step, pairs)
        predicted, _ = _cells(hypothesis, start, stop, height, width)
        gold_links, is_sure = _cells(gold, start, stop, height, width)
        a, s, p = _distinct(predicted), _distinct(gold_links[is_sure]), _distinct(gold_links)
        sets = (a, s, p, *(a[np.isin(a, links, assume_unique=True, kind="sort")] for links in (s, p)))
        bounds = np.arange(stop - start + 1, dtype=np.int64) * (height * width)
        for column, cells in enumerate(sets):
            table[start:stop, column] = np.diff(np.searchsorted(cells, bounds))
    return table


def _cells(links: Links, start: int, stop: int, height: int, width: int) -> tuple[I64, Bools]:
    """Number the links of pairs start..stop so that equal numbers mean equal links of the same pair."""
    offsets = links.offsets[start : stop + 1]
    pair = np.repeat(np.arange(stop - start, dtype=np.int64), np.diff(offsets))
    chosen = slice(int(offsets[0]), int(offsets[-1]))
    return (pair * height + links.source[chosen]) * width + links.target[chosen], links.sure[chosen]


def _distinct(cells: I64) -> I64:
    """The cells in order, each once. (np.unique hashes integers since numpy 2.3: far slower here.)"""
    ordered: I64 = np.sort(cells)
    is_first: Bools = np.diff(ordered, prepend=-1) != 0
    return ordered[is_first]


def scores(counts: npt.ArrayLike) -> Scores:
    """Return the metrics of counts (..., 5), each of shape (...), as fractions.

        precision = |A∩P| / |A|      recall = |A∩S| / |S|      F1 = 2|A∩P| / (|A| + |P|)
        AER = 1 − (|A∩S| + |A∩P|) / (|A| + |S|)                          [Och and Ney 2003]

    Where a denominator is 0 there was nothing to get wrong: precision, recall and F1 are 1 and AER is 0.
    With S = P, F1 = 1 − AER.

    >>> scores([3, 2, 4, 2, 3]).aer.item()
    0.0
    """
    a, s, p, a_and_s, a_and_p = np.moveaxis(np.asarray(counts, dtype=np.float64), -1, 0)
    return Scores(
        aer=1.0 - _ratio(a_and_s + a_and_p, a + s),
        precision=_ratio(a_and_p, a),
        recall=_ratio(a_and_s, s),
        f1=_ratio(2.0 * a_and_p, a + p),
    )


def _ratio(numerator: F64, denominator: F64) -> F64:
    ones = np.ones(np.shape(denominator))
    return np.divide(numerator, denominator, out=ones, where=np.asarray(denominator > 0))


def bootstrap(systems: Sequence[I64], resamples: int, seed: int) -> Scores:
    """Score systems on resamples of their sentence pairs, drawn with replacement.

    Resample b consists of the same pairs for every system, and does not depend on how many systems there are.
    systems: (n, 5) counts of the same n > 0 pairs, h of them.  Returns arrays (h, resamples).
    """
    pairs = len(systems[0])
    rng = np.random.default_rng(seed)
    # Floats make the product below a BLAS call; sums of counts are whole numbers below 2^53, so exact.
    table = np.concatenate(systems, axis=1).astype(np.float64)
    totals = np.empty((resamples, table.shape[1]))
    step = max(1, _DRAWS // pairs)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        draws = rng.integers(pairs, size=(size, pairs))
        draws += np.arange(size)[:, None] * pairs
        weights = np.bincount(draws.ravel(), minlength=size * pairs).reshape(size, pairs)
        totals[start : start + size] = weights.astype(np.float64) @ table
    return scores(totals.reshape(resamples, len(systems), 5).swapaxes(0, 1))


def percentile_interval(values: F64, confidence: float) -> Interval:
    """The interval that leaves out (1 − confidence)/2 of the values on either side."""
    low, high = np.quantile(values, [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0])
    return float(low), float(high)


def evaluate_links(
    gold: Links,
    hypotheses: Sequence[Links],
    *,
    gold_name: str,
    hypothesis_names: Sequence[str],
    source_lengths: npt.ArrayLike | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 12345,
) -> list[Evaluation]:
    """Evaluate systems on one gold set; every system but the first is also tested against the first.

    gold_name, hypothesis_names: the files the links were read from, for messages and the signature.
    source_lengths: (n,) tokens of each source sentence. Without it the length of a pair is taken to be
        1 + the greatest source position linked in the gold or in any hypothesis (0 if there is no link).
    resamples, seed: of the bootstrap over sentence pairs.  confidence: of the intervals, in (0, 1).

    Raises CorpusError if the gold is empty or a hypothesis has another number of pairs, and ValueError for
    settings out of range.
    """
    if resamples < 1 or not 0.0 < confidence < 1.0:
        raise ValueError(f"resamples {resamples} must be at least 1 and confidence {confidence} in (0, 1)")
    pairs = len(gold)
    if pairs == 0:
        raise CorpusError(gold_name, 0, "the gold has no sentence pairs", hint="check how it was made")
    for name, hypothesis in zip(hypothesis_names, hypotheses, strict=True):
        if len(hypothesis) != pairs:
            what = f"has {len(hypothesis)} lines but the gold {gold_name} has {pairs}"
            hint = "one line per sentence pair, empty lines too"
            raise CorpusError(name, min(pairs, len(hypothesis)), what, hint=hint)
    lengths = np.zeros(pairs, np.int64) if source_lengths is None else np.asarray(source_lengths, np.int64)
    if lengths.shape != (pairs,):
        raise ValueError(f"source_lengths has shape {lengths.shape}, not ({pairs},)")
    if source_lengths is None:
        for those in (gold, *hypotheses):
            pair = np.repeat(np.arange(pairs), np.diff(those.offsets))
            np.maximum.at(lengths, pair, those.source.astype(np.int64) + 1)
    if not hypotheses:
        return []
    systems = [count(gold, hypothesis) for hypothesis in hypotheses]
    resampled = bootstrap(systems, resamples, seed)
    evaluations: list[Evaluation] = []
    for index, (name, system) in enumerate(zip(hypothesis_names, systems, strict=True)):
        total = system.sum(axis=0)
        aer, precision, recall, f1 = map(float, scores(total))
        links, sure, possible = total[:3].tolist()
        intervals = {
            metric: percentile_interval(values[index], confidence) for metric, values in resampled._asdict().items()
        }
        paired = None
        if index > 0:
            baseline = evaluations[0]
            differences = resampled.aer[index] - resampled.aer[0]
            against = min(int((differences <= 0.0).sum()), int((differences >= 0.0).sum()))
            p_value = min(1.0, 2.0 * (1 + against) / (resamples + 1))
            interval = percentile_interval(differences, confidence)
            paired = PairedTest(baseline.name, aer - baseline.aer, interval, p_value)
        signature = _signature(gold, hypotheses[index], gold_name, resamples, confidence, seed)
        evaluations.append(
            Evaluation(
                name, gold_name, aer, precision, recall, f1, links, sure, possible, pairs, confidence, intervals,
                "links" if source_lengths is None else "text", _by_length(system, lengths), paired, signature,
            )
        )  # fmt: skip
    return evaluations


def _by_length(system: I64, lengths: I64) -> tuple[LengthRow, ...]:
    """Score the pairs of each length bin; bins without pairs are left out."""
    rows = []
    for label, (low, high) in _LENGTH_BINS.items():
        inside = (lengths >= low) & (lengths <= high)
        if inside.any():
            total = system[inside].sum(axis=0)
            found = (float(value) for value in scores(total))
            rows.append(LengthRow(label, int(inside.sum()), int(total[0]), *found))
    return tuple(rows)


def _signature(gold: Links, hypothesis: Links, gold_name: str, resamples: int, confidence: float, seed: int) -> str:
    """All that changes the figures; AERs with different signatures are not comparable."""
    parts = {
        "gold": f"{PurePath(gold_name).name},{_reading(gold)}",
        "links": _reading(hypothesis),
        "f1": "sure+possible",
        "null": "ignored",
        "pairs": str(len(gold)),
        "bootstrap": str(resamples),
        "confidence": f"{100 * confidence:g}",
        "seed": str(seed),
        "version": __version__,
    }
    return "|".join(f"{key}:{value}" for key, value in parts.items())


def _reading(links: Links) -> str:
    """How links were read: format, number of a sentence's first word, and whether any is marked as possible."""
    read_as = f"{links.format},base-{INDEX_BASES[links.format]}" if links.format else "arrays"
    return f"{read_as},{'all-sure' if links.sure.all() else 'sure-and-possible'}"
