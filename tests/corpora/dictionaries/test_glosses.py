"""Glosses, taken apart into translations."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from readings import cases

from corpora.dictionaries.glosses import DEFINITIONS, MOST_LETTERS, MOST_WORDS, NOTES, translations


@pytest.mark.parametrize(
    ("gloss", "expected"),
    cases(
        """
        house ¦ house
        to run; (of a machine) operate ¦ run|operate
        [comp.] command line <n>, line of code <n>LOC,  /lˈoːk/ ¦ command line|line of code|LOC
        1. (2) foo <n, f, sg> {noun} ¦ foo
        (noun (common) (x)) bar ¦ bar
        look at sb./sth. ¦ look at
        sb~ ¦ sb
        to cut sg in half ¦ cut in half
        sb.'s house ¦ house
        something ¦ something
        хубостни́ца, ѓавол, й́од ¦ хубостница|ѓавол|йод
        café ¦ café
        colo(u)r ¦ color|colour
        gentlefolk(s), lords ¦ gentlefolk|lords|gentlefolks
        ~的, wait...! ¦ 的|wait
        computers, communications, and consumer electronics ¦ computers, communications, and consumer electronics
        to admit, or to confess ¦ admit|confess
        more or less ¦ more or less
        nakarat.  burden of a song bir şarkı ¦ nakarat
        обикновен 2. ¦ обикновен
        Lu Xun 魯迅|鲁迅[Lu3 Xun4] (1881-1936) ¦ Lu Xun
        U.S., 1,000 km/h, color/colour ¦ U.S.|1,000 km/h|color/colour
        color/colour ¦ color|colour
        see off ¦ see off
        surname Wang ¦ Wang
        {f} [comp.] (P) ¦
        ¦
        """
    ),
)
def test_translations(gloss: str, expected: str) -> None:
    left_out = Counter[str]()
    assert [*translations(gloss, left_out)] == [*filter(None, expected.split("|"))]
    assert not left_out


@pytest.mark.parametrize(
    "note",
    ["CL:個|个[ge4]", "old variant of 獾[huan1]", "see also 北京[Bei3 jing1]", "Synonym: {x}",
     "Note: optics", "abbr. for 北京[Bei3 jing1]"],
)  # fmt: skip
def test_what_translates_nothing_is_counted(note: str) -> None:
    left_out = Counter[str]()
    assert not translations(note, left_out)
    assert not translations("the quality of being too long a gloss", left_out)
    assert left_out == {NOTES: 1, DEFINITIONS: 1}


@given(st.text("ab ()[]{}<>（）/;,.~1sthé\u0301и|…", max_size=30))
def test_translations_are_words(gloss: str) -> None:
    """Whatever the gloss: no brackets, no blanks to spare, and what is taken apart is not taken apart again."""
    for words in translations(gloss):
        assert not {*words} & {*"()[]{}<>（）~;"}
        assert words == " ".join(words.split())
        assert 0 < len(words) <= MOST_LETTERS
        assert words.count(" ") < MOST_WORDS
