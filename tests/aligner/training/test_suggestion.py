"""Suggested pairs: doubts against brute force, and which pairs are chosen."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import aligner
from aligner.errors import SettingError
from aligner.model.decoding import best_links
from aligner.model.model import Model
from aligner.model.streaming import LinksFile
from aligner.svm.hinge import DEFAULT_FALSE_COST, DEFAULT_MISS_COST
from aligner.svm.prices import LinkRewards
from aligner.training.suggestion import doubts, suggest
from corpora.ragged import edge_offsets
from corpora.readers import Corpus, open_corpus


def value(links: np.ndarray, scores: np.ndarray, rewards: LinkRewards) -> float:
    """Of an alignment, (J, K) bool; -inf where a word has more links than it may."""
    total = float(scores[links].sum())
    for degrees, steps in ((links.sum(axis=1), rewards.source), (links.sum(axis=0), rewards.target)):
        if degrees.max(initial=0) > len(steps) + 1:
            return -np.inf
        total += sum(sum(steps[: degree - 1]) for degree in degrees if degree > 1)
    return total


@pytest.mark.parametrize("rewards", [LinkRewards(), LinkRewards((-0.5,), (-0.2, -0.9)), LinkRewards((), (-1.0,))])
def test_doubts_by_brute_force(rewards: LinkRewards) -> None:
    rng = np.random.default_rng(0)
    shapes = np.array([[2, 3], [0, 2], [1, 1], [3, 3], [2, 2], [1, 3]])
    offsets = edge_offsets(shapes)
    scores = rng.normal(0.5, 2.0, offsets[-1])
    found = doubts(scores, shapes, offsets, rewards)
    assert found.shape == (len(shapes),)
    for i, (J, K) in enumerate(shapes.tolist()):
        table = scores[offsets[i] : offsets[i + 1]].reshape(J, K)
        every = [np.array(bits, np.bool_).reshape(J, K) for bits in product([False, True], repeat=J * K)]
        best = max(every, key=lambda z: value(z, table, rewards))
        hinge = max(
            value(z, table, rewards) + DEFAULT_MISS_COST * (best & ~z).sum() + DEFAULT_FALSE_COST * (z & ~best).sum()
            for z in every
        ) - value(best, table, rewards)
        assert found[i] == pytest.approx(hinge / np.sqrt(J + K), abs=1e-9)


def test_sure_alignments_are_in_no_doubt() -> None:
    shapes = np.array([[3, 3], [3, 3]])
    sure = np.where(np.eye(3) > 0, 10.0, -10.0).ravel()
    found = doubts(np.concatenate([sure, np.zeros(9)]), shapes, edge_offsets(shapes), LinkRewards())
    assert found[0] == 0.0
    assert found[1] > 1.0
    links = best_links(np.concatenate([sure, sure]), shapes, edge_offsets(shapes), LinkRewards())
    assert links.pair.tolist() == [0, 0, 0, 1, 1, 1]
    assert links.source.tolist() == links.target.tolist() == [0, 1, 2, 0, 1, 2]
    assert links.edge.tolist() == [0, 4, 8, 9, 13, 17]


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


def test_the_most_doubtful_first(model: Model, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [*read(sample), ("", "rien"), ("  a   house \t", "une maison"), ("", "")]
    corpus = write(tmp_path, pairs)
    everything = suggest(model, corpus, 10_000)
    assert {s.line for s in everything} == {i for i, pair in enumerate(pairs, 1) if all(side.strip() for side in pair)}
    assert [s.doubt for s in everything] == sorted((s.doubt for s in everything), reverse=True)
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
    with pytest.raises(SettingError):
        suggest(model, corpus, 0)


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
