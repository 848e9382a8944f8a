"""Words counted by lemmas or stems."""

from collections.abc import Callable
from pathlib import Path

import pytest
from readings import refuses

from corpora.corpus import Corpus
from corpora.errors import AlignerError
from corpora.normalize import LEMMAS, PLAIN, Normalizer
from corpora.readers import open_text
from corpora.reading import Reading
from corpora.stemming import describe_stems, stemming


@pytest.fixture
def text_in(tmp_path: Path) -> Callable[[str | None, str | None], Corpus]:
    (tmp_path / "one").write_text("houses\n")
    (tmp_path / "other").write_text("evler\n")
    return lambda *languages: open_text(tmp_path / "one", tmp_path / "other", Reading(*languages))


def test_words_are_counted_by_lemmas_else_by_stems_else_whole(
    text_in: Callable[[str | None, str | None], Corpus],
) -> None:
    pytest.importorskip("simplemma")
    sides = stemming(PLAIN, text_in("en", "tr"))
    assert [side.stem for side in sides] == [f"{LEMMAS}en", f"{LEMMAS}tr"]
    assert (sides[0].word("Houses"), sides[1].word("kitaplar")) == ("house", "kitap")
    sides = stemming(PLAIN, text_in("eng", "ara"))  # whose words carry what only stemmers take off
    assert describe_stems(sides) == "words are counted by lemmas of en and stems of ar"
    assert stemming(PLAIN, text_in("grn", "en"))[0] == Normalizer()


def test_without_lemmatiser_words_are_counted_by_stems(
    text_in: Callable[[str | None, str | None], Corpus], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("corpora.lemmas.find_spec", lambda name: None)
    sides = stemming(PLAIN, text_in("en", "tr"))
    assert [side.stem for side in sides] == ["en", None]
    with refuses(r"no lemmas and no stems of tr and grn .*install aligner\[lemmas\]", AlignerError):
        stemming(PLAIN, text_in("tr", "grn"))
    with refuses(r"no lemmatiser for the language 'tr' \(install aligner\[lemmas\]", AlignerError):
        Normalizer(stem=f"{LEMMAS}tr")  # of a model made where there was one


def test_languages_must_be_known(text_in: Callable[[str | None, str | None], Corpus]) -> None:
    with refuses(r"languages are not known \(give `source` and `target`", AlignerError):
        stemming(PLAIN, text_in("en", None))
