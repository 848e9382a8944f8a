"""Alignment without labels: links and scores against the posteriors, and error rates on the sample."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from whole_texts import posteriors

from aligner import align
from aligner.errors import SettingError
from aligner.evaluation.counts import count, scores
from aligner.matching import best_matching
from aligner.model.aligning import Part
from aligner.model.aligning import align as align_parts
from aligner.model.decoding import Alignment
from aligner.model.settings import AlignSettings, Decoding
from aligner.model.unsupervised import LEAST_SCORE, ByPosteriors, OwnText, estimate
from aligner.progress import Progress
from corpora.bitext import Bitext, read_bitext
from corpora.link_files import read_links
from corpora.links import Links, PairLinks
from corpora.normalize import Normalizer
from corpora.readers import open_corpus
from features.translation.model import TranslationModel
from features.translation.posteriors import Posteriors

THRESHOLDED = None, "assignment"
DECODINGS = None, *(way for part in get_args(Decoding) for way in get_args(part) or [part])
BARE = AlignSettings(unsupervised=0.5)


def read(path: Path) -> Bitext:
    return read_bitext([open_corpus(path)], Normalizer(), Normalizer())


def bitext_of(folder: Path, *pairs: tuple[str, str]) -> Bitext:
    for side, language in enumerate(("en", "fr")):
        (folder / f"t.{language}").write_text("".join(f"{pair[side]}\n" for pair in pairs))
    return read(folder / "t")


def decode_texts(model: TranslationModel, bitext: Bitext, **settings: Any) -> list[Alignment]:
    return [one for _, found in align_parts([Part(bitext)], ByPosteriors(model, **settings)) for one in found]


def packed(found: Iterable[Iterable[tuple[int, int]]]) -> Links:
    return Links.from_pairs(PairLinks(frozenset(links)) for links in found)


def aer(gold: Path, found: Iterable[Iterable[tuple[int, int]]]) -> float:
    return float(scores(count(read_links(gold), packed(found)).sum(axis=0)).aer)


@pytest.fixture(scope="module")
def text(sample: Path) -> Bitext:
    return read(sample / "train")


@pytest.fixture(scope="module")
def model(text: Bitext) -> TranslationModel:
    return estimate(text)


@pytest.fixture(scope="module")
def found(model: TranslationModel, text: Bitext) -> Posteriors:
    return posteriors(model, text)


def soft_of(found: Posteriors, pair: int) -> np.ndarray:
    edges = slice(found.offsets[pair], found.offsets[pair + 1])
    return found.soft[edges].reshape(found.shapes[pair])


@pytest.mark.parametrize("decoding", DECODINGS)
def test_links_and_scores_are_those_of_the_posteriors(
    model: TranslationModel, text: Bitext, found: Posteriors, sample: Path, decoding: Any
) -> None:
    decoded = decode_texts(model, text, decoding=decoding)
    for pair, alignment in enumerate(decoded):
        soft = soft_of(found, pair)
        assert list(alignment.links) == sorted(set(alignment.links))
        assert all(LEAST_SCORE <= score <= 1.0 for score in alignment.scores)
        expected = [max(float(soft[link]), LEAST_SCORE) for link in alignment.links]
        assert alignment.scores == pytest.approx(expected, rel=1e-5)
    if decoding not in THRESHOLDED:
        assert packed(decoded) == found.symmetrized_links(decoding)
    shapes = zip(text.source.lengths.tolist(), text.target.lengths.tolist(), strict=True)
    diagonal = [[(j, round(j * (K - 1) / max(J - 1, 1))) for j in range(J)] for J, K in shapes]
    gold = sample / "train.wa"
    assert aer(gold, decoded) < 0.5 * aer(gold, diagonal)


def test_text_the_models_have_not_seen_is_aligned_too(model: TranslationModel, sample: Path, text: Bitext) -> None:
    test = read(sample / "test")
    found = aer(sample / "test.wa", decode_texts(model, test))
    assert found < aer(sample / "test.wa", align(test, settings=BARE)), "more text is better"
    assert list(align(text, settings=BARE)) == decode_texts(model, text)


@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.5])
def test_assignments_are_the_best_matchings(
    model: TranslationModel, text: Bitext, found: Posteriors, threshold: float
) -> None:
    links = decode_texts(model, text, decoding="assignment", threshold=threshold)
    assert len(links) == len(text)
    for pair, alignment in enumerate(links):
        gains = soft_of(found, pair).astype(np.float64) - threshold
        assert len({j for j, _ in alignment}) == len({k for _, k in alignment}) == len(alignment)
        assert all(gains[link] > 0 for link in alignment)
        best = best_matching(gains, oracle="scipy")
        assert sum(gains[link] for link in alignment) == pytest.approx(gains[best].sum())


def test_a_lower_threshold_gives_more_links(model: TranslationModel, text: Bitext) -> None:
    for decoding in THRESHOLDED:
        several = (0.1, 0.3, 0.5, 0.7)
        sizes = [sum(map(len, decode_texts(model, text, decoding=decoding, threshold=t))) for t in several]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[0] > sizes[-1]
        default = decode_texts(model, text, decoding=decoding)
        assert default == decode_texts(model, text, decoding=decoding, threshold=0.5)


@pytest.mark.parametrize("decoding", DECODINGS)
def test_pairs_without_words_have_no_links(tmp_path: Path, decoding: Any) -> None:
    settings = BARE if decoding is None else AlignSettings(decoding=decoding)
    pairs = [("", ""), ("a b", "x y"), ("a", ""), ("", "x"), ("a", "x"), ("b", "y"), ("", "")]
    found = align(bitext_of(tmp_path, *pairs), settings=settings)
    assert [bool(alignment) for alignment in found] == [all(pair) for pair in pairs]
    for nothing in ([("", "")] * 3, [("a b", ""), ("", "x")]):
        links = align(bitext_of(tmp_path, *nothing), settings=settings)
        assert list(links) == [Alignment((), ())] * len(nothing)


def passes(text: Bitext, **settings: Any) -> list[Progress]:
    told: list[Progress] = []
    align(text, settings=AlignSettings(unsupervised=0.5, **settings), on_progress=told.append)
    found = [progress for progress in told if progress.stage == "translation"]
    aligning = told[len(found) :]
    assert {(progress.stage, progress.total) for progress in aligning} == {("aligning", len(text))}
    assert aligning[-1].done == len(text)
    return found


def test_progress_tells_of_every_pass_and_pair(text: Bitext) -> None:
    """Iterations and seconds decide how many passes are made."""
    found = passes(text)
    assert [progress.done for progress in found] == list(range(1, len(found) + 1))
    assert len({progress.detail for progress in found}) == len(found) > 2
    assert found[0].detail.endswith(f"pass 1 of {found[0].total}")
    for settings, times in (
        ({"iterations": 1}, 1),
        ({"seconds": 0.0}, 1),
        ({"iterations": 3}, 3),
        ({"iterations": 3, "seconds": 1e4}, 3),
    ):
        of_hmm = [[one for one in told if ", HMM, " in one.detail] for told in (found, passes(text, **settings))]
        assert len(of_hmm[1]) == times * len(of_hmm[0]) > 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"decoding": "best"}, "choose from assignment, forward"),
        ({"decoding": "union", "unsupervised": 0.5}, "no effect with `decoding` union, which has no threshold"),
        ({"decoding": "union", "offset": 1.0}, "`offset` has no effect with `decoding`, which leaves the default"),
        ({"unsupervised": -0.1}, "from 0 to 1, not -0.1"), ({"unsupervised": float("nan")}, "from 0 to 1, not nan"),
        ({"decoding": "assignment", "unsupervised": 1.1}, "from 0 to 1, not 1.1"),
        ({"null": 1.0}, "between 0 and 1, not 1.0"), ({"iterations": 0}, "from 1 to 1000, not 0"),
        ({"seconds": -1.0}, "at least 0, not -1.0"), ({"sample": 0}, "at least 1, not 0"),
        ({"seed": 1}, "`seed` has no effect without `sample`"),
        ({"model": "M", "iterations": 2}, "`iterations` has no effect with `model`"),
        ({"model": "M", "null": 0.5}, "`null` has no effect with `model`"),
        ({"shard": (1, 2)}, "`shard` needs a `model`"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_are_refused_at_once(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        AlignSettings(**settings)


@pytest.mark.parametrize("settings", [{"model": "M"}, {"sample": 3}, {"max_length": 3}, {"columns": ("1", "2")}])
def test_settings_of_files_are_not_for_text_at_hand(text: Bitext, settings: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match=f"`{next(iter(settings))}` is "):
        align(text, settings=AlignSettings(**settings))


@pytest.mark.parametrize("unsupervised", [0.5, None])
def test_a_higher_prior_of_null_gives_fewer_links(text: Bitext, unsupervised: float | None) -> None:
    """Also by the default weights, which know of words that NULL has taken, and make up for some."""
    settings = [AlignSettings(unsupervised=unsupervised, null=null) for null in (0.02, 0.5, 0.9)]
    sizes = [len(align(text, settings=one).links.source) for one in settings]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]


def test_the_offset_beside_a_dictionary_is_that_of_the_text_alone(tmp_path: Path) -> None:
    text = bitext_of(tmp_path, ("house here", "maison ici"), ("old house", "vieille maison"), ("a tree", "un arbre"))
    entries = tmp_path / "entries"
    entries.write_text("house\tmaison\ntree\tarbre\n", "utf-8")
    alone, beside = (OwnText.of(text, AlignSettings(dictionary=files)) for files in ((), (str(entries),)))
    counted, known = alone.estimate(), beside.estimate()
    model, other = alone.model(counted), beside.model(known)
    arrays = [found.to_arrays()["translation.lexicons.words.counts"] for found in (counted, known)]
    assert not np.array_equal(*arrays)
    np.testing.assert_array_equal(model.weights, other.weights)
