"""Counts are of sentence pairs, whatever the order, the threads and the chunks; pruning keeps its promise."""

from collections import Counter
from collections.abc import Callable
from dataclasses import fields

import numpy as np
import pytest

from corpora import threads as parallel
from corpora.bitext import Bitext
from features import cooccurrence, word_pairs
from features.cooccurrence import CooccurrenceTable, add_cooccurrences, count_cooccurrences

MakeBitext = Callable[..., Bitext]
MakePairs = Callable[..., list[tuple[list[str], list[str]]]]
Cells = dict[tuple[str, str], int]


def cells(table: CooccurrenceTable, bitext: Bitext) -> Cells:
    """C_ef by words, whatever their ids."""
    es, fs = bitext.source.vocabulary.words, bitext.target.vocabulary.words
    rows = np.repeat(np.arange(len(es)), np.diff(table.row_offsets)).tolist()
    found = zip(rows, table.targets.tolist(), table.counts.tolist(), strict=True)
    return {(es[e], fs[f]): count for e, f, count in found}


def counted_by_dict(bitext: Bitext, minimum_dice: float) -> tuple[Counter[str], Counter[str], Cells]:
    source, target, both = Counter[str](), Counter[str](), Counter[tuple[str, str]]()
    for pair in bitext:
        source.update(set(pair.source_words))
        target.update(set(pair.target_words))
        both.update({(e, f) for e in pair.source_words for f in pair.target_words})
    kept = {(e, f): n for (e, f), n in both.items() if 2 * n >= minimum_dice * (source[e] + target[f])}
    return source, target, kept


def same(a: CooccurrenceTable, b: CooccurrenceTable) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in vars(a))


@pytest.mark.parametrize("minimum_dice", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_equals_dicts(make_bitext: MakeBitext, make_pairs: MakePairs, seed: int, minimum_dice: float) -> None:
    bitext = make_bitext(make_pairs(seed))
    table = count_cooccurrences(bitext, minimum_dice=minimum_dice)
    source, target, kept = counted_by_dict(bitext, minimum_dice)
    assert cells(table, bitext) == kept
    assert table.source_counts.tolist() == [source[e] for e in bitext.source.vocabulary.words]
    assert table.target_counts.tolist() == [target[f] for f in bitext.target.vocabulary.words]
    assert all((np.diff(row) > 0).all() for row in np.split(table.targets, table.row_offsets[1:-1]))
    assert same(count_cooccurrences(bitext, minimum_dice=0.0).above(minimum_dice), table)


@pytest.mark.parametrize("size", [1, 7, 40, 1000])
@pytest.mark.parametrize("workers", [1, 3])
def test_threads_and_chunks_do_not_matter(
    make_bitext: MakeBitext, make_pairs: MakePairs, monkeypatch: pytest.MonkeyPatch, workers: int, size: int
) -> None:
    bitext = make_bitext([(["lonely"], []), *make_pairs(5), (["last"], [])])
    whole = count_cooccurrences(bitext)
    monkeypatch.setattr(parallel, "cores", lambda: workers)
    monkeypatch.setattr(cooccurrence, "_CELLS_PER_CHUNK", size)
    monkeypatch.setattr(word_pairs, "WORDS_AT_ONCE", size)
    monkeypatch.setattr(cooccurrence, "_SENTENCES_AT_ONCE", size)
    told: list[float] = []
    assert same(count_cooccurrences(bitext, on_progress=told.append), whole)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len(told) > 10 or size > 7  # there really were chunks


@pytest.mark.parametrize("pairs", [[], [([], [])], [([], []), (["a"], []), ([], ["b"])]])
def test_nothing_to_count(make_bitext: MakeBitext, pairs: list[tuple[list[str], list[str]]]) -> None:
    table = count_cooccurrences(make_bitext(pairs))
    assert table.pairs == len(pairs)
    assert table.row_offsets[-1] == len(table.targets) == len(table.counts) == 0
    if len(pairs) == 3:
        assert table.source_counts.tolist() == table.target_counts.tolist() == [1]


def test_counts_of_two_corpora_add_up(make_bitext: MakeBitext, make_pairs: MakePairs) -> None:
    for seed in range(5):
        one, other = make_pairs(seed, n=20, n_words=12), make_pairs(seed + 100, n=15, n_words=18)
        both = make_bitext([*one, *other])
        parts = both.take(np.arange(len(one))), both.take(np.arange(len(one), len(both)))
        first, second, whole = (count_cooccurrences(text, minimum_dice=0.0) for text in (*parts, both))
        n_source, n_target = (int(text.ids.max()) + 1 for text in (parts[0].source, parts[0].target))
        first = CooccurrenceTable(
            first.source_counts[:n_source],
            first.target_counts[:n_target],
            first.row_offsets[: n_source + 1],
            first.targets,
            first.counts,
            first.pairs,
        )
        together = add_cooccurrences(first, second)
        for field in fields(whole):
            np.testing.assert_array_equal(getattr(together, field.name), getattr(whole, field.name))
