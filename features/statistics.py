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
        """Raises KeyError where an array is missing, ValueError where they do not fit together."""

        def part(name: str, kind: type[Any]) -> Any:
            return kind(**{f.name: arrays[f"{name}.{f.name}"] for f in fields(kind)})

        cooccurrence = part("cooccurrence", CooccurrenceTable)
        cooccurrence = CooccurrenceTable(**{**vars(cooccurrence), "pairs": int(cooccurrence.pairs)})
        source_words, target_words = part("source_words", WordTable), part("target_words", WordTable)
        # Kernels trust these numbers: they read where the offsets say.
        _check_offsets(cooccurrence.row_offsets, len(source_words), cooccurrence.targets, cooccurrence.counts)
        for counts, words in (
            (cooccurrence.source_counts, source_words),
            (cooccurrence.target_counts, target_words),
        ):
            if len(counts) != len(words):
                raise ValueError(f"{len(counts)} counts for {len(words)} words")
            _check_offsets(words.offsets, len(words), words.letters)
            _check_offsets(words.plain_offsets, len(words), words.plain_letters)
        return cls(cooccurrence, source_words, target_words)


def _check_offsets(offsets: npt.NDArray[np.int64], rows: int, *values: npt.NDArray[Any]) -> None:
    """Raise ValueError unless offsets cut each of the values into so many rows."""
    sound = offsets.shape == (rows + 1,) and offsets[0] == 0 and (np.diff(offsets) >= 0).all()
    if not sound or any(len(v) != offsets[-1] for v in values):
        raise ValueError("offsets do not fit what they divide")
