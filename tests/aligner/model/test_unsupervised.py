"""Alignment without labels: links and scores against the posteriors, and error rates on the sample."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from whole_texts import posteriors

from aligner import align
from aligner.errors import SettingError
from aligner.evaluation.counts import count, scores
from aligner.matching import best_matching
from aligner.model.decoding import Alignment
from aligner.model.unsupervised import DECODINGS, LEAST_SCORE, THRESHOLDED, Unsupervised
from aligner.progress import Progress
from corpora.alignment import Links, PairLinks
from corpora.bitext import Bitext, read_bitext
from corpora.link_files import read_links
from corpora.normalize import Normalizer
from corpora.readers import open_corpus
from features.translation.model import TranslationModel
from features.translation.posteriors import Posteriors


def read(path: Path) -> Bitext:
    return read_bitext([open_corpus(path)], Normalizer(), Normalizer())


def bitext_of(folder: Path, *pairs: tuple[str, str]) -> Bitext:
    for side, language in enumerate(("en", "fr")):
        (folder / f"t.{language}").write_text("".join(f"{pair[side]}\n" for pair in pairs))
    return read(folder / "t")


def decode_texts(model: TranslationModel, bitext: Bitext, **settings: Any) -> list[Alignment]:
    return [alignment for part in Unsupervised(**settings).decode(model, bitext) for alignment in part]


def packed(found: Iterable[Iterable[tuple[int, int]]]) -> Links:
    return Links.from_pairs(PairLinks(frozenset(links), frozenset()) for links in found)


def aer(gold: Path, found: Iterable[Iterable[tuple[int, int]]]) -> float:
    return float(scores(count(read_links(gold), packed(found)).sum(axis=0)).aer)


@pytest.fixture(scope="module")
def text(sample: Path) -> Bitext:
    return read(sample / "train")


@pytest.fixture(scope="module")
def model(text: Bitext) -> TranslationModel:
    return Unsupervised().estimate(text)


@pytest.fixture(scope="module")
def found(model: TranslationModel, text: Bitext) -> Posteriors:
    return posteriors(model, text)


def soft_of(found: Posteriors, pair: int) -> np.ndarray:
    edges = slice(found.offsets[pair], found.offsets[pair + 1])
    return found.soft[edges].reshape(found.shapes[pair])


@pytest.mark.parametrize("decoding", DECODINGS)
def test_every_decoding_beats_the_diagonal(model: TranslationModel, text: Bitext, sample: Path, decoding: str) -> None:
    diagonal = [
        [(j, round(j * (K - 1) / max(J - 1, 1))) for j in range(J)]
        for J, K in zip(text.source.lengths.tolist(), text.target.lengths.tolist(), strict=True)
    ]
    gold = sample / "train.wa"
    assert aer(gold, decode_texts(model, text, decoding=decoding)) < 0.5 * aer(gold, diagonal)


def test_text_the_models_have_not_seen_is_aligned_too(model: TranslationModel, sample: Path) -> None:
    found = decode_texts(model, read(sample / "test"))
    assert aer(sample / "test.wa", found) < 0.4
    alone = align(read(sample / "test"), decoding="soft")
    assert aer(sample / "test.wa", found) < aer(sample / "test.wa", alone), "more text is better"


def test_the_whole_is_estimation_and_decoding(model: TranslationModel, text: Bitext) -> None:
    assert list(align(text, decoding="soft")) == decode_texts(model, text) == list(align(text, threshold=0.5))


@pytest.mark.parametrize("decoding", DECODINGS)
def test_scores_are_soft_posteriors(model: TranslationModel, text: Bitext, found: Posteriors, decoding: str) -> None:
    for pair, alignment in enumerate(decode_texts(model, text, decoding=decoding)):
        soft = soft_of(found, pair)
        assert list(alignment.links) == sorted(set(alignment.links))
        assert all(LEAST_SCORE <= score <= 1.0 for score in alignment.scores)
        expected = [max(float(soft[link]), LEAST_SCORE) for link in alignment.links]
        assert alignment.scores == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.5, 1.0])
def test_soft_links_are_those_above_the_threshold(
    model: TranslationModel, text: Bitext, found: Posteriors, threshold: float
) -> None:
    links = decode_texts(model, text, threshold=threshold)
    for pair, alignment in enumerate(links):
        assert list(alignment) == list(map(tuple, np.argwhere(soft_of(found, pair) > threshold).tolist()))


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


@pytest.mark.parametrize("decoding", [d for d in DECODINGS if d not in THRESHOLDED])
def test_symmetrised_links_are_those_of_the_posteriors(
    model: TranslationModel, text: Bitext, found: Posteriors, decoding: str
) -> None:
    assert packed(decode_texts(model, text, decoding=decoding)) == found.symmetrized_links(decoding)


def test_a_lower_threshold_gives_more_links(model: TranslationModel, text: Bitext) -> None:
    for decoding in THRESHOLDED:
        several = (0.1, 0.3, 0.5, 0.7)
        sizes = [sum(map(len, decode_texts(model, text, decoding=decoding, threshold=t))) for t in several]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[0] > sizes[-1]
        default = decode_texts(model, text, decoding=decoding)
        assert default == decode_texts(model, text, decoding=decoding, threshold=0.5)


@pytest.mark.parametrize("decoding", DECODINGS)
def test_pairs_without_words_have_no_links(tmp_path: Path, decoding: str) -> None:
    pairs = [("", ""), ("a b", "x y"), ("a", ""), ("", "x"), ("a", "x"), ("b", "y"), ("", "")]
    found = align(bitext_of(tmp_path, *pairs), decoding=decoding)
    assert [bool(alignment) for alignment in found] == [all(pair) for pair in pairs]
    for nothing in ([("", "")] * 3, [("a b", ""), ("", "x")]):
        links = align(bitext_of(tmp_path, *nothing), decoding=decoding)
        assert list(links) == [Alignment((), ())] * len(nothing)


def test_progress_tells_of_every_pass_and_pair(text: Bitext) -> None:
    told: list[Progress] = []
    align(text, decoding="soft", on_progress=told.append)
    passes = [progress for progress in told if progress.stage == "translation"]
    aligning = told[len(passes) :]
    assert [progress.done for progress in passes] == list(range(1, len(passes) + 1))
    assert len({progress.detail for progress in passes}) == len(passes) > 2
    assert passes[0].detail.endswith("pass 1")
    assert {(progress.stage, progress.total) for progress in aligning} == {("aligning", len(text))}
    assert aligning[-1].done == len(text)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"decoding": "best"}, "choose from soft, assignment"),
        ({"decoding": "union", "threshold": 0.5}, "union has no threshold"),
        ({"threshold": -0.1}, "from 0 to 1, not -0.1"),
        ({"threshold": float("nan")}, "from 0 to 1, not nan"),
        ({"decoding": "assignment", "threshold": 1.1}, "from 0 to 1, not 1.1"),
        ({"null": 1.0}, "NULL must be between 0 and 1, not 1.0"),
        ({"iterations": 0}, "0 iterations are not possible"),
        ({"seconds": -1.0}, "0 or more, not -1.0"),
    ],
)
def test_settings_that_cannot_be_are_refused_at_once(text: Bitext, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        Unsupervised(**settings)
    with pytest.raises(SettingError, match=message):
        align(text, **settings)


def test_a_higher_prior_of_null_gives_fewer_links(text: Bitext) -> None:
    sizes = [len(align(text, decoding="soft", null=null).source) for null in (0.02, 0.2, 0.5, 0.9)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]


def test_settings_left_out_have_the_defaults(text: Bitext) -> None:
    given = align(text, decoding="soft", null=0.2, iterations=1, seconds=float("inf"))
    assert list(given) == list(align(text, decoding="soft"))
