"""Shards, one after the other, are the corpus, whatever its form; random samples are the same for the same seed."""

from __future__ import annotations

import gzip
import importlib.util
import json
import math
from collections import Counter
from contextlib import suppress
from itertools import chain
from pathlib import Path

import pytest
from commands import write
from scipy.stats import chisquare

from corpora import SettingError
from corpora.corpus import Corpus, sample
from corpora.errors import BrokenLine, CorpusError
from corpora.files import pack
from corpora.readers import open_corpus
from corpora.skipping import Skipping

EN = ["\ufeffthe house", "", "yes", "it is small", " ", "no"]  # of a file with a byte order mark
FR = ["la maison", "oui", "", "elle est petite", "", "non"]
PAIRS = list(zip(["the house", *EN[1:]], FR, strict=True))


def forms(folder: Path) -> dict[str, Corpus]:
    """The same pairs in all forms of a corpus."""
    texts = [write(folder / f"t.{language}", *lines) for language, lines in (("en", EN), ("fr", FR))]
    crlf = [write(folder / f"c.{language}", *lines, end="\r\n") for language, lines in (("en", EN), ("fr", FR))]
    for text in texts:
        text.with_name(f"{text.name}.gz").write_bytes(gzip.compress(text.read_bytes().removesuffix(b"\n")))
    marked_up = [write(folder / f"n.{x}", *(f"<s snum={n}> {x} </s>" for n in range(1, 7))) for x in "ef"]
    triples = chain.from_iterable((a, b, "0-0") for a, b in PAIRS if a.strip())
    joint = [f"{one} ||| {other}" for one, other in PAIRS]
    found = {
        "texts": open_corpus(texts),
        "crlf": open_corpus(crlf),
        "gzip": open_corpus([f"{text}.gz" for text in texts]),
        "joint": open_corpus(write(folder / "joint", *joint)),
        "columns": open_corpus(write(folder / "tsv", *(f"{b}\tx\t{a}" for a, b in PAIRS)), columns=("3", "1")),
        "objects": open_corpus(write(folder / "o", *(json.dumps({"source": a, "target": b}) for a, b in PAIRS))),
        "comtrans": open_corpus(write(folder / "com", *triples)),
        "naacl": open_corpus(marked_up),
    }  # fmt: skip
    with suppress(SettingError):  # without the package
        (folder / "z").write_bytes(pack(".zst", "".join(f"{line}\n" for line in joint).encode()))
        found["zstd"] = open_corpus(folder / "z")
    if importlib.util.find_spec("pyarrow") is not None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(
            pa.table({"a": [a for a, _ in PAIRS], "b": [b for _, b in PAIRS]}), folder / "p", row_group_size=2
        )
        found["parquet"] = open_corpus(folder / "p", columns=("a", "b"))
    return found


@pytest.mark.parametrize("n", [*range(1, 8), 100])
def test_shards_are_the_whole(tmp_path: Path, n: int) -> None:
    for name, corpus in forms(tmp_path).items():
        whole = list(corpus.texts())
        shards = [corpus.shard(number, n) for number in range(1, n + 1)]
        parts = [list(shard.texts()) for shard in shards]
        assert list(chain.from_iterable(parts)) == whole, name
        assert max(map(len, parts)) - min(map(len, parts)) <= 1, name
        assert [list(shard.texts()) for shard in shards] == parts, "read once more"
        if name not in ("comtrans", "naacl"):
            assert [(a.strip(), b.strip()) for _, a, b in whole] == [(a.strip().encode(), b.encode()) for a, b in PAIRS]
            assert [number for number, *_ in whole] == [1, 2, 3, 4, 5, 6]


def test_errors_are_of_the_shard_and_name_the_line_of_the_whole(tmp_path: Path) -> None:
    corpus = open_corpus(write(tmp_path / "t", "a ||| b", "c ||| d", "broken", "e ||| f"))
    assert list(corpus.shard(1, 2).texts()) == [(1, b"a", b"b"), (2, b"c", b"d")]
    with pytest.raises(BrokenLine, match=r"t:3: no \|\|\|"):
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
    with pytest.raises(CorpusError, match="-: is read more than once"):
        open_corpus("-").shard(1, 2)
    empty = [write(tmp_path / name) for name in ("a.en", "a.fr")]
    with pytest.raises(CorpusError, match="is empty"):
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
    """All 78 samples of 2 of 13 pairs, 50 times each in the mean; the seeds are those of this one test."""
    samples = math.comb(sum(COUNTS), 2)
    seeds = 50 * samples
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
