"""Forms: the words of a text for a word of a dictionary, with a lemmatiser and without."""

import sys
from importlib.metadata import EntryPoint
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.lemmas import find_lemmatizer
from features.forms import LEAST, MOST, SHARE, SHARE_OF_FORM, Forms, spellings

needs_simplemma = pytest.mark.skipif(find_spec("simplemma") is None, reason="needs simplemma (the extra lemmas)")


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("house", ["house"]), ("ещё", ["еще"]), ("вода́", ["вода"]), ("йод", ["йод"]), ("été", ["été"]),
        ("شَمْس", ["شمس"]), ("الشمس", ["الشمس", "شمس"]), ("مدرسة", ["مدرسه"]), ("شָלוֹם"[1:], ["לום"]),
        ("إلى", ["الي"]),
    ],
)  # fmt: skip
def test_marks_that_text_leaves_out_do_not_matter(word: str, expected: list[str]) -> None:
    assert [*spellings(word)] == expected


@given(st.lists(st.text("abcd", min_size=1, max_size=9), unique=True), st.text("abcd", min_size=1, max_size=9))
def test_without_a_lemmatiser_forms_begin_alike(words: list[str], word: str) -> None:
    def alike(form: str) -> bool:
        shared = next(
            (k for k, (a, b) in enumerate(zip(form, word, strict=False)) if a != b), min(len(form), len(word))
        )
        enough = shared >= max(LEAST, SHARE * len(word)) and shared >= SHARE_OF_FORM * len(form)
        return form != word and enough

    assert {*Forms(words).of(word)} == {*filter(alike, words)}


def test_of_very_many_words_that_begin_alike_none_is_a_form() -> None:
    words = [f"inter{number}" for number in range(MOST + 1)]
    assert (Forms(words).of("inter"), len(Forms(words[:-1]).of("inter"))) == ((), MOST)


@needs_simplemma
@pytest.mark.parametrize(
    ("language", "listed", "form"),
    [("en", "mouse", "mice"), ("tr", "gitmek", "gidiyorum")],
)
def test_forms_are_found_by_lemma(language: str, listed: str, form: str) -> None:
    forms = Forms([form, "xyz"], language)
    assert forms.of(listed) == [form]
    assert forms.lemmatizer is not None
    assert forms.lemmatizer.name == "simplemma"
    assert Forms([form, "xyz"], "qaa").lemmatizer is None


def test_without_the_package_beginnings_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "simplemma", None)
    monkeypatch.setattr("corpora.lemmas.find_spec", lambda name: None)
    assert find_lemmatizer("en") is None
    assert Forms(["went", "houses"], "en").of("house") == ["houses"]


def half(word: str) -> list[str]:
    return [word[: len(word) // 2]]


def test_a_package_brings_a_lemmatiser(monkeypatch: pytest.MonkeyPatch) -> None:
    def points(group: str, name: str) -> list[EntryPoint]:
        assert group == "aligner.lemmas"
        return [EntryPoint(name, f"{__name__}:half", group)] if name == "qaa" else []

    monkeypatch.setattr("corpora.lemmas.entry_points", points)
    forms = Forms(["abab", "xyxy"], "qaa")
    assert forms.of("ab") == ["abab"]
    assert forms.lemmatizer is not None
    assert forms.lemmatizer.name == __name__
