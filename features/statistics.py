"""CorpusStatistics: all that is kept of the unlabelled bitext."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from corpora.bitext import Bitext
from features.cooccurrence import MINIMUM_DICE, CooccurrenceTable, count_cooccurrences
from features.words import WordTable


@dataclass(frozen=True, eq=False)
class CorpusStatistics:
    """Counts of a bitext and the spelling of its words; word ids are rows of the word tables."""

    cooccurrence: CooccurrenceTable
    source_words: WordTable
    target_words: WordTable
    source_ids: Mapping[str, int] = field(init=False, repr=False)
    target_ids: Mapping[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for side in ("source", "target"):
            words = getattr(self, f"{side}_words").words()
            object.__setattr__(self, f"{side}_ids", {word: i for i, word in enumerate(words)})

    @classmethod
    def from_bitext(
        cls,
        bitext: Bitext,
        *,
        minimum_dice: float = MINIMUM_DICE,
        on_progress: Callable[[float], None] | None = None,
    ) -> CorpusStatistics:
        """Count a bitext; on_progress is called with the fraction done."""
        return cls(
            count_cooccurrences(bitext, minimum_dice=minimum_dice, on_progress=on_progress),
            WordTable.from_words(bitext.source.vocabulary.words),
            WordTable.from_words(bitext.target.vocabulary.words),
        )

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Everything as named arrays, for a model file; `from_arrays` is the inverse."""
        arrays = {}
        for name in ("cooccurrence", "source_words", "target_words"):
            part = getattr(self, name)
            for f in fields(part):
                arrays[f"{name}.{f.name}"] = np.asarray(getattr(part, f.name))
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> CorpusStatistics:
        def part(name: str, kind: type[Any]) -> Any:
            return kind(**{f.name: arrays[f"{name}.{f.name}"] for f in fields(kind)})

        cooccurrence = part("cooccurrence", CooccurrenceTable)
        cooccurrence = CooccurrenceTable(**{**vars(cooccurrence), "pairs": int(cooccurrence.pairs)})
        return cls(cooccurrence, part("source_words", WordTable), part("target_words", WordTable))
