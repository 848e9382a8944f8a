"""CorpusStatistics: all that is kept of the unlabelled bitext."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from corpora.bitext import Bitext
from features.cooccurrence import MINIMUM_DICE, CooccurrenceTable, add_cooccurrences, count_cooccurrences
from features.translation.expectation import Pass
from features.translation.lexicon import KINDS
from features.translation.model import TranslationModel
from features.translation.training import DEFAULT_MEMORY, train_translation, update_translation
from features.words import WordTable

_WORD_TABLES = ("source_words.", "target_words.")


@dataclass(frozen=True, eq=False)
class CorpusStatistics:
    """Counts of a bitext and the spelling of its words; word ids are rows of the word tables.

    translation: models of who translates whom, of the same words, or None where no feature looks at them.
    """

    cooccurrence: CooccurrenceTable
    source_words: WordTable
    target_words: WordTable
    translation: TranslationModel | None = None
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
        lexicons: Sequence[str] = tuple(KINDS),
        memory: int = DEFAULT_MEMORY,
        on_progress: Callable[[float], None] | None = None,
        on_pass: Callable[[Pass], None] | None = None,
    ) -> CorpusStatistics:
        """Count a bitext; on_progress is called with the fraction done.

        lexicons: of the translation models to train, none without any, with the memory that `train_translation` takes;
        on_pass is called after each pass.
        """
        table = count_cooccurrences(bitext, minimum_dice=minimum_dice, on_progress=on_progress)
        model = train_translation(bitext, lexicons=lexicons, memory=memory, on_pass=on_pass) if lexicons else None
        source, target = (WordTable.from_words(text.vocabulary.words) for text in (bitext.source, bitext.target))
        return cls(table, source, target, model)

    def updated(
        self,
        bitext: Bitext,
        *,
        memory: int = DEFAULT_MEMORY,
        on_progress: Callable[[float], None] | None = None,
        on_pass: Callable[[Pass], None] | None = None,
    ) -> CorpusStatistics:
        """Statistics of this text and another bitext, without reading the former again; see `update_translation`.

        Text with no word at all on one of its sides says nothing of translation and changes nothing.
        """
        if len(bitext.source.ids) == 0 or len(bitext.target.ids) == 0:
            return self
        table = count_cooccurrences(bitext, on_progress=on_progress)
        tables, ids = [], []
        for text, words, known in (
            (bitext.source, self.source_words, self.source_ids),
            (bitext.target, self.target_words, self.target_ids),
        ):
            new = [word for word in text.vocabulary.words if word not in known]
            index = {word: i for i, word in enumerate(new, len(words))}
            both = (known.get(word, index.get(word, -1)) for word in text.vocabulary.words)
            ids.append(np.fromiter(both, np.int64, len(text.vocabulary)))
            places = np.concatenate([np.arange(len(words)), -1 - np.arange(len(new))])
            tables.append(words.take(places, WordTable.from_words(new)))
        model = self.translation
        if model is not None:
            model = update_translation(model, bitext, memory=memory, on_pass=on_pass)
        return CorpusStatistics(add_cooccurrences(self.cooccurrence, table, *ids), tables[0], tables[1], model)

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Everything as named arrays, for a model file; `from_arrays` is the inverse."""
        arrays = {}
        if self.translation is not None:  # its words are ours
            for name, array in self.translation.to_arrays().items():
                if not name.startswith(_WORD_TABLES):
                    arrays[f"translation.{name}"] = array
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
        translation = {
            name.removeprefix("translation."): a for name, a in arrays.items() if name.startswith("translation.")
        }
        if not translation:
            return cls(cooccurrence, source_words, target_words)
        words = {name: a for name, a in arrays.items() if name.startswith(_WORD_TABLES)}
        return cls(cooccurrence, source_words, target_words, TranslationModel.from_arrays(translation | words))


def _check_offsets(offsets: npt.NDArray[np.int64], rows: int, *values: npt.NDArray[Any]) -> None:
    """Raise ValueError unless offsets cut each of the values into `rows` rows."""
    sound = offsets.shape == (rows + 1,) and offsets[0] == 0 and (np.diff(offsets) >= 0).all()
    if not sound or any(len(v) != offsets[-1] for v in values):
        raise ValueError("offsets do not fit what they divide")
