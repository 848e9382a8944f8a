"""Links with a guaranteed risk: how far down the scores links may go while few of them are wrong.

The loss of a sentence pair is the share of its links that are wrong, which gold does not have even as possible; 0 of a
pair without links. Labelled pairs that the model has not learnt from say what the losses are at each threshold. With
the loosest threshold at which (Σ losses + 1) / (n + 1) ≤ α, the expected loss of a further pair is at most α, if the n
pairs and this one are exchangeable: a random sample of the text, say  [ABFLS24, theorem 1]. It is expected over samples
of labelled pairs, too: with this one it may be somewhat more or less.

[ABFLS24] Angelopoulos, Bates, Fisch, Lei and Schuster 2024, Conformal risk control.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from aligner.errors import SettingError
from corpora.errors import counted
from corpora.links import Links
from corpora.ragged import F64

WIDER = 1.5
"""Offset of the links that a threshold cuts: where the model is right more often than asked for, they are more."""

RISKS = 0.02, 0.05, 0.1
"""What a model is described by."""

_THRESHOLDS = 60
_STRICTEST = 0.2
"""Share of the links that the strictest threshold keeps. Of fewer, a single wrong one is all that a pair has."""


@dataclass(frozen=True)
class RiskCurve:
    """What n labelled pairs say of thresholds.

    thresholds: (t,) falling scores, chosen without looking at labels.  losses: (t,) sums of the pairs' losses, where
    the loss of a pair is the greatest at this and all stricter thresholds.  kept: (t,) links above, as a share of those
    found without a threshold; it may be above 1.  pairs: n.  Raises ValueError on others.
    """

    thresholds: tuple[float, ...]
    losses: tuple[float, ...]
    kept: tuple[float, ...]
    pairs: int

    def __post_init__(self) -> None:
        columns = self.thresholds, self.losses, self.kept
        whole = len({*map(len, columns)}) == 1 and np.isfinite(columns).all() and self.pairs > 0
        if not whole or (np.diff(self.thresholds) >= 0).any() or (np.diff(self.losses) < 0).any():
            raise ValueError("a risk curve has finite falling thresholds, losses that do not fall, shares, and pairs")

    @classmethod
    def of(cls, found: Links, usual: int) -> "RiskCurve":
        """From the links of n pairs, with scores, `calibration.judged`.  usual: links without a threshold."""
        scores, shares = found.known_scores, np.linspace(_STRICTEST, 1.0, _THRESHOLDS)
        thresholds = np.unique(np.quantile(scores, 1.0 - shares))[::-1] if len(scores) else np.empty(0)
        kept = [float(np.count_nonzero(scores >= threshold) / max(usual, 1)) for threshold in thresholds]
        losses = _losses(found, thresholds).sum(axis=0)
        return cls(tuple(thresholds.tolist()), tuple(losses.tolist()), tuple(kept), len(found))

    @classmethod
    def read(cls, description: Mapping[str, Any] | None) -> "RiskCurve | None":
        """The curve of the JSON values of its fields.  Raises LookupError, TypeError or ValueError on others."""
        if description is None:
            return None
        thresholds, losses, kept = (tuple(map(float, description[name])) for name in ("thresholds", "losses", "kept"))
        return cls(thresholds, losses, kept, int(description["pairs"]))

    @property
    def risks(self) -> F64:
        """(t,) least risk that each threshold keeps."""
        return (np.array(self.losses) + 1.0) / (self.pairs + 1.0)

    def place(self, risk: float) -> int:
        """The place of the loosest threshold that keeps a risk; -1 where none does."""
        return int(np.searchsorted(self.risks, risk, side="right")) - 1

    def threshold(self, risk: float) -> float:
        """The loosest threshold that keeps a risk, in (0, 1).  Raises SettingError where none does."""
        place = self.place(risk)
        if place >= 0:
            return self.thresholds[place]
        have, needed = counted(self.pairs, "labelled pair"), ceil(1.0 / risk) - 1
        if self.pairs < needed:
            raise SettingError(f"a risk of {risk:g} needs at least {needed} labelled pairs, {have} are not enough")
        what = f"of {have} too many sure links are wrong ({min(self.risks, default=1.0):.2g} is the least)"
        raise SettingError(f"a risk of {risk:g} cannot be kept: {what}")

    def describe(self) -> dict[str, float | None]:
        """For each of RISKS the share of the usual links that it keeps; None where it cannot be kept."""
        kept = *self.kept, None  # which -1 is the place of
        return {f"{risk:g}": kept[self.place(risk)] for risk in RISKS}


def in_words(described: Mapping[str, float | None]) -> list[str]:
    """What `RiskCurve.describe` says, a phrase for each risk."""
    none = "no threshold keeps it"
    return [
        f"{risk}: {none if kept is None else f'{100 * kept:.0f} % of the links'}" for risk, kept in described.items()
    ]


def _losses(found: Links, thresholds: F64) -> F64:
    """(n, t) loss of each pair at each of falling thresholds, the greatest so far."""
    n, t = len(found), len(thresholds)
    first = np.searchsorted(-thresholds, -found.known_scores)  # the strictest threshold that keeps each link
    cells = found.pairs * (t + 1) + first
    links, wrong = (
        np.bincount(cells, weights, n * (t + 1)).reshape(n, t + 1)[:, :t].cumsum(axis=1)
        for weights in (None, ~found.sure)
    )
    losses = np.divide(wrong, links, out=np.zeros((n, t)), where=links > 0)
    return np.maximum.accumulate(losses, axis=1)
