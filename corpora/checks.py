"""What is no JSON, and what looks wrong about a text that can be read all the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.normalize import UNSPACED

if TYPE_CHECKING:
    from corpora.bitext import Bitext

FEWEST_LINES = 20
"""Of fewer lines nothing is said."""


def oddities(bitext: Bitext) -> Iterator[str]:
    """Lines that are mostly empty, single words, hundreds of words, or the same on both sides: a message each."""
    full = (bitext.source.lengths > 0) & (bitext.target.lengths > 0)
    if len(full) >= FEWEST_LINES and full.mean() < 0.5:
        yield f"{1 - full.mean():.0%} of the lines are empty on a side (are these the right files?)"
    if full.sum() < FEWEST_LINES:
        return
    for name, text in (("source", bitext.source), ("target", bitext.target)):
        words = text.lengths[full].mean()
        if words < 2:
            unspaced = UNSPACED.search("".join(text.vocabulary.words[:200]))
            hint = "training with `tokenize` takes its characters for words" if unspaced else "put spaces between words"
            yield f"the {name} has {words:.1f} words a line ({hint})"
        elif words > 300:
            yield f"the {name} has {words:.0f} words a line (put one sentence on a line)"
    pairs = [bitext[pair] for pair in np.flatnonzero(full)[:200].tolist()]
    same = np.mean([pair.source_words == pair.target_words for pair in pairs])
    if same > 0.5:
        yield f"{same:.0%} of the lines are the same in source and target (is one text given twice?)"


def parse_json(data: bytes | str) -> Any:
    """Return the value of JSON.  Raises ValueError, which says why, of what is none or nobody could mean."""
    try:
        return json.loads(
            data if isinstance(data, str) else data.decode("utf-8-sig"), parse_int=_whole, parse_constant=_no_number
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _whole(digits: str) -> int:
    if len(digits) > 20:
        raise ValueError("it has a number of more than 20 digits")
    return int(digits)


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")
