"""The families of features but orthography, and indicators of words: the documented formulas, edge by edge."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import log
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from corpora.links import Links, PairLinks
from corpora.ragged import Lists
from features.batch import EncodedText
from features.extractor import FAMILIES, FeatureSet, with_words
from features.families import (
    association,
    bias,
    competition,
    context,
    directional,
    hmm,
    kinds,
    lexical,
    links,
    neighbours,
    position,
)
from features.families.indicators import most_frequent

if TYPE_CHECKING:
    from tests.features.conftest import Case


Columns = Callable[..., np.ndarray]

SIGNED = {f"{of}margin_{line}" for of in ("", "hmm_", "lexical_") for line in ("row", "column")}


def test_families_and_names() -> None:
    names = [name for family in FAMILIES.values() for name in family.NAMES]
    assert len(names) == len(set(names))
    assert list(FAMILIES) == [family.__name__.removeprefix("features.families.") for family in FAMILIES.values()]


@pytest.mark.parametrize("name", FAMILIES)
def test_ranges(columns: Columns, name: str) -> None:
    family = FAMILIES[name]
    values = columns(family, len(family.NAMES))
    assert np.isfinite(values).all()
    for column, feature in enumerate(family.NAMES):
        assert values[:, column].min() >= (-1 if feature in SIGNED else 0)
        assert values[:, column].max() <= 1
        assert feature == "bias" or len(set(values[:, column].tolist())) > 1


def test_bias(columns: Columns) -> None:
    assert (columns(bias, 1) == 1).all()


def test_association(case: Case, columns: Columns) -> None:
    expected: list[list[float]] = []
    source, target, _ = case.counts
    scale = log(1 + len(case.counted))
    for es, fs, _ in case.matrices():
        for e in es:
            for f in fs:
                a, b = log(1 + source[e]) / scale, log(1 + target[f]) / scale
                expected.append([float(case.dice(e, f)), a, b, abs(a - b)])
    np.testing.assert_allclose(columns(association, 4), expected, rtol=1e-6, atol=1e-7)


def test_position(case: Case, columns: Columns) -> None:
    expected = []
    for es, fs, _ in case.matrices():
        for j in range(len(es)):
            for k in range(len(fs)):
                distance = abs(j / len(es) - k / len(fs))
                expected.append([distance, distance**0.5, distance**2])
    np.testing.assert_allclose(columns(position, 3), expected, rtol=1e-6)


def standing(line: list[float], x: int) -> tuple[float, float, float]:
    """Rank, margin and share of one edge in its row or column."""
    value, rivals = line[x], line[:x] + line[x + 1 :]
    best = max(line)
    return (
        1 / (1 + sum(rival > value for rival in rivals)),
        value - max(rivals, default=0.0),
        value / best if best > 0 else 0.0,
    )


def standings(matrix: np.ndarray) -> np.ndarray:
    """(E, 7) the columns of competition of any values."""
    values = matrix.astype(np.float64)
    expected = []
    for j in range(values.shape[0]):
        for k in range(values.shape[1]):
            row, column = standing(values[j].tolist(), k), standing(values[:, k].tolist(), j)
            mutual = values[j, k] > 0 and max(values[j].max(), values[:, k].max()) <= values[j, k]
            both = zip(row, column, strict=True)
            expected.append([*(part for parts in both for part in parts), float(mutual)])
    return np.reshape(expected, (-1, 7))


def test_competition(case: Case, columns: Columns) -> None:
    values = columns(competition, 7)
    for es, fs, rows in case.matrices():
        expected = standings(case.dice_matrix(es, fs))
        np.testing.assert_allclose(values[rows], expected, rtol=1e-6, atol=1e-7)


def test_competition_of_short_and_long_lines() -> None:
    """With ties, and nothing but zeros in one."""
    rng = np.random.default_rng(0)
    sizes = [(1, 1), (2, 230), (16, 17), (0, 3), (3, 0), (33, 2), (230, 2), (5, 200), (201, 1), (4, 4)]
    matrices = [np.round(rng.random(size), 1).astype(np.float32) for size in sizes]
    matrices[-1][:] = 0.0
    values, shapes = np.concatenate([matrix.ravel() for matrix in matrices]), np.array(sizes)
    lists = Lists.of_all(shapes)
    expected = np.concatenate([standings(matrix) for matrix in matrices if matrix.size])
    out = np.full((7, len(values)), 5.0, np.float32).T
    tokens = SimpleNamespace(edge_offsets=lists.offsets)
    competition.fill_standing(SimpleNamespace(lists=lists, tokens=tokens), values, out)
    np.testing.assert_allclose(out, expected, rtol=1e-6, atol=1e-7)


def test_neighbours(case: Case, columns: Columns) -> None:
    values, found = columns(neighbours, 8), 0
    for es, fs, rows in case.matrices():
        J, K = len(es), len(fs)
        dice = case.dice_matrix(es, fs)
        best = standings(dice)[:, 6].reshape(J, K)  # of both words
        found += best.sum()
        # Outside of the pair there is nothing: a frame of zeros.
        framed = [np.pad(matrix, 1) for matrix in (dice, best)]
        expected = [
            [m[j + 1 + dj, k + 1 + dk] for m in framed for dj, dk in ((-1, -1), (1, 1), (-1, 1), (1, -1))]
            for j in range(J)
            for k in range(K)
        ]
        np.testing.assert_array_equal(values[rows], np.reshape(expected, (-1, 8)))
    assert 0 < found < len(values)


def believed(case: Case, which: str) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, slice]]:
    """Posteriors of both directions and their geometric mean for each pair, (J, K), of the mean of the lexicons."""
    model = case.statistics.translation
    assert model is not None
    single = [replace(model, lexicons={name: model.lexicons[name]}) for name in model.lexicons]
    texts = [EncodedText.of(case.bitext, replace(case.statistics, translation=model)) for model in single]
    for i, (es, fs, rows) in enumerate(case.matrices()):
        found = [getattr(text.batch(i, i + 1).posteriors, which) for text in texts]
        forward = np.mean([p.forward for p in found], axis=0).reshape(len(es), len(fs))
        reverse = np.mean([p.reverse for p in found], axis=0).reshape(len(es), len(fs))
        yield forward, reverse, np.sqrt(forward * reverse), rows


@pytest.mark.parametrize(("which", "family"), [("hmm", hmm), ("lexical", lexical)])
def test_posteriors(case: Case, columns: Columns, which: str, family: ModuleType) -> None:
    names = family.NAMES
    values = columns(family, len(names))
    for forward, reverse, soft, rows in believed(case, which):
        found = {name.removeprefix(f"{which}_"): values[rows, c] for c, name in enumerate(names)}
        for name, expected in (("forward", forward), ("reverse", reverse), ("soft", soft)):
            np.testing.assert_allclose(found[name], expected.ravel(), rtol=2e-5, atol=1e-6)
        logs = 1 + np.log10(np.maximum(soft, 1e-4)) / 4
        np.testing.assert_allclose(found["log"], logs.ravel(), rtol=1e-4, atol=1e-4)
        own = found["soft"].reshape(soft.shape)
        first = names.index(f"{which}_rank_row")
        np.testing.assert_allclose(values[rows, first : first + 7], standings(own), rtol=1e-5, atol=1e-6)
        # A direction links each word that it generates at most once: the rest is NULL's.
        assert (forward.sum(axis=0) <= 1 + 1e-5).all()
        assert (reverse.sum(axis=1) <= 1 + 1e-5).all()


def test_pieces_and_sums_of_posteriors(case: Case, columns: Columns) -> None:
    values = columns(hmm, len(hmm.NAMES))
    for forward, reverse, soft, rows in believed(case, "hmm"):
        found = {name: values[rows, c].reshape(soft.shape) for c, name in enumerate(hmm.NAMES)}
        for knot in hmm.KNOTS:
            expected = np.maximum(0, soft - knot) / (1 - knot)
            np.testing.assert_allclose(found[f"hmm_above_{knot:g}"], expected, rtol=1e-4, atol=1e-5)
        rest = np.minimum(1, (soft.sum(axis=1, keepdims=True) - soft) / 2)
        np.testing.assert_allclose(found["hmm_rivals_row"], rest, rtol=1e-4, atol=1e-5)
        rest = np.minimum(1, (soft.sum(axis=0, keepdims=True) - soft) / 2)
        np.testing.assert_allclose(found["hmm_rivals_column"], rest, rtol=1e-4, atol=1e-5)
        null = np.broadcast_to(1 - reverse.sum(axis=1, keepdims=True), soft.shape)
        np.testing.assert_allclose(found["hmm_null_source"], null.clip(0), rtol=1e-4, atol=1e-5)
        null = np.broadcast_to(1 - forward.sum(axis=0, keepdims=True), soft.shape)
        np.testing.assert_allclose(found["hmm_null_target"], null.clip(0), rtol=1e-4, atol=1e-5)


def test_directional_posteriors(case: Case, columns: Columns) -> None:
    """They are those of the lexicons whose directions were trained apart."""
    model = case.statistics.translation
    assert model is not None
    alone = replace(model, lexicons={name: one for name, one in model.lexicons.items() if name.startswith("pieces")})
    text = EncodedText.of(case.bitext, replace(case.statistics, translation=alone))
    values = columns(directional, len(directional.NAMES))
    for i, (_, _, rows) in enumerate(case.matrices()):
        found = text.batch(i, i + 1).posteriors
        soft = [np.sqrt(by.forward * by.reverse) for by in (found.hmm, found.lexical)]
        logs = [1 + np.log10(np.maximum(s, 1e-4)) / 4 for s in soft]
        expected = np.stack([found.hmm.forward, found.hmm.reverse, logs[0], soft[1], logs[1]], axis=1)
        np.testing.assert_allclose(values[rows], expected, rtol=1e-5, atol=1e-6)


def test_context(case: Case, columns: Columns) -> None:
    values = columns(context, len(context.NAMES))
    steps = ((-1, -1), (1, 1), (-1, 1), (1, -1), (0, -1), (0, 1), (-1, 0), (1, 0))
    for es, fs, rows in case.matrices():
        J, K = len(es), len(fs)
        soft = case.batch.soft[rows].reshape(J, K)
        framed = np.pad(soft, 1)
        anchors = {-1: -1, J: K} | {j: int(soft[j].argmax()) for j in range(J) if K and soft[j].max() > context.ANCHOR}
        expected = []
        for j in range(J):
            before = max(x for x in anchors if x < j)
            after = min(x for x in anchors if x > j)
            for k in range(K):
                near = [framed[j + 1 + dj, k + 1 + dk] for dj, dk in steps]
                away = [min(1, abs(k - anchors[x] - (j - x)) / context.REACH) for x in (before, after)]
                expected.append([*near, *away, min(away), float(j not in anchors)])
        np.testing.assert_allclose(values[rows], np.reshape(expected, (-1, 12)), rtol=1e-6)


def test_kinds(case: Case, columns: Columns) -> None:
    values = columns(kinds, len(kinds.NAMES))
    source, target, _ = case.counts
    n = len(case.counted)

    def kinds_of(word: str, counts: Counter[str], sentence: list[str]) -> list[float]:
        frequent = [counts[word] / n >= share for share in kinds.SHARES]
        letters = [unicodedata.category(x)[0] for x in word]
        spelled = [not {"L", "N"} & set(letters), "N" in letters]
        return [float(x) for x in (*frequent, *spelled, counts[word] == 0, sentence.count(word) > 1)]

    for es, fs, rows in case.matrices():
        soft = case.batch.soft[rows].reshape(len(es), len(fs))
        expected = []
        for j, e in enumerate(es):
            for k, f in enumerate(fs):
                a, b = kinds_of(e, source, es), kinds_of(f, target, fs)
                frequent = a[1], b[1]
                pairs = [min(frequent), float(frequent[0] != frequent[1]), float(a[3] != b[3]), float(a[4] != b[4])]
                trust = [soft[j, k] * a[1], soft[j, k] * b[1], soft[j, k] * (1 - max(frequent))]
                distance = abs(j / len(es) - k / len(fs)) * max(a[6], b[6])
                expected.append([*a, *b, *pairs, *trust, distance])
        np.testing.assert_allclose(values[rows], np.reshape(expected, (-1, len(kinds.NAMES))), rtol=1e-6)


def test_links(case: Case, columns: Columns) -> None:
    rng = np.random.default_rng(5)
    shapes = case.batch.lists.shapes.tolist()
    chosen = [{(j, k) for j in range(J) for k in range(K) if rng.random() < 0.3} for J, K in shapes]
    # What the other aligner calls possible is linked by it too.
    pairs = [
        PairLinks(frozenset(x for x in s if sum(x) % 2), frozenset(x for x in s if not sum(x) % 2)) for s in chosen
    ]
    expected = [
        float((j, k) in linked)
        for linked, (J, K) in zip(chosen, shapes, strict=True)
        for j in range(J)
        for k in range(K)
    ]
    says = [float(bool(linked)) for linked, (J, K) in zip(chosen, shapes, strict=True) for _ in range(J * K)]
    found = columns(links, len(links.NAMES), Links.from_pairs(pairs))
    assert found.T.tolist() == [expected, says]
    assert sum(expected) > 10


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
