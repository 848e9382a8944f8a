"""Suggested pairs: which are chosen, in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

import aligner
from aligner.errors import SettingError
from aligner.model.model import Model
from aligner.model.streaming import LinksFile
from aligner.training.suggestion import suggest
from corpora.corpus import Corpus
from corpora.readers import open_corpus


@pytest.fixture(scope="module")
def model(model: Path) -> Model:
    return aligner.load(model)


def write(folder: Path, pairs: list[tuple[str, str]]) -> Corpus:
    for side, language in enumerate(("en", "fr")):
        (folder / f"t.{language}").write_bytes("".join(f"{pair[side]}\n" for pair in pairs).encode())
    return open_corpus(folder / "t")


def read(sample: Path) -> list[tuple[str, str]]:
    lines = [(sample / f"test.{language}").read_text("utf-8").splitlines() for language in ("en", "fr")]
    return list(zip(*lines, strict=True))


def test_the_least_probable_first(model: Model, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [*read(sample), ("", "rien"), ("  a   house \t", "une maison"), ("", "")]
    corpus = write(tmp_path, pairs)
    everything = suggest(model, corpus, 10_000)
    assert {s.line for s in everything} == {i for i, pair in enumerate(pairs, 1) if all(side.strip() for side in pair)}
    assert [(s.rank, s.line) for s in everything] == sorted((s.alignment.score, s.line) for s in everything)
    for suggestion in everything:
        source, target = (side.split() for side in pairs[suggestion.line - 1])
        assert suggestion.text == (" ".join(source), " ".join(target))
        assert suggestion.alignment == model.align(source, target)
    monkeypatch.setattr("aligner.model.streaming.PAIRS_AT_ONCE", 7)
    told: list[int] = []
    assert suggest(model, corpus, 5, on_progress=told.append) == everything[:5]
    assert told[-1] == len(pairs)


def test_every_pair_once_and_none_that_is_known(model: Model, sample: Path, tmp_path: Path) -> None:
    pairs = read(sample)[:12]
    once = suggest(model, write(tmp_path, pairs), 12)
    corpus = write(tmp_path, [*pairs, *reversed(pairs)])
    assert suggest(model, corpus, 12) == once
    assert len(suggest(model, corpus, 100)) == 12
    rest = suggest(model, corpus, 4, known={s.text for s in once[:3]})
    assert rest == once[3:7]
    assert suggest(model, corpus, 4, known={s.text for s in once}) == []
    with pytest.raises(SettingError, match="not 0"):
        suggest(model, corpus, 0)
    with pytest.raises(SettingError, match="choose from probability, random"):
        suggest(model, corpus, 1, order="doubt")


def test_a_random_order_is_of_the_seed(
    model: Model, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = write(tmp_path, read(sample))
    everything = {s.line for s in suggest(model, corpus, 10_000)}
    monkeypatch.setattr("aligner.model.streaming.PAIRS_AT_ONCE", 7)
    first, again, other = (suggest(model, corpus, 10_000, order="random", seed=seed) for seed in (1, 1, 2))
    assert first == again != other
    assert {s.line for s in first} == everything
    assert suggest(model, corpus, 5, order="random", seed=1) == first[:5]


def test_links_of_other_aligners_go_with_their_pairs(sample: Path, tmp_path: Path) -> None:
    linked = aligner.train(
        sample / "train", links=[str(sample / "train.wa"), str(sample / "train.wa")], cross_validate=0
    ).model
    corpus = open_corpus(sample / "test")
    streams = [LinksFile.open(str(sample / "test.wa")) for _ in range(2)]
    gold = [pair.sure | pair.possible for pair in corpus.links()]
    for suggestion in suggest(linked, corpus, 8, links=streams):
        source, target = (text.split() for text in suggestion.text)
        assert suggestion.alignment == linked.align(source, target, [gold[suggestion.line - 1]] * 2)
