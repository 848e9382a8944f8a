"""Adding a text to what a translation model knows: against a plain Model 1, and by what must not change."""

from collections import defaultdict
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from whole_texts import posteriors

from aligner.evaluation.counts import count, scores
from corpora.bitext import Bitext, BitextBuilder
from corpora.links import Links
from corpora.normalize import Normalizer
from corpora.readers import open_corpus
from features.translation.expectation import Pass, Settings
from features.translation.jumps import WINDOW
from features.translation.model import TranslationModel
from features.translation.training import train_translation, update_translation

PLAIN = {"batches": 1, "smoothing": 0.0, "minimum_dice": 0.0, "minimum_count": 0.0}
Pairs = list[tuple[list[str], list[str]]]


def texts(seed: int, words: str, n: int) -> Pairs:
    """Sentences and their translations word by word, x before each, some lost."""
    rng = np.random.default_rng(seed)
    pairs: Pairs = []
    for _ in range(n):
        source = rng.choice(words.split(), rng.integers(1, 7)).tolist()
        pairs.append((source, [f"x{word}" for word in source if rng.random() < 0.8]))
    return pairs


OLD = texts(0, "house houses minister speak zebra garden question", 60)
NEW = texts(1, "house minister garden table tables window", 40)


class Model1:
    """p(f | e) of IBM Model 1 with NULL, and the expected counts of its last pass, in dictionaries."""

    def __init__(self, p0: float) -> None:
        self.p0 = p0
        self.counts: dict[tuple[str | None, str], float] = {}

    def train(self, pairs: Pairs, iterations: int) -> None:
        prior = self.counts
        for _ in range(iterations):
            counts = defaultdict(float, prior)
            for es, fs in pairs:
                for f in fs:
                    joint = {e: (1 - self.p0) / len(es) * self.probability(e, f) * es.count(e) for e in set(es)}
                    chances = {**joint, None: self.p0 * self.probability(None, f)}
                    for e, chance in chances.items():
                        counts[e, f] += chance / sum(chances.values())
            self.counts = counts

    def probability(self, e: str | None, f: str) -> float:
        if not self.counts:
            return 1.0
        return self.counts.get((e, f), 0.0) / sum(c for (given, _), c in self.counts.items() if given == e)


def equal_models(one: TranslationModel, other: TranslationModel) -> bool:
    a, b = one.to_arrays(), other.to_arrays()
    return a.keys() == b.keys() and all(np.array_equal(a[key], b[key]) for key in a)


def words_and_counts(model: TranslationModel) -> tuple[dict[str, int], dict[str, int]]:
    pairs = ((model.source_words, model.source_counts), (model.target_words, model.target_counts))
    one, other = (dict(zip(table.words(), counts.tolist(), strict=True)) for table, counts in pairs)
    return one, other


def test_counts_of_both_texts_are_added(make_bitext: Callable[..., Bitext]) -> None:
    # With smoothing, a new word has a probability before it is counted; the twin has none, so all words are known here.
    pairs = texts(2, "house houses minister speak zebra garden question", 30)
    twin = Model1(0.2)
    settings = Settings(iterations_1=2, iterations_hmm=0, agreement=False, p0=twin.p0, **PLAIN)
    text = make_bitext(OLD + [(list(e), list(f)) for e, f in pairs])
    model = train_translation(text, settings, lexicons=["words"])
    twin.train(OLD + pairs, 3)
    updated = update_translation(
        model, make_bitext(pairs), Settings(iterations_1=2, iterations_hmm=0, minimum_dice=0.0, minimum_count=0.0)
    )
    twin.train(pairs, 2)
    lexicon = updated.lexicons["words"]
    es, fs = updated.source_words.words(), updated.target_words.words()
    rows = np.repeat(np.arange(len(es)), np.diff(lexicon.row_offsets))
    for e, f, found in zip(rows.tolist(), lexicon.targets.tolist(), lexicon.counts[:, 0].tolist(), strict=True):
        assert found == pytest.approx(twin.counts.get((es[e], fs[f]), 0.0), rel=1e-3, abs=1e-4)
    for f, found in enumerate(lexicon.forward.null.tolist()):
        assert found == pytest.approx(twin.counts.get((None, fs[f]), 0.0), rel=1e-3, abs=1e-4)


def test_every_pass_raises_the_likelihood_with_the_old_counts_as_prior(make_bitext: Callable[..., Bitext]) -> None:
    model = train_translation(make_bitext(OLD), Settings(agreement=False, **PLAIN), lexicons=["words"])
    passes: list[Pass] = []
    twice = make_bitext(OLD)
    update_translation(
        model,
        twice,
        Settings(iterations_1=0, iterations_hmm=8, minimum_dice=0.0, minimum_count=0.0),
        on_pass=passes.append,
    )
    # The old text is the new one, so what is likelier for one is so for the other, and their sum rises where one does.
    found = np.array([p.log_likelihoods for p in passes])
    assert (np.diff(found, axis=0) > -1e-5 * np.abs(found[1:])).all()


def test_nothing_new_changes_nothing(make_bitext: Callable[..., Bitext]) -> None:
    model = train_translation(make_bitext(OLD))
    for nothing in ([], [([], []), (["a"], [])]):
        assert update_translation(model, make_bitext(nothing)) is model
    with pytest.raises(ValueError, match="must be an iteration"):
        update_translation(model, make_bitext(NEW), Settings(iterations_1=0, iterations_hmm=0))


def test_words_and_occurrences_are_those_of_both_texts(make_bitext: Callable[..., Bitext]) -> None:
    updated = update_translation(train_translation(make_bitext(OLD)), make_bitext(NEW))
    whole = train_translation(make_bitext(OLD + NEW))
    assert words_and_counts(updated) == words_and_counts(whole)
    assert updated.source_words.words() == whole.source_words.words(), "old words keep their numbers"
    copy = TranslationModel.from_arrays(updated.to_arrays(), updated.source_words, updated.target_words)
    assert equal_models(copy, updated)


def test_words_jump_as_in_both_texts_once_they_are_frequent(make_bitext: Callable[..., Bitext]) -> None:
    model = train_translation(make_bitext(OLD[:20]), lexicons=["words"])
    updated = update_translation(model, make_bitext(OLD[20:] + NEW))
    before, after = model.lexicons["words"], updated.lexicons["words"]
    known = len(before.forward.frequent)
    assert after.forward.frequent[:known].tolist() == before.forward.frequent.tolist()
    often = np.flatnonzero(updated.source_counts >= 10)
    assert set(often.tolist()) == set(after.forward.frequent.tolist())
    assert 0 < known < len(often)
    assert (after.forward.inside[0, 1 : known + 1].sum(axis=1) > before.forward.inside[0, 1:].sum(axis=1)).all()
    for inside in after.forward.inside:
        assert inside.sum() == pytest.approx(after.forward.jumps[WINDOW:-WINDOW].sum(), rel=1e-5)


def test_new_words_are_learnt_and_old_ones_are_kept(make_bitext: Callable[..., Bitext]) -> None:
    model = update_translation(train_translation(make_bitext(OLD)), make_bitext(NEW))
    lexicon, fs = model.lexicons["words"], model.target_words.words()
    for e, word in enumerate(model.source_words.words()):
        row = slice(lexicon.row_offsets[e], lexicon.row_offsets[e + 1])
        assert fs[lexicon.targets[row][lexicon.counts[row, 0].argmax()]] == f"x{word}"


@pytest.mark.slow
def test_half_and_then_the_other_half_is_nearly_the_whole(data: Path) -> None:
    """5,000 pairs of the Hansards; judged on gold-train, whose text no model has seen."""
    hansards = data / "hansards"

    def read(prefix: Path, first: int, last: int | None) -> Bitext:
        builder = BitextBuilder(Normalizer(), Normalizer())
        for _, source, target in islice(open_corpus(prefix).texts(), first, last):
            builder.add_lines([source], [target])
        return builder.bitext()

    gold = Links.from_pairs(open_corpus(hansards / "gold-train").links())
    text = read(hansards / "gold-train", 0, None)

    def aer(model: TranslationModel) -> float:
        return float(scores(count(gold, posteriors(model, text).soft_links()).sum(axis=0)).aer)

    n = 5_000
    half = train_translation(read(hansards / "train", 0, n // 2))
    whole = train_translation(read(hansards / "train", 0, n))
    both = update_translation(half, read(hansards / "train", n // 2, n))
    assert aer(both) < aer(half)
    assert aer(both) < aer(whole) + 0.005
