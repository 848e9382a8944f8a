"""Indicators of single words, against a look at the words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from features.extractor import FeatureSet, with_words
from features.families.indicators import most_frequent

if TYPE_CHECKING:
    from tests.features.conftest import Case


def test_the_most_frequent_words(case: Case) -> None:
    for text, words in (
        (case.bitext.source, [word for pair in case.bitext for word in pair.source_words]),
        (case.bitext.target, [word for pair in case.bitext for word in pair.target_words]),
    ):
        counts = Counter(words)  # equal ones in the order of their first
        assert most_frequent(text, 5) == tuple(word for word, _ in counts.most_common(5))
        assert most_frequent(text, 10**6) == tuple(word for word, _ in counts.most_common())
        assert most_frequent(text, 0) == ()


def test_words_that_are_nowhere_in_the_text_are_not_frequent(case: Case) -> None:
    nothing = case.bitext.take(np.zeros(0, np.int64))
    assert len(nothing.source.vocabulary) > 0
    assert with_words(FeatureSet(), nothing, 30).words == ((), ())


def test_an_indicator_is_1_where_its_word_is(case: Case) -> None:
    features = with_words(FeatureSet(("bias",)), case.counted, 6)
    assert features.groups == ("bias", *["words"] * 12)
    unknown = FeatureSet(("bias",), words=((*features.words[0], "never"), features.words[1]))
    for chosen in (features, unknown):
        table = chosen.extract(case.bitext, case.statistics)
        ones = 0
        for i, pair in enumerate(case.bitext):
            for side, words in enumerate((pair.source_words, pair.target_words)):
                for word in chosen.words[side]:
                    column = table[i][:, table.names.index(f"{('source', 'target')[side]}:{word}")]
                    here = np.array([word == other for other in words], np.float32)
                    rows = slice(*table.lists.offsets[i : i + 2])
                    assert np.array_equal(column, here[(table.lists.source, table.lists.target)[side][rows]])
                    ones += int(column.sum())
        assert ones == table.features[:, 1:].sum() > 0
