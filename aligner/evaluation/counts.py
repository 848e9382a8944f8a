"""Alignment error rate, precision, recall and F1 of links against gold, and their bootstrap.

Notation [Och and Ney 2003]: A the links of a hypothesis, S the sure links of the gold and
P ⊇ S its sure and possible ones. Every figure is a function of five counts that add up over sentence
pairs, so a subset or a resample of a corpus is scored from sums of rows (as sacrebleu does for BLEU).

Koehn 2004, Statistical significance tests for machine translation evaluation (EMNLP).
Efron and Tibshirani 1993, An introduction to the bootstrap, chapters 13 and 15.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from corpora.links import Links
from corpora.ragged import F64, I64, Bools

Interval = tuple[float, float]

_BLOCK = 65_536  # pairs counted at a time, to bound memory
_DRAWS = 2_000_000  # sentence draws held at a time, to bound memory


class Scores(NamedTuple):
    """Scores as fractions between 0 and 1: arrays of one shape, scalars for one corpus."""

    aer: F64
    precision: F64
    recall: F64
    f1: F64


def count(gold: Links, hypothesis: Links) -> I64:
    """Count what evaluation needs of each pair, (n, 5): |A|, |S|, |P|, |A∩S|, |A∩P|; rows may be added.

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
    part = links.part(start, stop)
    return (part.pairs * height + part.source) * width + part.target, part.sure


def _distinct(cells: I64) -> I64:
    """The cells in order, each once. (np.unique hashes integers since numpy 2.3, which is far slower here.)"""
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


def error_rate(gold: Links, found: Links) -> float:
    """The AER of found links over the whole corpus, as a fraction."""
    return float(scores(count(gold, found).sum(axis=0)).aer)


class Risk(NamedTuple):
    """The mean over pairs of the share of a pair's links that is wrong, 0 without links, and its interval."""

    mean: float
    low: float
    high: float


def _ratio(numerator: F64, denominator: F64) -> F64:
    ones = np.ones(np.shape(denominator))
    return np.divide(numerator, denominator, out=ones, where=np.asarray(denominator > 0))


def bootstrap(systems: Sequence[I64], resamples: int, seed: int) -> tuple[Scores, F64]:
    """Score systems on resamples of their sentence pairs, drawn with replacement.

    Resample b consists of the same pairs for every system, and does not depend on how many systems there are.
    systems: (n, 5) counts of the same n > 0 pairs, h of them.  Returns arrays (h, resamples), and those of the risks.
    """
    h, n = len(systems), len(systems[0])
    totals = resample(np.column_stack([*systems, *map(_wrong_shares, systems)]), resamples, seed)
    of_systems = totals[:, : 5 * h].reshape(resamples, h, 5).swapaxes(0, 1)
    return scores(of_systems), totals[:, 5 * h :].T / n


def risk_of(counts: I64, drawn: F64, confidence: float) -> Risk:
    """The risk of links, from (n, 5) counts, and those of `bootstrap`."""
    return Risk(float(_wrong_shares(counts).mean()), *percentile_interval(drawn, confidence))


def _wrong_shares(counts: I64) -> F64:
    """(n,) share of each pair's links that is wrong, 0 without links, from (n, 5) counts."""
    return 1.0 - scores(counts).precision


def resample(counts: I64 | F64, resamples: int, seed: int) -> F64:
    """Return the sums of counts (n, d) over resamples of their n > 0 rows, drawn with replacement: (resamples, d)."""
    rows, rng = len(counts), np.random.default_rng(seed)
    table = counts.astype(np.float64)  # makes the product below a BLAS call; whole numbers below 2^53, so exact
    totals = np.empty((resamples, table.shape[1]))
    step = max(1, _DRAWS // rows)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        draws = rng.integers(rows, size=(size, rows))
        draws += np.arange(size)[:, None] * rows
        weights = np.bincount(draws.ravel(), minlength=size * rows).reshape(size, rows)
        totals[start : start + size] = weights.astype(np.float64) @ table
    return totals


def percentile_interval(values: F64, confidence: float) -> Interval:
    """The interval that leaves out (1 − confidence)/2 of the values on either side."""
    low, high = np.quantile(values, [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0])
    return float(low), float(high)
