"""Apostrophes are letters where the text uses them so, whatever the language is called."""

import itertools
import random
from pathlib import Path

import pytest
from commands import write
from readings import refuses

from corpora import SettingError
from corpora.apostrophes import FEWEST_FORMS, are_letters, as_option, tokenizing
from corpora.normalize import APOSTROPHES, Normalizer
from corpora.readers import open_texts

SYLLABLES = ["".join(each) for each in itertools.product("bdfgklmnprst", "aeiou")]


def word(rng: random.Random, length: int = 2) -> str:
    return "".join(rng.choices(SYLLABLES, k=length))


def with_glottal_stops(lines: int, mark: str = "'") -> list[str]:
    """Words of a language in which the mark is one of the consonants."""
    rng = random.Random(0)
    words = [word(rng, rng.randint(2, 3)) for _ in range(300)]
    words = [w[:2] + mark + w[3:] if i % 3 == 0 else w for i, w in enumerate(words)]
    return [" ".join(rng.choices(words, k=10)) for _ in range(lines)]


def elided(lines: int, parts: list[str], *, before: bool) -> list[str]:
    """Words to which short words, or endings, are joined by an apostrophe."""
    rng = random.Random(0)
    words = [word(rng, rng.randint(2, 3)) for _ in range(300)]
    found = []
    for _ in range(lines):
        line = rng.choices(words, k=10)
        part, place = rng.choice(parts), rng.randrange(10)
        line[place] = f"{part}'{line[place]}" if before else f"{line[place]}'{part}"
        found.append(" ".join(line))
    return found


@pytest.mark.parametrize("mark", APOSTROPHES)
def test_letters_of_a_language(mark: str) -> None:
    assert are_letters(with_glottal_stops(200, mark))
    assert not are_letters(with_glottal_stops(1, mark)), "too little to tell"


@pytest.mark.parametrize("parts", [["l", "d", "n", "qu", "s", "j"], SYLLABLES])
@pytest.mark.parametrize("before", [True, False])
def test_what_stands_between_words(parts: list[str], before: bool) -> None:
    lines = elided(400, parts, before=before)
    assert sum("'" in line for line in lines) > FEWEST_FORMS
    assert not are_letters(lines)


def test_each_side_is_decided_by_itself(tmp_path: Path) -> None:
    one, two = (
        write(tmp_path / "a.tet", *with_glottal_stops(200)),
        write(tmp_path / "a.it", *elided(200, ["l"], before=True)),
    )
    corpus = open_texts(one, two)
    found = tokenizing(True, None, [corpus])
    assert found == (Normalizer(tokenize=True, keep=APOSTROPHES), Normalizer(tokenize=True))
    assert tokenizing(True, as_option(found), []) == found
    assert tokenizing(False, None, [corpus]) == (Normalizer(), Normalizer())
    assert tokenizing(True, None, []) == (Normalizer(tokenize=True),) * 2


@pytest.mark.parametrize(("keep", "sides"), [("'", "''"), ("',", ["'", ""]), (",’", ["", "’"]), ("", ["", ""])])
def test_what_a_user_gives(keep: str, sides: list[str]) -> None:
    assert [side.keep for side in tokenizing(True, keep, [])] == [*sides]


@pytest.mark.parametrize(("tokenize", "keep"), [(False, "'"), (True, "a"), (True, "' "), (True, "1")])
def test_what_has_no_meaning(tokenize: bool, keep: str) -> None:
    with refuses("`keep`", SettingError):
        tokenizing(tokenize, keep, [])
