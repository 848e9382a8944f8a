"""Random bitexts, and plain-Python answers to compare with."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pytest

from corpora.bitext import Bitext, BitextBuilder
from corpora.normalize import Normalizer
from features.batch import EdgeBatch, EncodedText
from features.cooccurrence import count_cooccurrences
from features.statistics import CorpusStatistics

Pairs = Sequence[tuple[Sequence[str], Sequence[str]]]

# Latin with accents, digits, punctuation; letters that are equal mod 256 (a, š and two of CJK); CJK; a letter beyond 16
# bits; words of 63 and 64 letters, at which the bit masks of the subsequence end.
_SPELLED = """
a b chat chats château cab š šab 1990 1,990 x9 . ... - « où ou the thé naïve œuvre ß
Ѐ ѐб где абв ба 中文 文中 中a \u4e61\u4f61 𝔘b
"""
WORDS = [*_SPELLED.split(), "ab" * 32, "ba" * 32, "a" * 63, "a" * 64, "abc" * 21]


def build(pairs: Pairs) -> Bitext:
    builder = BitextBuilder(Normalizer(), Normalizer())
    for source, target in pairs:
        builder.add_tokens(source, target)
    return builder.bitext()


@pytest.fixture(scope="session")
def make_bitext() -> Callable[[Pairs], Bitext]:
    """A bitext of tokenised pairs."""
    return build


def random_pairs(
    rng: np.random.Generator, n: int, words: Sequence[str], longest: int
) -> list[tuple[list[str], list[str]]]:
    frequencies = 1.0 / np.arange(1, len(words) + 1)

    def sentence() -> list[str]:
        chosen = rng.choice(len(words), rng.integers(0, longest + 1), p=frequencies / frequencies.sum())
        return [words[i] for i in chosen]

    return [(sentence(), sentence()) for _ in range(n)]


@pytest.fixture(scope="session")
def make_pairs() -> Callable[..., list[tuple[list[str], list[str]]]]:
    """Random pairs of tokenised sentences, some empty, with a few frequent words and many rare ones."""

    def make(seed: int, n: int = 30, n_words: int = 25, longest: int = 9) -> list[tuple[list[str], list[str]]]:
        return random_pairs(np.random.default_rng(seed), n, [f"w{i}" for i in range(n_words)], longest)

    return make


def with_cooccurrences(counted: Bitext, minimum_dice: float) -> CorpusStatistics:
    """Statistics with word pairs of at least this Dice."""
    table = count_cooccurrences(counted, minimum_dice=minimum_dice)
    return replace(CorpusStatistics.from_bitext(counted), cooccurrence=table)


@pytest.fixture(scope="session")
def make_statistics() -> Callable[[Bitext, float], CorpusStatistics]:
    return with_cooccurrences


@dataclass(frozen=True)
class Case:
    """Statistics of one random bitext, and a batch of another, which has words that the first does not."""

    counted: Bitext
    bitext: Bitext
    statistics: CorpusStatistics
    batch: EdgeBatch

    @cached_property
    def counts(self) -> tuple[Counter[str], Counter[str], Counter[tuple[str, str]]]:
        """C_e, C_f and C_ef by word."""
        source, target, both = Counter[str](), Counter[str](), Counter[tuple[str, str]]()
        for pair in self.counted:
            es, fs = set(pair.source_words), set(pair.target_words)
            source.update(es)
            target.update(fs)
            both.update((e, f) for e in es for f in fs)
        return source, target, both

    def dice(self, e: str, f: str) -> np.float32:
        source, target, both = self.counts
        return np.float32(2.0 * both[e, f] / (source[e] + target[f])) if both[e, f] else np.float32(0)

    def matrices(self) -> Iterator[tuple[list[str], list[str], slice]]:
        """Source words, target words and rows of the features of each pair."""
        first = 0
        for pair in self.bitext:
            last = first + len(pair.source_words) * len(pair.target_words)
            yield list(pair.source_words), list(pair.target_words), slice(first, last)
            first = last

    def dice_matrix(self, es: list[str], fs: list[str]) -> np.ndarray:
        return np.array([self.dice(e, f) for e in es for f in fs], np.float32).reshape(len(es), len(fs))


@pytest.fixture(scope="session", params=[0, 1, 2])
def case(request: pytest.FixtureRequest) -> Case:
    rng = np.random.default_rng(request.param)
    counted = build(random_pairs(rng, 60, rng.permutation(WORDS)[:-8].tolist(), 7))
    pairs = random_pairs(rng, 25, rng.permutation(WORDS).tolist(), 8)
    # What is easily got wrong stands in the middle: nothing, one side only, single rows and columns.
    pairs[10:10] = [([], []), (["chat"], []), ([], ["a", "b"]), (["a"], WORDS[:7]), (WORDS[:6], ["b"]), (["a"], ["a"])]
    pairs.append((["1990", ".", "the"], ["le", "1,990", "..."]))
    bitext = build(pairs)
    statistics = with_cooccurrences(counted, 0.0)
    every = EncodedText.of(bitext, statistics, "all")
    return Case(counted, bitext, statistics, every.batch(0, len(bitext)))


@pytest.fixture
def columns(case: Case) -> Callable[..., np.ndarray]:
    """The columns a family writes, found between two columns that it must leave alone."""

    def fill(family: object, width: int, *more: object) -> np.ndarray:
        pairs = case.batch.word_pairs
        of_pairs = getattr(family, "OF_WORD_PAIRS", False)
        rows = len(pairs.source) if of_pairs else len(case.batch.cells)
        out = np.full((width + 2, rows), 7.0, np.float32).T  # column after column in memory
        family.fill(case.batch, *more, out[:, 1:-1])  # type: ignore[attr-defined]
        assert (out[:, [0, -1]] == 7.0).all()
        return out[pairs.of_edge, 1:-1] if of_pairs else out[:, 1:-1]

    return fill
