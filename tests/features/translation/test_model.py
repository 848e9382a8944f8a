"""Training: against nltk, and by the laws of expectation-maximisation."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from whole_texts import posteriors

from corpora import threads
from corpora.bitext import Bitext, Text, read_bitext
from corpora.normalize import Normalizer
from corpora.readers import open_corpus
from features.cooccurrence import count_cooccurrences
from features.translation import counting
from features.translation.expectation import Pass, Settings
from features.translation.jumps import LEAVING, WINDOW
from features.translation.lexicon import KINDS, variant_of, variants
from features.translation.model import TranslationModel
from features.translation.pieces import Units, cut_word
from features.translation.posteriors import Posteriors
from features.translation.training import train_translation, update_translation, usual_settings

PLAIN = {"batches": 1, "smoothing": 0.0, "minimum_dice": 0.0, "minimum_count": 0.0}

VOCABULARY = (
    "chat chats château chien chiens maison maisons 1990 . , le la les de un une rouge rouges vert verts".split()
)


@pytest.fixture(scope="module")
def parallel(make_bitext: Callable[..., Bitext]) -> Bitext:
    """A text and its word-by-word translation, with words lost, added and swapped."""
    rng = np.random.default_rng(5)
    frequencies = 1.0 / np.arange(1, len(VOCABULARY) + 1)
    pairs = []
    for _ in range(300):
        words = rng.choice(VOCABULARY, rng.integers(0, 12), p=frequencies / frequencies.sum()).tolist()
        other = [f"x{word[::-1]}" for word in words if rng.random() < 0.9]
        if len(other) > 3 and rng.random() < 0.5:
            other[1], other[2] = other[2], other[1]
        pairs.append((words, other + ["euh"] * int(rng.integers(0, 2))))
    return make_bitext(pairs)


@pytest.mark.parametrize("lexicon", ["words", "pieces"])
def test_without_agreement_every_pass_raises_the_likelihood(parallel: Bitext, lexicon: str) -> None:
    passes: list[Pass] = []
    train_translation(
        parallel,
        Settings(iterations_1=8 - KINDS[lexicon].passes, iterations_hmm=12, agreement=False, **PLAIN),
        lexicons=[lexicon],
        on_pass=passes.append,
    )
    assert [p.hmm for p in passes] == [False] * 8 + [True] * 12
    found = np.array([p.log_likelihoods for p in passes])
    for part in (found[:8], found[8:]):
        assert (np.diff(part, axis=0) > -1e-5 * np.abs(part[1:])).all()
        assert (part[-1] > part[0]).all()


def equal_models(one: TranslationModel, other: TranslationModel) -> bool:
    a, b = one.to_arrays(), other.to_arrays()
    return a.keys() == b.keys() and all(np.array_equal(a[key], b[key]) for key in a)


@pytest.mark.slow
def test_threads_do_not_change_a_bit(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the sample, cut into chunks: models that were trained, and models that were updated."""
    monkeypatch.setattr(counting, "_WORDS_WORTH_A_THREAD", 0)
    bitext = read_bitext([open_corpus(sample / "train")], Normalizer(), Normalizer())
    half = bitext.take(np.arange(len(bitext) // 2))
    models = []
    monkeypatch.setattr(threads, "_processors", lambda: 3)
    for number in (1, 2, 3):
        monkeypatch.setattr(threads, "_limit", number)
        models.append((train_translation(bitext), update_translation(train_translation(half), bitext)))
    for trained, updated in models[1:]:
        assert equal_models(trained, models[0][0])
        assert equal_models(updated, models[0][1])


def test_without_batches_the_order_of_the_pairs_matters_by_rounding_only(
    parallel: Bitext, make_bitext: Callable[..., Bitext]
) -> None:
    order = np.random.default_rng(0).permutation(len(parallel))
    shuffled = make_bitext([(parallel[i].source_words, parallel[i].target_words) for i in order.tolist()])
    one = posteriors(train_translation(parallel, Settings(batches=1)), parallel)
    other = posteriors(train_translation(shuffled, Settings(batches=1)), parallel)
    np.testing.assert_allclose(one.forward, other.forward, atol=1e-3)
    np.testing.assert_allclose(one.reverse, other.reverse, atol=1e-3)


def test_the_lexicon_of_pieces_is_one_of_words_where_these_are_the_pieces(
    parallel: Bitext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trained on a text of them; posteriors of words are means over their own pieces of sums over the others'."""
    sides = [Units.of(text.vocabulary.words, whole=False) for text in (parallel.source, parallel.target)]
    texts = (sides[0].text(parallel.source), sides[1].text(parallel.target))
    cut = Bitext(*(Text(*text.cut(0, len(text)), text.vocabulary, text.language) for text in texts))
    model = train_translation(parallel, lexicons=["pieces"])
    found = posteriors(model, parallel)
    monkeypatch.setitem(KINDS, "pieces", KINDS["pieces"]._replace(whole=True))
    of_pieces = train_translation(cut, lexicons=["pieces"])
    assert model.lexicons["pieces"].counts.shape[1] == 2
    others = of_pieces.lexicons["pieces"].to_arrays()
    assert all(np.array_equal(array, others[name]) for name, array in model.lexicons["pieces"].to_arrays().items())
    whole = posteriors(of_pieces, cut)
    for i, pair in enumerate(parallel):
        J, K = len(pair.source), len(pair.target)
        if J * K == 0:
            continue
        words = pair.source_words, pair.target_words
        starts = [np.cumsum([0, *(len(cut_word(word)) for word in side)]) for side in words]
        edges = slice(whole.offsets[i], whole.offsets[i + 1])
        for of_words, array, axis in ((found.forward, whole.forward, 1), (found.reverse, whole.reverse, 0)):
            sums = array[edges].reshape(starts[0][-1], starts[1][-1])
            sums = np.add.reduceat(np.add.reduceat(sums, starts[0][:-1], axis=0), starts[1][:-1], axis=1)
            means = sums / np.expand_dims(np.diff(starts[axis]), 1 - axis)
            own = of_words[found.offsets[i] : found.offsets[i + 1]].reshape(J, K)
            np.testing.assert_allclose(own, means, rtol=1e-5, atol=1e-6)


def test_little_text_has_a_lexicon_of_each_variant(parallel: Bitext) -> None:
    """Each as training with its settings alone would make it, and decoded by these; the mean counts."""
    usual = usual_settings(parallel)
    assert usual.varied
    model, found = train_translation(parallel), list[Posteriors]()
    assert list(model.lexicons) == variants(KINDS)
    for name, lexicon in model.lexicons.items():
        kind, variant = variant_of(name)
        alone = replace(
            usual,
            varied=False,
            iterations_1=usual.iterations_1 + variant.passes - KINDS[kind].passes,
            p0=usual.p0 * variant.p0,
            smoothing=usual.smoothing * variant.smoothing,
        )
        single = train_translation(parallel, alone, lexicons=[kind])
        arrays = single.lexicons[kind].to_arrays()
        assert all(np.array_equal(array, arrays[key]) for key, array in lexicon.to_arrays().items())
        found.append(posteriors(replace(model, lexicons={name: lexicon}), parallel))
        np.testing.assert_array_equal(found[-1].forward, posteriors(single, parallel).forward)
    mean = posteriors(model, parallel)
    np.testing.assert_allclose(mean.forward, np.mean([one.forward for one in found], axis=0), atol=1e-6)
    np.testing.assert_allclose(mean.reverse, np.mean([one.reverse for one in found], axis=0), atol=1e-6)


def test_co_occurrences_that_are_known_need_not_be_counted(parallel: Bitext) -> None:
    known = train_translation(parallel, take_table=[count_cooccurrences(parallel)].pop)
    assert equal_models(known, train_translation(parallel))


def test_a_long_text_teaches_pieces_by_a_sample_of_its_pairs(
    make_bitext: Callable[..., Bitext], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = make_bitext([(["a", "b"], ["x"]), (["c", "d"], ["y"])] * 5_000)  # two kinds of lines in turn: each is met
    whole = train_translation(text, Settings(batches=1)).lexicons
    monkeypatch.setitem(KINDS, "pieces", KINDS["pieces"]._replace(most_tokens=1_500.0))  # a tenth
    sampled = train_translation(text, Settings(batches=1)).lexicons
    assert np.array_equal(sampled["words"].counts, whole["words"].counts)
    np.testing.assert_allclose(10 * sampled["pieces"].counts, whole["pieces"].counts, rtol=0.02)


def test_the_more_text_the_fewer_passes_and_the_more_smoothing() -> None:
    sizes = [Settings.of_text(tokens) for tokens in (1, 1e3, 1e4, 29e3, 31e3, 99e3, 101e3, 149e3, 151e3, 1e9)]
    assert sizes[-1] == Settings()
    assert all(one.iterations_1 >= other.iterations_1 for one, other in pairwise(sizes))
    assert all(one.smoothing <= other.smoothing for one, other in pairwise(sizes))
    assert [one.varied for one in sizes] == [True] * 6 + [False] * 4


@pytest.mark.parametrize("agreement", [True, False])
def test_swapping_the_languages_swaps_the_directions(parallel: Bitext, agreement: bool) -> None:
    swapped = Bitext(parallel.target, parallel.source)
    one = posteriors(train_translation(parallel, Settings(agreement=agreement)), parallel)
    other = posteriors(train_translation(swapped, Settings(agreement=agreement)), swapped)
    for i, (J, K) in enumerate(one.shapes.tolist()):
        edges = slice(one.offsets[i], one.offsets[i + 1])
        for a, b in ((one.forward, other.reverse), (one.reverse, other.forward)):
            np.testing.assert_allclose(a[edges].reshape(J, K), b[edges].reshape(K, J).T, atol=2e-3)


def test_words_jump_in_their_own_way(make_bitext: Callable[..., Bitext]) -> None:
    """Adjectives follow their noun in the other language; the rare word jumps with all that are rare."""
    rng = np.random.default_rng(0)
    pairs = []
    for _ in range(200):
        n = rng.integers(1, 4)
        kinds = ["the", "a", "my"], ["red", "new", "old"], ["cat", "house", "sea", "day"]
        phrases = list(zip(*(rng.choice(kind, n).tolist() for kind in kinds), strict=True))
        pairs.append(
            (
                [word for phrase in phrases for word in phrase],
                [f"x{word}" for article, adjective, noun in phrases for word in (article, noun, adjective)],
            )
        )
    pairs[0][0][1] = "rare"
    model = train_translation(make_bitext(pairs), lexicons=["words"])
    forward = model.tables["words"].chain.forward
    group = dict(zip(model.source_words.words(), forward.groups.tolist(), strict=False))
    widths = {word: int(forward.inside[LEAVING, group[word]].argmax()) - WINDOW for word in group}
    assert all(widths[word] == 2 for word in ("the", "a", "my", "red", "new", "old"))
    assert all(widths[word] == -1 for word in ("cat", "house", "sea", "day"))
    assert group["rare"] == 0
    assert forward.groups[-1] == 0, "as do words never seen"


def test_what_is_given_up_is_reported_and_little(parallel: Bitext) -> None:
    passes: list[Pass] = []
    settings = Settings(iterations_1=2, minimum_count=0.1)
    model = train_translation(parallel, settings, lexicons=["words"], on_pass=passes.append)
    cells = [p.cells for p in passes]
    assert cells[0] > cells[1] > cells[2] == len(model.lexicons["words"].targets)
    assert [p.pruned > 0.0 for p in passes] == [False, True, True]
    assert max(p.pruned for p in passes) < 0.01


def test_arrays_hold_all_of_a_model(parallel: Bitext) -> None:
    model = train_translation(parallel)
    arrays, words = model.to_arrays(), (model.source_words, model.target_words)
    copy = TranslationModel.from_arrays(arrays, *words)
    assert equal_models(model, copy)
    one, other = posteriors(model, parallel), posteriors(copy, parallel)
    assert np.array_equal(one.forward, other.forward)
    for name, damaged in (
        ("lexicons.words.targets", arrays["lexicons.words.targets"] + 1_000_000),
        ("lexicons.words.row_offsets", arrays["lexicons.words.row_offsets"][::-1]),
        ("lexicons.pieces.counts", arrays["lexicons.pieces.counts"][:-1]),
        ("lexicons.pieces.forward", np.ones(3)),
        ("lexicons.words.source_frequent", arrays["lexicons.words.source_frequent"] + 1_000_000),
        ("lexicons.words.target_frequent", arrays["lexicons.words.target_frequent"][1:]),
        ("lexicons.pieces.forward_weights", arrays["lexicons.pieces.forward_weights"][1:]),
        ("lexicons.pieces.reverse_inside", arrays["lexicons.pieces.reverse_inside"][:, 1:]),
        ("source_counts", arrays["source_counts"][1:]),
    ):
        with pytest.raises(ValueError, match="do not fit"):
            TranslationModel.from_arrays({**arrays, name: damaged}, *words)
    with pytest.raises(KeyError):
        TranslationModel.from_arrays({k: v for k, v in arrays.items() if k != "lexicons.words.null_source"}, *words)


def test_very_long_pairs_are_not_learnt_from_but_aligned(
    make_bitext: Callable[..., Bitext], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{a}{b}" for a in "abcdefg" for b in "mnopq"]
    short = [([e], [f"x{e}"]) for e in names] + [([a, b], [f"x{a}", f"x{b}"]) for a, b in pairwise(names)]
    long = (names, [f"x{e}" for e in names])
    monkeypatch.setattr("features.translation.training.MOST_EDGES", 100)
    bitext = make_bitext([*short, long])
    assert equal_models(train_translation(bitext), train_translation(make_bitext(short)))
    links = posteriors(train_translation(bitext), bitext).soft_links(0.3)[len(short)].sure
    assert links == {(j, j) for j in range(len(names))}


@pytest.mark.parametrize("pairs", [[], [([], [])], [(["a"], [])], [([], ["b"]), (["a"], ["b"])]])
def test_texts_of_almost_nothing(pairs: list, make_bitext: Callable[..., Bitext]) -> None:
    bitext = make_bitext(pairs)
    found = posteriors(train_translation(bitext), bitext)
    assert len(found.forward) == sum(len(a) * len(b) for a, b in pairs)
    assert np.isfinite(found.forward).all()
    assert len(found.soft_links()) == len(pairs)


@pytest.mark.parametrize("settings", [
    {"iterations_1": -1}, {"iterations_1": 0, "iterations_hmm": 0}, {"p0": 0.0}, {"p0": 1.0}, {"uniform": 0.0},
    {"smoothing": -1.0},
])  # fmt: skip
def test_settings_out_of_range(settings: dict) -> None:
    with pytest.raises(ValueError, match="must be"):
        Settings(**settings)


@pytest.mark.parametrize("lexicons", [[], ["stems"], ["words", "words"]])
def test_lexicons_that_cannot_be(lexicons: list[str], parallel: Bitext) -> None:
    with pytest.raises(ValueError, match="must be"):
        train_translation(parallel, lexicons=lexicons)
    with pytest.raises(ValueError, match="no posteriors"):
        posteriors(replace(train_translation(parallel), lexicons={}), parallel)
