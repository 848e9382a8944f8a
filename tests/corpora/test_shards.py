"""Shards, one after the other, are the corpus, whatever its form; random samples are the same for the same seed."""

import math
from collections import Counter
from pathlib import Path

import pytest
from commands import write
from readings import refuses
from scipy.stats import chisquare

from corpora.corpus import Corpus, sample
from corpora.errors import BrokenLine, CorpusError
from corpora.readers import open_corpus
from corpora.skipping import Skipping


def test_errors_are_of_the_shard_and_name_the_line_of_the_whole(tmp_path: Path) -> None:
    corpus = open_corpus(write(tmp_path / "t", "a ||| b", "c ||| d", "broken", "e ||| f"))
    assert list(corpus.shard(1, 2).texts()) == [(1, b"a", b"b"), (2, b"c", b"d")]
    with refuses(r"t:3: no \|\|\|", BrokenLine):
        list(corpus.shard(2, 2).texts())
    lenient = Skipping(on_broken=lambda error: None)
    assert list(lenient(corpus.shard(2, 2)).texts()) == [(3, b"", b""), (4, b"e", b"f")]


def test_texts_of_unequal_length_have_no_shards(tmp_path: Path) -> None:
    corpus = open_corpus([write(tmp_path / "a.en", *"abc"), write(tmp_path / "a.fr", *"ab")])
    with pytest.raises(CorpusError) as whole:
        list(corpus.texts())
    for number in (1, 2):
        with pytest.raises(CorpusError) as caught:
            corpus.shard(number, 2)
        assert str(caught.value) == str(whole.value)


def test_what_has_no_shards(tmp_path: Path) -> None:
    with refuses("-: is read more than once"):
        open_corpus("-").shard(1, 2)
    empty = [write(tmp_path / name) for name in ("a.en", "a.fr")]
    with refuses("is empty"):
        open_corpus(empty).shard(1, 2)


COUNTS = 7, 1, 5


@pytest.fixture
def corpora(tmp_path: Path) -> list[Corpus]:
    for number, pairs in enumerate(COUNTS):
        lines = [f"{number} {pair} ||| x\n" for pair in range(1, pairs + 1)]
        (tmp_path / f"{number}.txt").write_text("".join(lines), "utf-8")
    return [open_corpus(tmp_path / f"{number}.txt") for number in range(len(COUNTS))]


def drawn(corpora: list[Corpus], pairs: int, seed: int) -> list[tuple[int, int]]:
    """The number and line of each pair; the text says the same."""
    found = []
    for number, corpus in enumerate(sample(corpora, COUNTS, pairs, seed)):
        for line, source, _ in corpus.texts():
            assert source.split() == [b"%d" % number, b"%d" % line]
            found.append((number, line))
    return found


def test_so_many_pairs_in_order(corpora: list[Corpus]) -> None:
    everything = drawn(corpora, sum(COUNTS), 0)
    assert (
        everything == drawn(corpora, 1000, 3) == [(n, line) for n, c in enumerate(COUNTS) for line in range(1, c + 1)]
    )
    for pairs in range(1, sum(COUNTS)):
        for seed in range(20):
            found = drawn(corpora, pairs, seed)
            assert len(found) == pairs
            assert found == sorted({*found})
            assert {*found} <= {*everything}
            assert found == drawn(corpora, pairs, seed)


def test_every_sample_is_as_likely(corpora: list[Corpus]) -> None:
    """All 78 samples of 2 of 13 pairs, 20 times each in the mean; the seeds are those of this one test."""
    samples = math.comb(sum(COUNTS), 2)
    seeds = 20 * samples
    found = Counter(tuple(drawn(corpora, 2, seed)) for seed in range(seeds))
    assert len(found) == samples
    assert chisquare([*found.values()]).pvalue > 1e-3


@pytest.mark.parametrize("counts", [(10**9,), (10**9 - 1, 1), (6 * 10**9, 3 * 10**9, 10**9)])
def test_samples_of_any_number_of_pairs(corpora: list[Corpus], counts: tuple[int, ...]) -> None:
    """Each corpus has its share: NumPy draws none of so many."""
    drawn = sample(corpora[: len(counts)], counts, 30_000, 5)
    shares = [corpus.texts.args[2] for corpus in drawn]  # type: ignore[attr-defined]
    assert sum(shares) == 30_000
    assert all(abs(share - 30_000 * count / sum(counts)) < 600 for share, count in zip(shares, counts, strict=True))
