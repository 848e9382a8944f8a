"""Dictionaries: which word pairs of a text their entries stand for; they decide where the text says little."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np
import pytest
from readings import leaves_out

from aligner.evaluation.counts import error_rate
from aligner.model.settings import AlignSettings
from aligner.model.unsupervised import align
from corpora.bitext import Bitext, BitextBuilder, read_bitext
from corpora.dictionaries import Dictionary, Entry
from corpora.dictionaries.lines import MOST_WORDS
from corpora.links import Links
from corpora.normalize import Normalizer
from corpora.readers import open_corpus
from features.translation.dictionary import COUNT, EXAMPLES, FORM, JUDGED, MOST_ONE, PHRASE, Fit, count_entries
from features.translation.priors import read_priors
from features.translation.training import usual_settings

NORMALIZERS = Normalizer(), Normalizer()


def text_of(source: str, target: str, languages: tuple[str | None, str | None] = (None, None)) -> Bitext:
    return BitextBuilder(*NORMALIZERS, *languages).add_pairs([(source.split(), target.split())]).bitext()


def dictionary_of(
    *entries: tuple[str, str] | tuple[str, str, float], languages: tuple[str | None, str | None] = (None, None)
) -> Dictionary:
    return Dictionary("D", "lines", languages, (Entry((one,), (other,), *weight) for one, other, *weight in entries))


def counted(
    text: Bitext, *dictionaries: Dictionary, whole: bool = False
) -> tuple[Mapping[tuple[str, str], float], Fit]:
    counts, fits = count_entries(dictionaries, text, NORMALIZERS, whole=whole)
    return counts, fits[0]


def test_words_of_a_phrase_share_its_count() -> None:
    text = text_of("house give up york", "")
    found, fit = counted(
        text,
        dictionary_of(
            ("House", "maison", 2.0),
            ("give up", "renoncer", 2.0),
            ("York", "ville de York", 0.5),
            ("of it", "en"),
            ("house", "maison"),
            ("house", "maison", 3.0),
        ),
    )
    assert found["house", "maison"] == 3.0 * COUNT  # what is there several times counts as the heaviest
    assert found["give", "renoncer"] == found["up", "renoncer"] == PHRASE * COUNT
    assert found["york", "ville"] == pytest.approx(PHRASE * 0.5 * COUNT / 3)
    assert len(found) == 1 + 2 + 3
    assert (fit.entries, fit.both, fit.one, fit.examples) == (6, 0, 4, [])


def test_entries_count_that_have_a_side_in_the_text() -> None:
    """A word of the other side teaches pieces; for other text all entries count."""
    text, entries = text_of("a b", "x"), [("a", "x"), ("b", "z"), ("c", "x"), ("c", "z")]
    found, fit = counted(text, dictionary_of(*entries))
    assert found == {("a", "x"): COUNT, ("b", "z"): COUNT, ("c", "x"): COUNT}
    assert (fit.both, fit.one, fit.examples) == (1, 2, [("a", "x")])
    found, fit = counted(text, dictionary_of(*entries), whole=True)
    assert found == dict.fromkeys(entries, COUNT)


def test_of_a_dictionary_of_another_language_only_what_has_both_sides_counts() -> None:
    """Here as many others as it may have not to be judged, and one more."""
    text = text_of("a b", "x")
    for others, expected in ((JUDGED - 1, JUDGED), (JUDGED, 1)):
        found, fit = counted(text, dictionary_of(("a", "x"), *(("b", f"z{number}") for number in range(others))))
        assert (len(found), fit.fits) == (expected, expected > 1)
        assert ("too few" in str(fit)) != fit.fits


def test_of_entries_with_one_side_in_the_text_so_many_count_evenly_chosen() -> None:
    words = [f"{number:04}" for number in range(3 * MOST_ONE)]
    text = text_of("house " + " ".join(words), "maison")
    entries = [(word, f"{word}-x") for word in words] + [(word, "maison") for word in ("house", *words[:200])]
    counts, fit = counted(text, dictionary_of(*entries, languages=("en", "fr")))
    assert (fit.both, fit.one) == (201, 3 * MOST_ONE)
    alone = [one for one, other in counts if other.endswith("-x")]
    assert alone == words[::3]
    entries += [(f"x{number}", "y") for number in range(JUDGED)]
    whole, fit = counted(text, dictionary_of(*entries), whole=True)  # for text that will come
    assert (len(whole), fit.both, fit.one) == (len(entries), 201, 3 * MOST_ONE)


def test_words_stand_for_their_forms_in_the_text() -> None:
    """Shared beginnings where no lemmatiser knows the language: neither short ones nor the first half of a compound."""
    text = text_of("houses housing hous housekeeping cats", "maisons", ("qaa", "qab"))
    found, fit = counted(text, dictionary_of(("house", "maison"), ("cat", "chat")))
    pairs = product_of(("house", "houses", "housing", "hous"), ("maison", "maisons"))
    assert found == {pair: COUNT * (1.0 if pair == ("house", "maison") else FORM) for pair in pairs}
    assert (fit.both, fit.forms, fit.lemmatizers) == (1, 1, (None, None))


def product_of(one: Iterable[str], other: Iterable[str]) -> list[tuple[str, str]]:
    return [(a, b) for a in one for b in other]


def test_languages_or_else_words_say_which_side_is_which() -> None:
    text, turned = text_of("house cat", "maison chat", ("en", "fr")), [("maison", "house"), ("chat", "cat")]
    for given, languages in (
        (text, ("fr", "en")),
        (text, (None, "en")),
        (text_of("house cat", "maison chat"), (None, None)),
    ):
        found, fit = counted(given, dictionary_of(*turned, languages=languages))
        assert fit.turned
        assert {*found} == {("house", "maison"), ("cat", "chat")}
    # Of a language in other spellings, too; what a file says of itself goes before words.
    for given, languages, is_turned in (
        (text_of("a", "b", ("eng", "fr_CA")), ("fr", "en"), True),
        (text, ("en", "fr"), False),
    ):
        assert counted(given, dictionary_of(("b", "a"), languages=languages))[1].turned == is_turned
    assert counted(text_of("a", "b", ("src", "xx")), dictionary_of(("a", "b"), languages=("en", None)))[1].both == 1
    found, _ = counted(text, dictionary_of(*turned), dictionary_of(("house", "maison"), languages=("en", "fr")))
    assert found == {("house", "maison"): COUNT, ("cat", "chat"): COUNT}  # what both list counts once


def test_how_a_dictionary_fits_is_a_line() -> None:
    text = text_of("houses", "maison", ("en", "fr"))
    *_, fit = counted(text, dictionary_of(*[("maison", f"house{k}") for k in range(EXAMPLES)], languages=("fr", "en")))
    assert str(fit).startswith("D: lines, fr-en, headwords of the target: 10 entries, ")


def test_entries_are_tokenised_as_the_text_is() -> None:
    tokenizing = Normalizer(tokenize=True)
    text = BitextBuilder(*NORMALIZERS).add_pairs([(["o'brien"], ["東", "京"])]).bitext()
    counts, _ = count_entries([dictionary_of(("O'Brien", "東京"))], text, (NORMALIZERS[0], tokenizing))
    assert {*counts} == {("o'brien", "東"), ("o'brien", "京")}
    with leaves_out(rf"^D: left out: 1 entries of more than {MOST_WORDS} words on a side \(give"):
        counts, _ = count_entries(
            [dictionary_of(("O'Brien", "東" * (MOST_WORDS + 1)))], text, (NORMALIZERS[0], tokenizing)
        )
    assert not counts


def test_a_dictionary_is_added_to_priors(make_bitext: Callable[..., Bitext], tmp_path: Path) -> None:
    priors, dictionary = tmp_path / "P", tmp_path / "D"
    priors.write_text("LEX\tHouse\tmaison\t5\nHMMF\t1\t7\n")
    dictionary.write_text("house\tmaison\nhouse\tfoyer\n")
    text, fits = make_bitext([(["house"], ["maison"])]), list[Fit]()
    both = read_priors(priors, [dictionary], NORMALIZERS, text, on_fit=fits.append)
    assert both is not None
    counts = dict(zip(both.target_words.words(), both.lexicons["words"].counts[:, 0].tolist(), strict=True))
    assert counts == {"maison": 5.0 + COUNT, "foyer": COUNT}
    assert both.lexicons["words"].forward.jumps.sum() == 7.0
    assert [(fit.entries, fit.both, fit.one) for fit in fits] == [(2, 1, 1)]
    assert read_priors(None, [], NORMALIZERS, text) is None


@pytest.mark.slow
def test_dictionaries_of_japanese(data: Path, tmp_path: Path) -> None:
    """Frequent words of one half of gold avoid errors in the other, any do no harm, and nonsense little.

    Training of a small text keeps its settings, and its links, whatever is known that is not in it.
    """
    corpus = open_corpus(str(data / "en-ja" / "gold"), source="en", target="ja")
    bitext = read_bitext([corpus], *NORMALIZERS, lambda pairs: None)
    links, entries = Links.from_pairs(corpus.links()), Counter[tuple[str, str]]()
    half = np.arange(len(links) // 2)
    for pair in range(len(half), len(links)):
        sure, words = sorted(links[pair].sure), (bitext[pair].source_words, bitext[pair].target_words)
        sides = [Counter(link[side] for link in sure) for side in (0, 1)]
        entries.update((words[0][j], words[1][k]) for j, k in sure if sides[0][j] == sides[1][k] == 1)

    def error(chosen: list[tuple[str, str]]) -> float:
        file = tmp_path / "entries"
        file.write_text("".join(f"{source}\t{target}\n" for source, target in chosen), "utf-8")
        found = align(bitext, settings=AlignSettings(dictionary=(str(file),) if chosen else ()))
        return 100 * error_rate(links.take(half), found.links.take(half))

    rng = np.random.default_rng(0)
    every = sorted(entries)
    some = [every[place] for place in rng.permutation(len(every))[:500]]
    nonsense = [(one[0], other[1]) for one, other in zip(some, rng.permutation(some).tolist(), strict=True)]
    alone = error([])
    assert error([entry for entry, _ in entries.most_common(500)]) < alone - 0.6
    assert error(some) < alone
    assert error(nonsense) < alone + 0.6
    assert error([(f"x{number}", f"y{number}") for number in range(30_000)]) < alone + 0.5
    priors = read_priors(None, [tmp_path / "entries"], NORMALIZERS, bitext, whole=True)
    assert usual_settings(bitext, priors) == usual_settings(bitext)
