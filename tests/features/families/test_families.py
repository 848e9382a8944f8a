"""The families of features and indicators of words: the documented formulas, edge by edge, in plain Python."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import log
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.links import Links, PairLinks
from corpora.normalize import romanized
from corpora.ragged import Lists
from features.batch import EncodedText
from features.extractor import FAMILIES, FeatureSet, with_words
from features.families import competition, context, directional, hmm, kinds, lexical, links
from features.families.indicators import most_frequent
from features.families.orthography import common_subsequence, shared_letters

if TYPE_CHECKING:
    from tests.features.conftest import Case

Columns = Callable[..., np.ndarray]
SIGNED = {f"{of}margin_{line}" for of in ("", "hmm_", "lexical_") for line in ("row", "column")}


@pytest.mark.parametrize("name", FAMILIES)
def test_names_and_ranges(columns: Columns, name: str) -> None:
    family = FAMILIES[name]
    assert family.__name__ == f"features.families.{name}"
    values = columns(family, len(family.NAMES))
    assert np.isfinite(values).all()
    for column, feature in zip(values.T, family.NAMES, strict=True):
        assert column.min() >= (-1 if feature in SIGNED else 0)
        assert column.max() <= 1
        assert feature == "bias" or len({*column.tolist()}) > 1
    assert sum(feature in other.NAMES for feature in family.NAMES for other in FAMILIES.values()) == len(family.NAMES)


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
    values, expected = matrix.astype(np.float64), []
    for j, k in np.ndindex(values.shape):
        row, column = standing(values[j].tolist(), k), standing(values[:, k].tolist(), j)
        mutual = values[j, k] > 0 and max(values[j].max(), values[:, k].max()) <= values[j, k]
        expected.append([*(part for parts in zip(row, column, strict=True) for part in parts), float(mutual)])
    return np.reshape(expected, (-1, 7))


def shared_start(a: str, b: str) -> int:
    return max(n for n in range(len(a) + 1) if b.startswith(a[:n]))


def longest_subsequence(a: str, b: str) -> int:
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for x in range(len(a)):
        for y in range(len(b)):
            same = a[x] == b[y]
            table[x + 1][y + 1] = table[x][y] + 1 if same else max(table[x][y + 1], table[x + 1][y])
    return table[-1][-1]


def shared_places(a: str, b: str) -> int:
    return sum(c == d for c, d in zip(a, b, strict=False))


Rows = Iterable[Sequence[float]]
"""Of the edges of a pair, in order."""


def of_bias(case: Case, es: list[str], fs: list[str], soft: np.ndarray) -> Rows:
    return [[1.0] for _ in es for _ in fs]


def of_association(case: Case, es: list[str], fs: list[str], soft: np.ndarray) -> Rows:
    scale = log(1 + len(case.counted))
    shares = [[log(1 + counts[w]) / scale for w in of] for counts, of in zip(case.counts, (es, fs), strict=False)]
    return [
        [float(case.dice(e, f)), a, b, abs(a - b)]
        for e, a in zip(es, shares[0], strict=True)
        for f, b in zip(fs, shares[1], strict=True)
    ]


def of_position(case: Case, es: list[str], fs: list[str], soft: np.ndarray) -> Rows:
    for j, k in np.ndindex(soft.shape):
        distance = abs(j / len(es) - k / len(fs))
        yield [distance, distance**0.5, distance**2]


def of_competition(case: Case, es: list[str], fs: list[str], soft: np.ndarray) -> Rows:
    return standings(case.dice_matrix(es, fs))


def of_neighbours(case: Case, es: list[str], fs: list[str], soft: np.ndarray) -> Rows:
    """Outside of the pair there is nothing: a frame of zeros."""
    dice = case.dice_matrix(es, fs)
    framed = [np.pad(matrix, 1) for matrix in (dice, standings(dice)[:, 6].reshape(dice.shape))]
    for j, k in np.ndindex(dice.shape):
        yield [m[j + 1 + dj, k + 1 + dk] for m in framed for dj, dk in ((-1, -1), (1, 1), (-1, 1), (1, -1))]


def of_context(case: Case, es: list[str], fs: list[str], soft: np.ndarray) -> Rows:
    J, K = soft.shape
    steps, framed = ((-1, -1), (1, 1), (-1, 1), (1, -1), (0, -1), (0, 1), (-1, 0), (1, 0)), np.pad(soft, 1)
    anchors = {-1: -1, J: K} | {j: int(soft[j].argmax()) for j in range(J) if soft[j].max() > context.ANCHOR}
    for j, k in np.ndindex(J, K):
        around = max(x for x in anchors if x < j), min(x for x in anchors if x > j)
        away = [min(1, abs(k - anchors[x] - (j - x)) / context.REACH) for x in around]
        near = [framed[j + 1 + dj, k + 1 + dk] for dj, dk in steps]
        yield [*near, *away, min(away), float(j not in anchors)]


def of_kinds(case: Case, es: list[str], fs: list[str], soft: np.ndarray) -> Rows:
    def kinds_of(word: str, counts: Counter[str], sentence: list[str]) -> list[float]:
        frequent = [counts[word] / len(case.counted) >= share for share in kinds.SHARES]
        letters = {unicodedata.category(x)[0] for x in word}
        spelled = [not {"L", "N"} & letters, "N" in letters]
        return [float(x) for x in (*frequent, *spelled, counts[word] == 0, sentence.count(word) > 1)]

    for j, k in np.ndindex(soft.shape):
        a, b = kinds_of(es[j], case.counts[0], es), kinds_of(fs[k], case.counts[1], fs)
        pairs = [min(a[1], b[1]), *(float(a[n] != b[n]) for n in (1, 3, 4))]
        trust = [soft[j, k] * a[1], soft[j, k] * b[1], soft[j, k] * (1 - max(a[1], b[1]))]
        yield [*a, *b, *pairs, *trust, abs(j / len(es) - k / len(fs)) * max(a[6], b[6])]


def of_orthography(case: Case, es: list[str], fs: list[str], soft: np.ndarray) -> Rows:
    for e, f in product(es, fs):
        a, b = romanized(e), romanized(f)
        alike = shared_start(a, b), shared_start(a[::-1], b[::-1]), longest_subsequence(a, b)
        digits, letters = ([any(map(of, word)) for word in (e, f)] for of in (str.isdigit, str.isalnum))
        yield [
            1 - shared_places(e, f) / max(len(e), len(f)),
            e == f,
            a == b,
            *(n / max(len(a), len(b)) for n in alike),
            len(e) <= 3 and len(f) <= 3,
            all(digits),
            not any(letters),
        ]


FORMULAS = [
    of_bias, of_association, of_position, of_competition, of_neighbours, of_context, of_kinds, of_orthography,
]  # fmt: skip


@pytest.mark.parametrize("formula", FORMULAS)
def test_columns_are_those_of_the_formula(case: Case, columns: Columns, formula: Callable[..., Rows]) -> None:
    family = FAMILIES[formula.__name__.removeprefix("of_")]
    expected = [
        row
        for es, fs, rows in case.matrices()
        if es and fs
        for row in formula(case, es, fs, case.batch.soft[rows].reshape(len(es), len(fs)))
    ]
    np.testing.assert_allclose(columns(family, len(family.NAMES)), expected, rtol=1e-6, atol=1e-7)


def test_competition_of_short_and_long_lines() -> None:
    """With ties, and nothing but zeros in one."""
    rng = np.random.default_rng(0)
    sizes = [(1, 1), (2, 230), (16, 17), (0, 3), (3, 0), (33, 2), (230, 2), (5, 200), (201, 1), (4, 4)]
    matrices = [np.round(rng.random(size), 1).astype(np.float32) for size in sizes]
    matrices[-1][:] = 0.0
    values, lists = np.concatenate([matrix.ravel() for matrix in matrices]), Lists.of_all(np.array(sizes))
    expected = np.concatenate([standings(matrix) for matrix in matrices if matrix.size])
    out = np.full((7, len(values)), 5.0, np.float32).T
    tokens = SimpleNamespace(edge_offsets=lists.offsets)
    competition.fill_standing(SimpleNamespace(lists=lists, tokens=tokens), values, out)
    np.testing.assert_allclose(out, expected, rtol=1e-6, atol=1e-7)


def believed(case: Case, which: str, kind: str = "") -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, slice]]:
    """Posteriors of both directions and their geometric mean for each pair, (J, K), of the mean of the lexicons."""
    model = case.statistics.translation
    assert model is not None
    single = [replace(model, lexicons={name: one}) for name, one in model.lexicons.items() if name.startswith(kind)]
    texts = [EncodedText.of(case.bitext, replace(case.statistics, translation=model)) for model in single]
    for i, (es, fs, rows) in enumerate(case.matrices()):
        found = [getattr(text.batch(i, i + 1).posteriors, which) for text in texts]
        forward = np.mean([p.forward for p in found], axis=0).reshape(len(es), len(fs))
        reverse = np.mean([p.reverse for p in found], axis=0).reshape(len(es), len(fs))
        yield forward, reverse, np.sqrt(forward * reverse), rows


def on_log_scale(soft: np.ndarray) -> np.ndarray:
    return np.asarray(1 + np.log10(np.maximum(soft, 1e-4)) / 4)


@pytest.mark.parametrize("family", [hmm, lexical])
def test_posteriors(case: Case, columns: Columns, family: ModuleType) -> None:
    which = family.__name__.rpartition(".")[2]
    values = columns(family, len(family.NAMES))
    for forward, reverse, soft, rows in believed(case, which):
        found = dict(zip(family.NAMES, values[rows].T.reshape(len(family.NAMES), *soft.shape), strict=True))
        row, column = soft.sum(axis=1, keepdims=True), soft.sum(axis=0, keepdims=True)
        expected = {"forward": forward, "reverse": reverse, "soft": soft, "log": on_log_scale(soft)}
        expected |= zip(competition.NAMES, standings(found[f"{which}_soft"]).T, strict=True)
        if family is hmm:
            expected |= {f"above_{knot:g}": np.maximum(0, soft - knot) / (1 - knot) for knot in hmm.KNOTS}
            expected |= {
                "rivals_row": np.minimum(1, (row - soft) / 2),
                "rivals_column": np.minimum(1, (column - soft) / 2),
                "null_source": (1 - reverse.sum(axis=1, keepdims=True)).clip(0),
                "null_target": (1 - forward.sum(axis=0, keepdims=True)).clip(0),
            }
        for name, value in expected.items():
            value = value.reshape(soft.shape) if value.ndim == 1 else np.broadcast_to(value, soft.shape)
            np.testing.assert_allclose(found[f"{which}_{name}"], value, rtol=1e-4, atol=1e-4 if name == "log" else 1e-5)
        # A direction links each word that it generates at most once: the rest is NULL's.
        assert max(forward.sum(axis=0).max(initial=0), reverse.sum(axis=1).max(initial=0)) <= 1 + 1e-5


def test_directional_posteriors(case: Case, columns: Columns) -> None:
    """They are those of the lexicons whose directions were trained apart."""
    values = columns(directional, len(directional.NAMES))
    by_hmm, by_words = believed(case, "hmm", "pieces"), believed(case, "lexical", "pieces")
    for (forward, reverse, soft, rows), (*_, alone, _) in zip(by_hmm, by_words, strict=True):
        expected = np.stack([forward, reverse, on_log_scale(soft), alone, on_log_scale(alone)], axis=2).reshape(-1, 5)
        np.testing.assert_allclose(values[rows], expected, rtol=1e-5, atol=1e-6)


def test_links(case: Case, columns: Columns) -> None:
    """What the other aligner calls possible is linked by it too."""
    rng = np.random.default_rng(5)
    grids = [[*np.ndindex(J, K)] for J, K in case.batch.lists.shapes.tolist()]
    chosen = [{edge for edge in grid if rng.random() < 0.3} for grid in grids]
    pairs = [PairLinks(*(frozenset(x for x in s if sum(x) % 2 == odd) for odd in (1, 0))) for s in chosen]
    found = columns(links, len(links.NAMES), Links.from_pairs(pairs))
    expected = [[edge in linked, bool(linked)] for linked, grid in zip(chosen, grids, strict=True) for edge in grid]
    assert found.tolist() == expected
    assert found[:, 0].sum() > 10


def test_the_most_frequent_words(case: Case) -> None:
    for text in (case.bitext.source, case.bitext.target):
        counts = Counter(text.vocabulary.words[i] for i in text.ids.tolist())  # equal ones in the order of their first
        for number in (5, 10**6, 0):
            assert most_frequent(text, number) == tuple(word for word, _ in counts.most_common(number))
    nothing = case.bitext.take(np.zeros(0, np.int64))
    assert len(nothing.source.vocabulary) > 0
    assert with_words(FeatureSet(), nothing, 30).words == ((), ()), "words that are nowhere in the text"


def test_an_indicator_is_1_where_its_word_is(case: Case) -> None:
    features = with_words(FeatureSet(("bias",)), case.counted, 6)
    assert features.groups == ("bias", *["words"] * 12)
    unknown = FeatureSet(("bias",), words=((*features.words[0], "never"), features.words[1]))
    for chosen in (features, unknown):
        table = chosen.extract(case.bitext, case.statistics)
        ones = 0
        for i, pair in enumerate(case.bitext):
            rows = slice(*table.lists.offsets[i : i + 2])
            sides = (pair.source_words, table.lists.source[rows]), (pair.target_words, table.lists.target[rows])
            for name, words, (others, places) in zip(("source", "target"), chosen.words, sides, strict=True):
                for word in words:
                    column = table[i][:, table.names.index(f"{name}:{word}")]
                    assert np.array_equal(column, np.array([word == other for other in others], np.float32)[places])
                    ones += int(column.sum())
        assert ones == table.features[:, 1:].sum() > 0


# Letters of many scripts, with several that are equal mod 256: a, š, Ѣ…
LETTERS = ["a", "b", "c", "\u0161", "\u0461", "\u0462", "\u4e61", "\u4e62", "\U00010061", "\U0001f661", "\xe9"]
spelled = st.text(st.sampled_from(LETTERS), max_size=64) | st.text(st.sampled_from("ab"), max_size=64)


def likeness(*words: str) -> tuple[int, int, int, int]:
    letters = [np.array([ord(c) for c in word], np.int32) for word in words]
    same, prefix, suffix = shared_letters(*letters)
    return same, prefix, suffix, int(common_subsequence(*letters, prefix, suffix))


@settings(max_examples=300)
@given(spelled, spelled)
def test_likeness_of_any_words(a: str, b: str) -> None:
    ends = shared_start(a, b), shared_start(a[::-1], b[::-1])
    assert likeness(a, b) == (shared_places(a, b), *ends, longest_subsequence(a, b))
    assert likeness(a, a) == (len(a),) * 4


def test_the_time_for_very_long_words_is_bounded() -> None:
    """Of equal words, and of what differs within the first 64 letters, the length is the true one."""
    n = 200_000
    assert likeness("ab" * n, "ab" * n)[3] == 2 * n
    assert likeness("x" + "ab" * n + "y", "z" + "ab" * n + "z")[3] == 63  # of 64 letters, one of which differs
    assert likeness("x" * n + "a", "y" * n + "a")[3] == 1
