"""How far long work is, for whoever shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Progress:
    """How far a stage is.  done: in `unit`, of `total` if that is known.  detail: a few words for the user."""

    stage: Literal["reading", "counting", "features", "training", "aligning"]
    done: float
    total: float | None = None
    unit: str = ""
    detail: str = ""
