"""CorpusStatistics: all that is kept of the unlabelled bitext."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from corpora.bitext import Bitext
from corpora.ragged import Array, Arrays
from features.cooccurrence import KEPT_DICE, MINIMUM_DICE, CooccurrenceTable, add_cooccurrences, count_cooccurrences
from features.translation.counting import THIS_MACHINE, Engine
from features.translation.expectation import Pass, Settings
from features.translation.lexicon import KINDS
from features.translation.model import TranslationModel
from features.translation.training import extend, train_translation, update_translation
from features.words import WordTable, check_ids, check_offsets

ARRAYS = {
    r"cooccurrence\.pairs": ("int64", 0),
    r"cooccurrence\.(targets|(source_|target_)?counts)": ("int32", 1),
    r"translation\.settings|.*\.(forward|reverse)(_jumps)?": ("float64", 1),
    r"translation\.(source|target)_counts|.*[._]offsets": ("int64", 1),
    r".*_words\.flags": ("uint8", 1),
    r".*[._]letters|.*\.targets|.*_frequent": ("int32", 1),
    r".*\.(counts|cells)": ("float32", 2),
    r".*\.null_(source|target)|.*_(scale|shares|unseen)": ("float32", 1),
    r".*_contexts": ("float64", 3),
    r".*_(weights|inside)": ("float32", 3),
}
"""What the arrays of a model are, by patterns of their names, of which the first counts: dtype and dimensions."""


def _check_array(name: str, array: Array) -> None:
    """Raises ValueError where it is not what ARRAYS says: for others, kernels would be compiled anew, or trip."""
    if (array.dtype.name, array.ndim) not in [kind for names, kind in ARRAYS.items() if re.fullmatch(names, name)][:1]:
        raise ValueError(f"no array of a model is {name} of {array.ndim} dimensions of {array.dtype}")
    if array.size and not (array.min() >= 0 and array.max() < np.inf):
        raise ValueError(f"the numbers of {name} are not all finite and at least 0")


@dataclass(frozen=True, eq=False)
class CorpusStatistics:
    """Counts of a bitext and the spelling of its words; word ids are rows of the word tables.

    translation: models of who translates whom, of the same words, or None where no feature looks at them.
    """

    cooccurrence: CooccurrenceTable
    source_words: WordTable
    target_words: WordTable
    translation: TranslationModel | None = None

    @property
    def source_ids(self) -> Mapping[str, int]:
        return self.source_words.index

    @property
    def target_ids(self) -> Mapping[str, int]:
        return self.target_words.index

    @classmethod
    def from_bitext(
        cls,
        bitext: Bitext,
        settings: Settings | None = None,
        *,
        lexicons: Sequence[str] = tuple(KINDS),
        priors: TranslationModel | None = None,
        on_progress: Callable[[float], None] | None = None,
        on_pass: Callable[[Pass], None] | None = None,
        engine: Engine = THIS_MACHINE,
    ) -> "CorpusStatistics":
        """Count a bitext; on_progress is called with the fraction done.

        lexicons: of the translation models to train, none without any; on_pass is called after each pass.
        settings: of this training, and priors: what it begins with, see `train_translation`.  engine: who counts.
        """
        if priors is not None:
            bitext = Bitext(extend(bitext.source, priors.source_words), extend(bitext.target, priors.target_words))
        tables = [engine.cooccurrences(bitext, MINIMUM_DICE if lexicons else KEPT_DICE, on_progress)]
        source, target = (WordTable.from_words(text.vocabulary.words) for text in (bitext.source, bitext.target))
        if not lexicons:
            return cls(tables.pop(), source, target)
        kept = tables[0].above(KEPT_DICE)
        model = train_translation(
            bitext, settings, lexicons=lexicons, priors=priors, take_table=tables.pop, on_pass=on_pass, engine=engine
        )
        return cls(kept, source, target, model)

    def updated(
        self,
        bitext: Bitext,
        *,
        on_progress: Callable[[float], None] | None = None,
        on_pass: Callable[[Pass], None] | None = None,
    ) -> "CorpusStatistics":
        """Statistics of this text and another bitext, without reading the former again; see `update_translation`.

        Text with no word at all on one of its sides says nothing of translation and changes nothing.
        """
        if len(bitext.source.ids) == 0 or len(bitext.target.ids) == 0:
            return self
        bitext = Bitext(extend(bitext.source, self.source_words), extend(bitext.target, self.target_words))
        table = add_cooccurrences(self.cooccurrence, count_cooccurrences(bitext, on_progress=on_progress))
        source, target = (WordTable.from_words(text.vocabulary.words) for text in (bitext.source, bitext.target))
        model = self.translation and update_translation(self.translation, bitext, on_pass=on_pass)
        return CorpusStatistics(table.above(KEPT_DICE), source, target, model)

    def to_arrays(self) -> dict[str, Array]:
        """Everything as named arrays, for a model file; `from_arrays` is the inverse."""
        arrays = {}
        if self.translation is not None:
            arrays = {f"translation.{name}": array for name, array in self.translation.to_arrays().items()}
        for name in ("cooccurrence", "source_words", "target_words"):
            part = getattr(self, name)
            arrays.update({f"{name}.{f.name}": np.asarray(getattr(part, f.name)) for f in fields(part)})
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> "CorpusStatistics":
        """Raises KeyError where an array is missing, ValueError where they do not fit together."""

        for name, array in arrays.items():
            if "." in name:  # that of weights has none
                _check_array(name, array)

        def part(name: str, kind: type[Any]) -> Any:
            return kind(**{f.name: arrays[f"{name}.{f.name}"] for f in fields(kind)})

        cooccurrence = part("cooccurrence", CooccurrenceTable)
        cooccurrence = replace(cooccurrence, pairs=int(cooccurrence.pairs))
        words = part("source_words", WordTable), part("target_words", WordTable)
        # Kernels trust these numbers: they read where the offsets say.
        check_offsets(cooccurrence.row_offsets, len(words[0]), cooccurrence.targets, cooccurrence.counts)
        check_ids(cooccurrence.targets, len(words[1]))
        for counts, table in zip((cooccurrence.source_counts, cooccurrence.target_counts), words, strict=True):
            table.check()
            if len(counts) != len(table):
                raise ValueError(f"{len(counts)} counts for {len(table)} words")
        prefix = "translation."
        stored = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        return cls(cooccurrence, *words, TranslationModel.from_arrays(stored, *words) if stored else None)
