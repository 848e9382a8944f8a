"""Words are equal when they look equal, and tokens are only ever split at ASCII whitespace."""

import copy
import json
import pickle
import subprocess
import sys
import unicodedata
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from readings import cases, refuses

from corpora import AlignerError
from corpora.normalize import SNOWBALL_CODES, Normalizer, unaccented

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
TOKEN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\r\x0b\x0c"), min_size=1)


@given(TEXT)
def test_canonically_equal_tokens_are_one_word(token: str) -> None:
    for normalizer in (Normalizer(), Normalizer(casefold=False)):
        word = normalizer.word(token)
        assert word == normalizer.word(unicodedata.normalize("NFD", token))
        assert word == unicodedata.normalize("NFC", word)
        assert word == normalizer.word(word)


def test_case_is_folded_unless_asked_not_to() -> None:
    assert Normalizer().word("STRASSE") == Normalizer().word("Straße") == "strasse"
    assert Normalizer(casefold=False).word("Straße") == "Straße"
    assert Normalizer(casefold=False).word("e\u0301") == "\u00e9"


@given(st.lists(TOKEN), st.sampled_from([" ", "\t", "  ", " \x0c"]))
def test_tokens_are_split_at_ascii_whitespace(tokens: list[str], space: str) -> None:
    line = space.join(tokens)
    assert Normalizer().tokens(line) == Normalizer().tokens(line.encode()) == tokens


def test_bytes_that_are_not_utf8() -> None:
    for tokenize in (False, True):
        with pytest.raises(UnicodeDecodeError):
            Normalizer(tokenize=tokenize).tokens(b"a \xff")


@given(st.lists(st.text("abcABC019", min_size=1)))
def test_tokenising_leaves_plain_words_alone(words: list[str]) -> None:
    assert Normalizer(tokenize=True).tokens(" ".join(words)) == words


@given(
    st.one_of(TEXT, st.text("abAB.,;()!\"'’`|&<>é œ\t:/?$[{“我カ\u3099ดิខ្жЖ\u0301", max_size=40)),
    st.sampled_from(["", "'", "’'", ":-^]\\"]),
)
def test_tokenising_loses_no_character(line: str, keep: str) -> None:
    assert "".join(Normalizer(tokenize=True, keep=keep).tokens(line)) == "".join(line.split())


@pytest.mark.parametrize(
    ("line", "expected"),
    cases(
        """
        L'ami dit: "R&D, 3.5 | 4 & (5)..." ¦ L ' ami dit : " R&D , 3.5 | 4 & ( 5 ) ... "
        我在 Google工作。 ¦ 我 在 Google 工 作 。
        カタカナーと か\u3099 ¦ カ タ カ ナ ー と か\u3099
        ดิน 12 ¦ ดิ น 12
        ດື່ມ ¦ ດື່ ມ
        ខ្មែរ ¦ ខ្មែ រ
        прив'язана пам’ять l'eau ¦ прив'язана пам’ять l ' eau
        I saw him. He left. ¦ I saw him . He left .
        Don't. «Va.» Él vive en Roma. ¿Sí? ¦ Don ' t . « Va . » Él vive en Roma . ¿ Sí ?
        he left. it is mr. x, e.g. at 3. may ¦ he left . it is mr. x , e.g. at 3. may
        في البيت. ذهب ¦ في البيت . ذهب
        In 1984. Cafe\u0301. Ok. ¦ In 1984 . Cafe\u0301 . Ok .
        Mr. Smith and J. Smith of the U.S. Army ¦
        am 3. Oktober ¦
        Karel IV. Lucemburský ¦
        e.g. Rome and 3.14 ¦
        Prof. Novák at www.x.org. Or ¦
        أ. أحمد ¦
        A no. one ¦
        """
    ),
)
def test_tokenising(line: str, expected: str) -> None:
    """Where there are no spaces a character is a word, its marks and what is written below it with it."""
    assert Normalizer(tokenize=True).tokens(line) == (expected or line).split()
    assert Normalizer().tokens(line) == line.split()


def test_characters_that_are_kept_are_those_between_letters() -> None:
    tokens = Normalizer(tokenize=True, keep="'’:").tokens("'ha'u' k’a\u0301’na EU:n: 3:4 a' b. C")
    assert tokens == "' ha'u ' k’a\u0301’na EU:n : 3 : 4 a ' b. C".split()


def test_stems() -> None:
    english = Normalizer(stem="en")
    assert english.word("Running") == english.word("runs") == english.word("RUN") == "run"
    assert Normalizer(stem="english").word("Running") == "run"
    french = Normalizer(stem="fr")
    assert french.word("continuellement") == french.word("continuelles")
    assert french.word("continuellement") != "continuellement"


@given(TOKEN, st.sampled_from(sorted(SNOWBALL_CODES)))
def test_a_stem_is_never_empty(token: str, language: str) -> None:
    assert Normalizer(stem=language).word(token)


def test_a_stem_does_not_depend_on_the_words_before() -> None:
    arabic = Normalizer(stem="ar")
    alone = arabic.word("كتبوا")
    arabic.word("أثينا")
    assert arabic.word("كتبوا") == alone == "كتب"


def test_unknown_stemmer() -> None:
    with refuses(r"no stemmer for the language 'xx' \(known are ar \(arabic\)", AlignerError):
        Normalizer(stem="xx")


@given(st.builds(Normalizer, st.booleans(), st.just(True), st.sampled_from([None, "en"]), st.sampled_from(["", "'"])))
def test_settings_survive_json(normalizer: Normalizer) -> None:
    assert Normalizer(**json.loads(json.dumps(asdict(normalizer)))) == normalizer


def test_unaccented() -> None:
    words = "Œuvre æon Straße smørbrød Łódź naïve e\u0301te\u0301 ǿ plain"
    assert unaccented(words) == "OEuvre aeon Strasse smorbrod Lodz naive ete o plain"


@given(TEXT)
def test_unaccented_is_final(word: str) -> None:
    plain = unaccented(word)
    assert unaccented(plain) == plain
    assert not any(unicodedata.combining(character) for character in plain)


def test_nltk_is_imported_only_when_used() -> None:
    code = (
        "import sys; from corpora import bitext, normalize; "
        "normalize.Normalizer(tokenize=True, stem='en'); sys.exit('nltk' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("normalizer", [Normalizer(), Normalizer(stem="en"), Normalizer(False, True, "french", "'")])
def test_pickles_and_copies_before_and_after_use(normalizer: Normalizer) -> None:
    for _ in range(2):
        for other in (pickle.loads(pickle.dumps(normalizer)), copy.copy(normalizer), copy.deepcopy(normalizer)):
            assert other == normalizer
            assert other.word("Houses") == normalizer.word("Houses")
            assert other.tokens("the houses.") == normalizer.tokens("the houses.")
