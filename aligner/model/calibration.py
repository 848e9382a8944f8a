"""Calibration: from the score of a link to the probability that it is right."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from corpora.links import Links
from corpora.ragged import F64

_MOST_BINS = 20
_LINKS_A_BIN = 50


def judged(found: Links, gold: Links) -> Links:
    """The links found, sure where gold has them, as sure or possible.  ValueError where they are of other pairs."""
    of_gold = (links.sure | links.possible for links in gold)
    pairs = zip(found, of_gold, strict=True)
    right = [link in links for own, links in pairs for link in sorted(own.sure | own.possible)]
    return replace(found, sure=np.array(right, np.bool_))


@dataclass(frozen=True)
class Calibration:
    """A rising function from score to probability: log-odds that are linear between knots and constant beyond them.

    A single sigmoid of the score [Platt 1999] does not fit: training pulls the scores of right links to where the
    hinge ends, so that there the share of right ones leaps. So links are cut into bins by score, neighbours are pooled
    until the shares rise, as in isotonic regression [Zadrozny and Elkan 2002], and log-odds are interpolated.

    scores: of the knots, ascending.  log_odds: at these, not falling.  Raises ValueError on others.
    """

    scores: tuple[float, ...]
    log_odds: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.scores or len(self.scores) != len(self.log_odds):
            raise ValueError(f"a calibration has as many scores as log-odds, not {self.scores} and {self.log_odds}")
        if not np.isfinite([*self.scores, *self.log_odds]).all():
            raise ValueError("the numbers of a calibration must be finite")
        if not ((np.diff(self.scores) > 0).all() and (np.diff(self.log_odds) >= 0).all()):
            raise ValueError("the scores of a calibration must ascend, and their log-odds must not fall")

    @classmethod
    def fit(cls, links: Links) -> "Calibration":
        """From links that are `judged`, best ones that the model was not trained on.

        Knots are the mean scores of up to 20 equal bins of about 50 links or more, and log-odds those of c right ones
        of m with half of one added to each kind, (c + ½) / (m − c + ½), so that they are finite.
        Raises ValueError if there are no links.
        """
        all_scores, right = links.known_scores, links.sure
        if not len(right):
            raise ValueError("there are no links to calibrate with")
        order = np.argsort(all_scores, kind="stable")
        bins = min(max(len(right) // _LINKS_A_BIN, 1), _MOST_BINS)
        pooled: list[_Bin] = []
        for part in np.array_split(order, bins):
            scores = all_scores[part]
            score = float(np.clip(scores.mean(), scores[0], scores[-1]))  # a mean of equal numbers may be rounded
            current = _Bin(len(part), int(right[part].sum()), score, score)
            while pooled and (pooled[-1].log_odds >= current.log_odds or pooled[-1].high >= current.low):
                current = pooled.pop().pooled(current)
            pooled.append(current)
        knots = {score: part.log_odds for part in pooled for score in (part.low, part.high)}
        return cls(tuple(knots), tuple(knots.values()))

    def probabilities(self, scores: npt.ArrayLike, least: float = -np.inf) -> F64:
        """The probability of each link, in (0, 1), of the shape of the scores.

        least: score of links that are found. Of links below, which were not there to learn from, log-odds fall with the
        score, as those of logistic loss do.
        """
        numbers = np.asarray(scores, np.float64)
        log_odds = np.interp(numbers, self.scores, self.log_odds) + np.minimum(numbers - least, 0.0)
        return np.asarray(1.0 / (1.0 + np.exp(-log_odds)))

    def shifted(self, offset: float) -> "Calibration":
        """The calibration of scores to which a number is added."""
        knots = {score + offset: log_odds for score, log_odds in zip(self.scores, self.log_odds, strict=True)}
        return Calibration(tuple(knots), tuple(knots.values()))  # fewer where rounding makes two scores one


def read_calibration(description: Mapping[str, Any] | None) -> Calibration | None:
    """The calibration of the JSON values of its fields.  Raises LookupError, TypeError or ValueError on others."""
    if description is None:
        return None
    scores, log_odds = (tuple(map(float, description[name])) for name in ("scores", "log_odds"))
    return Calibration(scores, log_odds)


@dataclass(frozen=True)
class _Bin:
    """Links of similar scores.  low, high: the mean score of the first and of the last bin that was pooled."""

    links: int
    right: int
    low: float
    high: float

    @property
    def log_odds(self) -> float:
        return float(np.log((self.right + 0.5) / (self.links - self.right + 0.5)))

    def pooled(self, later: "_Bin") -> "_Bin":
        return _Bin(self.links + later.links, self.right + later.right, self.low, later.high)
