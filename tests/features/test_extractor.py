"""The table of features does not depend on batches, threads or where it is kept."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from readings import refuses

from corpora import SettingError
from corpora.bitext import Bitext
from corpora.links import Links, PairLinks
from features.batch import EDGES_AT_ONCE, EncodedText
from features.extractor import FAMILIES, FeatureSet
from features.statistics import CorpusStatistics
from features.table import GRID, EdgeTable, round_to_grid
from features.translation.lexicon import variant_of

if TYPE_CHECKING:
    from tests.features.conftest import Case

MakeBitext = Callable[..., Bitext]

WITH_LINKS = FeatureSet(links=("other", "third"), words=(("chat", "."), ("b", "nowhere", "a")))
OF_WORDS = "source:chat", "source:.", "target:b", "target:nowhere", "target:a"


def diagonals(bitext: Bitext) -> list[Links]:
    lengths = list(zip(bitext.source.lengths.tolist(), bitext.target.lengths.tolist(), strict=True))
    diagonal = [PairLinks(frozenset((x, x) for x in range(min(J, K)))) for J, K in lengths]
    corner = [PairLinks(frozenset(), frozenset({(0, K - 1)} if J and K else ())) for J, K in lengths]
    return [Links.from_pairs(diagonal), Links.from_pairs(corner)]


def extract(case: Case, candidates: str = "likely", **how: Any) -> EdgeTable:
    features = replace(WITH_LINKS, candidates=candidates)
    return features.extract(case.bitext, case.statistics, links=diagonals(case.bitext), **how)


def set_batch(monkeypatch: pytest.MonkeyPatch, edges_at_once: int) -> None:
    monkeypatch.setattr("features.batch.EDGES_AT_ONCE", edges_at_once)


def test_names_are_those_of_the_columns(case: Case) -> None:
    table = extract(case, candidates="all")
    of_links = "links:other", "links:other:pair", "links:third", "links:third:pair"
    assert table.names == (*(n for f in FAMILIES.values() for n in f.NAMES), *of_links, *OF_WORDS)
    alone = FeatureSet(("position", "bias"), candidates="all").extract(case.bitext, case.statistics)
    assert alone.names == ("position", "position_root", "position_square", "bias")
    for column, name in enumerate(alone.names):
        assert np.array_equal(alone.features[:, column], table.features[:, table.names.index(name)])


@pytest.mark.parametrize("edges_at_once", [1, 20, 100, 10**9])
def test_batches_cover_every_pair_once(case: Case, monkeypatch: pytest.MonkeyPatch, edges_at_once: int) -> None:
    set_batch(monkeypatch, edges_at_once)
    text = EncodedText.of(case.bitext, case.statistics)
    found = [text.batch(*run) for run in text.runs()]
    assert [i for batch in found for i in batch.pairs] == list(range(len(case.bitext)))
    sizes = [int(batch.tokens.edge_offsets[-1]) for batch in found]
    assert all(size <= edges_at_once or len(batch.pairs) == 1 for size, batch in zip(sizes, found, strict=True))
    # None could have taken the next pair too.
    firsts = [batch.tokens.shapes[0].prod() for batch in found]
    assert all(size + first > edges_at_once for size, first in zip(sizes, firsts[1:], strict=False))


@pytest.mark.parametrize("edges_at_once", [1, 20, 100])
def test_batches_do_not_matter(case: Case, monkeypatch: pytest.MonkeyPatch, edges_at_once: int) -> None:
    whole = extract(case)
    set_batch(monkeypatch, edges_at_once)
    told: list[int] = []
    parts = extract(case, on_progress=told.append)
    assert np.array_equal(whole.features, parts.features)
    assert len(told) > 1
    assert told == sorted(told)
    assert told[-1] == len(case.bitext)


@pytest.mark.parametrize("families", [tuple(FAMILIES), ("bias", "association", "competition", "neighbours")])
def test_listed_edges_are_rows_of_the_full_table(
    case: Case, families: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By posteriors, and by Dice where no family looks at these."""
    monkeypatch.setattr("features.batch.LEAST", 0.7)  # posteriors of so short sentences are high
    links, _ = diagonals(case.bitext)
    some = FeatureSet(families, links=("other",))
    every = replace(some, candidates="all").extract(case.bitext, case.statistics, links=[links])
    table = some.extract(case.bitext, case.statistics, links=[links])
    rows = every.lists.find(table.lists.pairs, table.lists.source, table.lists.target)
    assert (np.diff(rows) > 0).all()
    assert len(rows) < 0.9 * len(every.features)
    assert np.array_equal(table.features, every.features[rows])
    assert np.array_equal(table.lists.shapes, every.lists.shapes)


def test_single_pairs_give_the_same_edges(case: Case, make_bitext: MakeBitext) -> None:
    links = diagonals(case.bitext)
    whole = extract(case)
    for i, pair in enumerate(case.bitext):
        alone = make_bitext([(pair.source_words, pair.target_words)])
        others = [Links.from_pairs([file[i]]) for file in links]
        single = WITH_LINKS.extract(alone, case.statistics, links=others)
        assert np.array_equal(single[0], whole[i])


@pytest.mark.parametrize("at_once", [30, EDGES_AT_ONCE])
def test_features_beyond_memory(case: Case, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, at_once: int) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    set_batch(monkeypatch, at_once)
    held = extract(case)
    spilled = extract(case, memory=held.features.nbytes - 1)
    assert isinstance(spilled.features, np.memmap)
    assert not isinstance(held.features, np.memmap)
    assert np.array_equal(spilled.features, held.features)
    assert list(tmp_path.iterdir()) == []
    enough = extract(case, memory=held.features.nbytes)
    assert not isinstance(enough.features, np.memmap)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_the_temporary_file_goes_with_the_table(case: Case) -> None:
    def open_files() -> list[str]:
        return [os.readlink(f) for f in Path("/proc/self/fd").iterdir() if f.is_symlink()]  # noqa: PTH115

    def mapped() -> int:
        return Path("/proc/self/maps").read_text().count("(deleted)")

    before, maps = sorted(open_files()), mapped()
    table = FeatureSet().extract(case.bitext, case.statistics, memory=1)
    assert mapped() == maps + 1
    del table
    assert mapped() == maps
    assert len(open_files()) == len(before)


@pytest.mark.parametrize("pairs", [[], [([], [])], [([], ["a"]), (["a"], []), ([], [])]])
@pytest.mark.parametrize("memory", [0, 1 << 20])
def test_no_edges(case: Case, make_bitext: MakeBitext, pairs: Any, memory: int) -> None:
    table = FeatureSet().extract(make_bitext(pairs), case.statistics, memory=memory)
    assert len(table) == len(pairs)
    assert table.features.shape == (0, len(table.names))


def test_statistics_of_an_empty_corpus(case: Case, make_bitext: MakeBitext) -> None:
    nothing = CorpusStatistics.from_bitext(make_bitext([]))
    table = FeatureSet().extract(case.bitext, nothing)
    assert np.isfinite(table.features).all()
    assert not table.features[:, table.names.index("dice")].any()


def test_long_words_and_sentences(make_bitext: MakeBitext) -> None:
    words = [f"w{i % 250}" for i in range(600)]
    long = "é" * 150 + "x" * 150
    bitext = make_bitext([(words, words), ([long, "b"], ["a", long])])
    table = FeatureSet(candidates="all").extract(bitext, CorpusStatistics.from_bitext(bitext))
    names = table.names
    assert np.isfinite(table.features).all()
    assert table[1][1, names.index("exact")] == 1
    assert table[1][1, names.index("subsequence")] == 1
    assert table[1][0, names.index("hamming")] == 1
    exact = table[0][:, names.index("exact")].reshape(600, 600)
    assert np.array_equal(exact, np.equal.outer(np.array(words), np.array(words)))
    assert (table[0][:, names.index("dice")] == 1).all()


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ({"families": ("bias", "magic")}, "unknown feature family 'magic'.*bias, association"),
        ({"families": ("bias", "bias")}, "named twice"),
        ({"families": ("bias",), "links": ("1", "1")}, "named twice"),
        ({"families": ("bias",), "words": (("a", "b", "a"), ())}, "named twice"),
        ({"families": ()}, "no features"),
        ({"candidates": "some"}, "unknown candidates 'some'.*fewer, likely, all"),
    ],
)
def test_names_that_cannot_be(features: dict[str, Any], message: str) -> None:
    with refuses(message, SettingError):
        FeatureSet(**features)


def test_a_part_at_a_time_is_the_whole(case: Case) -> None:
    links = diagonals(case.bitext)
    whole = extract(case).features
    batch = WITH_LINKS.encode(case.bitext, case.statistics, links).batch(0, len(case.bitext))
    done = 0
    for columns, part, of_pairs in WITH_LINKS.parts(batch):
        assert columns.start == done
        rounded = part.T[batch.word_pairs.of_edge] if of_pairs else part.T.copy()
        round_to_grid(rounded)
        assert np.array_equal(rounded, whole[:, columns])
        done = columns.stop
    assert done == len(WITH_LINKS.names)


@pytest.mark.parametrize(
    ("families", "lexicons"),
    [
        (("bias", "association"), ()),
        (("bias", "kinds"), ("words", "pieces")),
        (("bias", "directional"), ("words", "pieces")),
        (tuple(FAMILIES), ("words", "pieces")),
    ],
)
def test_families_say_which_lexicons_they_look_at(
    case: Case, families: tuple[str, ...], lexicons: tuple[str, ...]
) -> None:
    features = FeatureSet(families)
    assert features.lexicons == lexicons
    statistics = CorpusStatistics.from_bitext(case.bitext, lexicons=lexicons)
    trained = statistics.translation.lexicons if statistics.translation else ()
    assert tuple(dict.fromkeys(variant_of(name)[0] for name in trained)) == lexicons
    features.extract(case.bitext, statistics)
    if lexicons:
        with pytest.raises(ValueError, match="translation models"):
            features.extract(case.bitext, CorpusStatistics.from_bitext(case.bitext, lexicons=lexicons[:-2]))


def test_links_of_other_files_are_needed(case: Case) -> None:
    for links in ([], diagonals(case.bitext)[:1], diagonals(case.bitext) * 2):
        with pytest.raises(ValueError, match="files of links"):
            WITH_LINKS.extract(case.bitext, case.statistics, links=links)


def test_rounding_goes_to_the_nearest_and_only_once() -> None:
    values = np.random.default_rng(0).uniform(-1, 1, (100, 3)).astype(np.float32)
    rounded = values.copy()
    round_to_grid(rounded)
    assert np.abs(rounded - values).max() <= 0.5 / GRID
    assert np.array_equal(rounded * GRID, np.rint(values.astype(float) * GRID))
    again = rounded.copy()
    round_to_grid(again)
    assert np.array_equal(rounded, again)
    assert not np.signbit(again[again == 0]).any()
