"""Cells, classes and smoothed probabilities against plain dictionaries."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from corpora.bitext import Bitext
from corpora.normalize import unaccented
from features.cooccurrence import count_cooccurrences
from features.translation._lexicon_kernels import LEAST_LIKENESS
from features.translation._translation_kernels import Emissions
from features.translation.cells import Cells
from features.translation.lexicon import (
    PSEUDO_COUNTS,
    SPELLING,
    UNSEEN,
    Classes,
    build_levels,
    class_name,
    estimate,
)
from features.word_pairs import Pairs

WORDS = "chat chats château châtelet chien chiens cab cabine 1990 1991 . , où ou a".split()


@pytest.fixture(params=[0, 1, 2])
def bitext(request: pytest.FixtureRequest, make_bitext: Callable[..., Bitext]) -> Bitext:
    rng = np.random.default_rng(request.param)

    def sentence() -> list[str]:
        return rng.choice(WORDS, rng.integers(0, 6)).tolist()

    return make_bitext([(sentence(), sentence()) for _ in range(25)])


def word_pairs(cells: Cells) -> list[tuple[int, int]]:
    sources = np.repeat(np.arange(cells.n_sources), np.diff(cells.row_offsets))
    return list(zip(sources.tolist(), cells.targets.tolist(), strict=True))


def test_edges_have_the_cell_and_the_emissions_of_their_words(bitext: Bitext) -> None:
    rng = np.random.default_rng(0)
    everything = Cells.from_table(count_cooccurrences(bitext, minimum_dice=0.0))
    chosen = rng.random(len(everything)) < 0.6
    cells = everything.keep(chosen)
    assert word_pairs(cells) == [pair for pair, kept in zip(word_pairs(everything), chosen, strict=True) if kept]
    place = {pair: cell for cell, pair in enumerate(word_pairs(cells))}
    n_source, n_target = len(bitext.source.vocabulary), len(bitext.target.vocabulary)
    sizes = (len(cells) + 1, 2), n_source, n_target, n_source, n_target, n_source, n_target
    emissions = Emissions(*(rng.random(size, np.float32) for size in sizes))
    for first, last in ((0, len(bitext)), (3, 17), (5, 5), (24, 25)):
        edges = [(e, f) for i in range(first, last) for e in bitext[i].source for f in bitext[i].target]
        ids, values = cells.emit(Pairs.cut(bitext, first, last), emissions)
        assert ids.tolist() == [place.get(edge, len(cells)) for edge in edges]
        assert values.T.tolist() == [
            emissions.cells[place[e, f]].tolist()
            if (e, f) in place
            else [
                emissions.target_background[f] * emissions.source_scale[e],
                emissions.source_background[e] * emissions.target_scale[f],
            ]
            for e, f in edges
        ]
    assert set(word_pairs(everything)) == {
        (e, f) for pair in bitext for e in pair.source.tolist() for f in pair.target.tolist()
    }


def test_coarse_cells_are_the_classes_of_the_words_that_have_one(bitext: Bitext) -> None:
    rng = np.random.default_rng(1)
    cells = Cells.from_table(count_cooccurrences(bitext, minimum_dice=0.0))
    sources = rng.integers(0, 4, cells.n_sources).astype(np.int32)
    targets = rng.integers(0, 5, cells.n_targets).astype(np.int32)
    coarse, parents = cells.coarsen(sources, targets, 4, 5)
    pairs = word_pairs(coarse)
    assert pairs == sorted(set(pairs))
    assert set(pairs) == {(sources[e], targets[f]) for e, f in word_pairs(cells)}
    assert [pairs[p] for p in parents] == [(sources[e], targets[f]) for e, f in word_pairs(cells)]


def likeness(e: str, f: str) -> float:
    a, b = unaccented(e), unaccented(f)
    same = 0
    while same < min(len(a), len(b)) and a[same] == b[same]:
        same += 1
    share = same / max(len(a), len(b))
    return SPELLING * share**4 if share >= LEAST_LIKENESS else 0.0


class Reference:
    """p(f | e) by the formula, with dictionaries.  counts: of pairs of words, each (given, generated)."""

    def __init__(self, counts: dict[tuple[str, str], float], occurrences: Counter[str], widths: tuple) -> None:
        self.counts, self.occurrences, self.widths = counts, occurrences, widths

    def share(self, f: str, depth: int) -> float:
        def seen(width: int | None, among: Callable[[str], bool]) -> dict[str, float]:
            found: Counter[str] = Counter()
            for word, count in self.occurrences.items():
                if among(word):
                    found[class_name(word, width)] += count
            return found

        fine, coarse = self.widths[depth], self.widths[depth + 1] if depth + 1 < len(self.widths) else 0
        rivals = seen(fine, lambda w: class_name(w, coarse) == class_name(f, coarse))
        return (rivals[class_name(f, fine)] + UNSEEN) / (sum(rivals.values()) + UNSEEN * (len(rivals) + 1))

    def probability(self, e: str, f: str, depth: int = 0) -> float:
        if depth == len(self.widths):
            return 1.0
        width = self.widths[depth]
        weight = PSEUDO_COUNTS[width]
        row: Counter[str] = Counter()
        alike = 0.0
        for (given, generated), count in self.counts.items():
            if class_name(given, width) == class_name(e, width):
                more = likeness(given, generated) if depth == 0 else 0.0
                row[class_name(generated, width)] += count + more
                alike += more
        above = self.probability(e, f, depth + 1) * self.share(f, depth)
        return (row[class_name(f, width)] + weight * above) / (sum(row.values()) + weight)


@pytest.mark.parametrize("agreement", [True, False])
def test_probabilities_follow_the_formula(bitext: Bitext, agreement: bool) -> None:
    rng = np.random.default_rng(2)
    cells = Cells.from_table(count_cooccurrences(bitext, minimum_dice=0.0))
    es, fs = bitext.source.vocabulary.words, bitext.target.vocabulary.words
    counts = rng.random((len(cells) + 1, 1 if agreement else 2)) ** 4
    counts[-1] = 0.0
    n = [np.bincount(t.ids, minlength=len(t.vocabulary)).astype(float) for t in (bitext.source, bitext.target)]
    widths = (None, 5, 3)
    levels = build_levels(cells, Classes.of((es, fs), (n[0], n[1]), widths))
    tables = [*estimate(levels, counts)][::-1]
    pairs = [(es[e], fs[f]) for e, f in word_pairs(cells)]
    forward = Reference(dict(zip(pairs, counts[:, 0], strict=False)), Counter(dict(zip(fs, n[1], strict=True))), widths)
    reverse = Reference(
        {(f, e): c for (e, f), c in zip(pairs, counts[:, -1], strict=False)},
        Counter(dict(zip(es, n[0], strict=True))),
        widths,
    )
    for cell in rng.permutation(len(cells))[:12].tolist():
        e, f = pairs[cell]
        assert tables[0].cells[cell, 0] == pytest.approx(forward.probability(e, f), rel=1e-4)
        assert tables[0].cells[cell, 1] == pytest.approx(reverse.probability(f, e), rel=1e-4)


def test_without_smoothing_probabilities_are_relative_frequencies(bitext: Bitext) -> None:
    cells = Cells.from_table(count_cooccurrences(bitext, minimum_dice=0.0))
    es, fs = bitext.source.vocabulary.words, bitext.target.vocabulary.words
    counts = np.random.default_rng(3).random((len(cells) + 1, 2))
    classes = Classes.of((es, fs), (np.ones(len(es)), np.ones(len(fs))), (None, 5, 3))
    levels = build_levels(cells, classes, smoothing=0.0)
    *_, finest = estimate(levels, counts)
    table = finest.cells
    rows = np.repeat(np.arange(len(es)), np.diff(cells.row_offsets))
    np.testing.assert_allclose(table[:-1, 0], counts[:-1, 0] / np.bincount(rows, counts[:-1, 0])[rows], rtol=1e-5)
    columns = np.bincount(cells.targets, counts[:-1, 1])[cells.targets]
    np.testing.assert_allclose(table[:-1, 1], counts[:-1, 1] / columns, rtol=1e-5)
