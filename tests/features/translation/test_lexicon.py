"""Cells, classes and smoothed probabilities against plain dictionaries."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from corpora.bitext import Bitext
from corpora.normalize import unaccented
from features.cooccurrence import count_cooccurrences
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


def likeness(e: str, f: str) -> float:
    a, b = unaccented(e), unaccented(f)
    same = 0
    while same < min(len(a), len(b)) and a[same] == b[same]:
        same += 1
    share = same / max(len(a), len(b))
    return SPELLING * share**4 if share >= 0.5 else 0.0


class Reference:
    """p(f | e) by the formula, with dictionaries.  counts: of pairs of words, each (given, generated)."""

    def __init__(
        self, counts: dict[tuple[str, str], float], occurrences: Counter[str], widths: tuple, smoothing: float
    ) -> None:
        self.counts, self.occurrences, self.widths, self.smoothing = counts, occurrences, widths, smoothing

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
        weight = self.smoothing * PSEUDO_COUNTS[width]
        row: Counter[str] = Counter()
        alike = 0.0
        for (given, generated), count in self.counts.items():
            if class_name(given, width) == class_name(e, width):
                more = self.smoothing * likeness(given, generated) if depth == 0 else 0.0
                row[class_name(generated, width)] += count + more
                alike += more
        above = self.probability(e, f, depth + 1) * self.share(f, depth)
        return (row[class_name(f, width)] + weight * above) / (sum(row.values()) + weight)


@pytest.mark.parametrize(("agreement", "smoothing"), [(True, 1.0), (False, 1.0), (False, 0.3), (False, 0.0)])
def test_probabilities_follow_the_formula(bitext: Bitext, agreement: bool, smoothing: float) -> None:
    """Without smoothing they are relative frequencies."""
    rng = np.random.default_rng(2)
    cells = Cells.from_table(count_cooccurrences(bitext, minimum_dice=0.0))
    es, fs = bitext.source.vocabulary.words, bitext.target.vocabulary.words
    counts = rng.random((len(cells) + 1, 1 if agreement else 2)) ** 4
    counts[-1] = 0.0
    n = [np.bincount(t.ids, minlength=len(t.vocabulary)).astype(float) for t in (bitext.source, bitext.target)]
    widths = (None, 5, 3)
    levels = build_levels(cells, Classes.of((es, fs), (n[0], n[1]), widths), smoothing)
    tables = [*estimate(levels, counts)][::-1]
    pairs = [(es[e], fs[f]) for e, f in word_pairs(cells)]
    forward = Reference(
        dict(zip(pairs, counts[:, 0], strict=False)), Counter(dict(zip(fs, n[1], strict=True))), widths, smoothing
    )
    reverse = Reference(
        {(f, e): c for (e, f), c in zip(pairs, counts[:, -1], strict=False)},
        Counter(dict(zip(es, n[0], strict=True))),
        widths,
        smoothing,
    )
    for cell in rng.permutation(len(cells))[:12].tolist():
        e, f = pairs[cell]
        assert tables[0].cells[cell, 0] == pytest.approx(forward.probability(e, f), rel=1e-4)
        assert tables[0].cells[cell, 1] == pytest.approx(reverse.probability(f, e), rel=1e-4)
