"""Languages of TMX and XLIFF: which texts are in the two that are wanted, and what is left out and told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memories import Unit, left_out, pairs, tmx, unit, xliff

from corpora.errors import CorpusError
from corpora.formats.units import UnitFile
from corpora.readers import open_corpus

SPELLINGS: list[Unit] = [
    [("en-US", "a"), ("de-DE", "b")], [("EN-US", "c"), ("DE-DE", "d")], [("en_us", "e"), ("de", "f")],
    [("de_de", "h"), ("EN-us", "g")],
]  # fmt: skip


@pytest.mark.parametrize("columns", ["", "en,de", "en-US,de-DE", "EN_us,DE", "1,2", "eN,dE-dE"])
def test_a_language_is_one_in_all_its_spellings(tmp_path: Path, columns: str) -> None:
    assert pairs(tmx(tmp_path, *SPELLINGS), columns) == [("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")]


def test_variants_are_joined_or_chosen(tmp_path: Path) -> None:
    path = tmx(
        tmp_path,
        [("en-US", "a"), ("pt-BR", "b")],
        [("en-GB", "c"), ("pt-PT", "d")],
        [("en", "e"), ("zh-Hant-TW", "f")],
        [("zh-Hant-TW", "g"), ("zh-Hans", "h")],
    )
    with left_out() as told:
        assert pairs(path, "en,pt") == [("a", "b"), ("c", "d"), ("e", "")]
    assert told == {"units without text in en and pt": 1}
    with left_out() as told:
        assert pairs(path, "en-US,pt-br") == [("a", "b")], "en may be British, as en-GB is there"
    assert told == {"units without text in en-US and pt-BR": 3}
    with left_out():
        assert pairs(path, "zh-hant,zh-hans") == [("f", ""), ("g", "h")]
        assert pairs(path, "en,en-GB") == [("a", ""), ("", "c"), ("e", "")]
    for name in UnitFile(path, "TMX").names:
        for other in {*UnitFile(path, "TMX").names} - {name}:
            with left_out():
                assert pairs(path, f"{name},{other}")
    with pytest.raises(CorpusError, match=r"has 7 languages, en-US, pt-BR, en-GB, .*\(choose two .*, like en,pt\)"):
        pairs(path)
    for wrong in ("en-AU,pt", "en,zh-TW", "fr,en", "x,en"):
        with pytest.raises(CorpusError, match=r"has no '.*', but en-US, pt-BR, en-GB, pt-PT"):
            pairs(path, wrong)


def test_variants_of_one_language_are_two_languages_where_there_is_no_other(tmp_path: Path) -> None:
    assert pairs(tmx(tmp_path, [("zh-Hans", "a"), ("zh-Hant", "b")])) == [("a", "b")]
    assert pairs(tmx(tmp_path, [("en", "a"), ("en-US", "b")], [("EN-us", "d"), ("EN", "c")])) == [
        ("a", "b"),
        ("c", "d"),
    ]
    assert pairs(tmx(tmp_path, [("x-a", "a"), ("x-b", "b")])) == [("a", "b")]
    for wrong in ("en,EN", "en-US,EN_us"):
        with pytest.raises(CorpusError, match="source and target are both"):
            pairs(tmx(tmp_path, [("en-US", "a"), ("en-GB", "b")]), wrong)


@pytest.mark.parametrize("late", ["EN-us", "en-GB", "en"])
def test_a_language_may_come_late(tmp_path: Path, late: str) -> None:
    units = [[("en-US" if number < 1500 else late, f"a{number}"), ("fr", f"b{number}")] for number in range(1600)]
    expected = [(f"a{number}", f"b{number}") for number in range(1600)]
    path = tmx(tmp_path, *units)
    assert pairs(path) == pairs(path, "en,fr") == expected
    with pytest.raises(CorpusError, match="has 3 languages, en-US, fr, de"):
        pairs(tmx(tmp_path, *units[:1500], [("de", "a"), ("fr", "b")]))
    assert pairs(tmx(tmp_path, *[[("fr", "b")]] * 1500, *units[1500:]), "en,fr")[1499:1501] == [
        ("", "b"),
        expected[1500],
    ]


@pytest.mark.parametrize(("says", "first"), [("DE", "b"), ("de_AT", "b"), ("EN-gb", "a"), ("*all*", "b"), ("fr", "b")])
def test_the_header_of_tmx_says_which_side_is_the_source(tmp_path: Path, says: str, first: str) -> None:
    path = tmx(tmp_path, [("de", "b"), ("en-US", "a")], source=says)
    assert pairs(path)[0][0] == first
    assert pairs(path, "1,2")[0][0] == first
    assert pairs(path, "en,de") == [("a", "b")]


def test_messages_stay_short(tmp_path: Path) -> None:
    path = tmx(tmp_path, [(f"x-{number}", "a") for number in range(20_000)], [("y" * 9999, "b")])
    with pytest.raises(CorpusError, match=r"has 20,001 languages, x-0, x-1, .* and 19,993 more") as refused:
        open_corpus(path)
    assert len(str(refused.value)) < len(str(path)) + 200
    with pytest.raises(CorpusError, match=r"has no 'de', but x-0, .* and 19,993 more") as refused:
        pairs(path, "de,x-1")
    assert len(str(refused.value)) < len(str(path)) + 200


FAMILIES = {"en": ["en", "EN", "en-US", "en_us", "EN-gb"], "de": ["de", "de-AT", "DE"], "": ["fr", "enx", "x-en", "?"]}
NAMES = {name: family for family, names in FAMILIES.items() for name in names}
UNITS = st.lists(
    st.lists(st.tuples(st.sampled_from(sorted(NAMES)), st.sampled_from(["", "a", "b & c", "d"])), max_size=5),
    max_size=8,
)


@settings(deadline=None, max_examples=100)
@given(UNITS)
def test_units_of_tmx_are_pairs_or_told(tmp_path_factory: pytest.TempPathFactory, units: list[Unit]) -> None:
    whole = [[("en", "x"), ("de", "y")], *units]
    path = tmx(tmp_path_factory.mktemp("t"), *whole)
    with left_out() as told:
        found = pairs(path, "en,de")
    texts = [[[text for name, text in one if NAMES[name] == side] for side in ("en", "de")] for one in whole]
    kept = [sides for sides in texts if any(sides)]
    assert len(found) == len(kept) == len(whole) - told["units without text in en and de"]
    for pair, sides in zip(found, kept, strict=True):
        assert all(text in of or (not text and not any(of)) for text, of in zip(pair, sides, strict=True))
        assert all(bool(text) == any(of) for text, of in zip(pair, sides, strict=True))
    n_texts = sum(text != "" for sides in texts for side in sides for text in side)
    assert n_texts == sum(text != "" for pair in found for text in pair) + told["second texts of a language in a unit"]


def test_a_plain_language_goes_before_its_variants(tmp_path: Path) -> None:
    with left_out() as told:
        assert pairs(tmx(tmp_path, [("en-US", "a"), ("en", "b"), ("fr", "c"), ("fr", "d")]), "en,fr") == [("b", "c")]
    assert told == {"second texts of a language in a unit": 2}


def test_sources_of_xliff_are_sources_whatever_later_files_say(tmp_path: Path) -> None:
    first = 'source-language="en" target-language="de"', unit("a", "b")
    for values in ('source-language="en-US" target-language="DE_at"', 'source-language="und" target-language="de"'):
        assert pairs(xliff(tmp_path, first, (values, unit("c", "d")))) == [("a", "b"), ("c", "d")]
    turned = 'source-language="de" target-language="en"', unit("d", "c")
    assert pairs(xliff(tmp_path, first, turned)) == [("a", "b"), ("c", "d")]
    same = 'source-language="en" target-language="en"', unit("c", "d")
    assert pairs(xliff(tmp_path, same)) == [("c", "d")]
    empty = 'source-language="en"', unit("e", "")
    assert pairs(xliff(tmp_path, first, empty)) == [("a", "b"), ("e", "")]
    assert pairs(xliff(tmp_path, empty)) == [("e", "")]


def test_files_of_xliff_in_other_languages_are_left_out(tmp_path: Path) -> None:
    english = 'source-language="en"'
    path = xliff(
        tmp_path,
        (f'{english} target-language="de"', unit("a", "b")),
        (f'{english} target-language="fr"', unit("c", "d") + unit("e", "")),
        (english, unit("f", "g") + unit("h", "")),
    )
    with pytest.raises(CorpusError, match=r"has 4 languages, en, de, fr, target"):
        pairs(path)
    with left_out() as told:
        assert pairs(path, "de,en") == [("b", "a"), ("", "h")]
    assert told == {"units in other languages than de and en": 3}
    everything = [("a", "b"), ("c", "d"), ("e", ""), ("f", "g"), ("h", "")]
    assert pairs(path, "source,target") == everything
    assert pairs(path, "target,source") == [(target, source) for source, target in everything]
    own = english, "<trans-unit><source>i</source><target xml:lang='de'>j</target></trans-unit>"
    assert pairs(xliff(tmp_path, own), "en,de") == [("i", "j")]


def test_shards_pass_over_pairs_and_not_units(tmp_path: Path) -> None:
    units: list[Unit] = [
        [("fr" if number % 3 else "en", "a"), ("de" if number % 2 else "fr", f"{number}")] for number in range(30)
    ]
    path = tmx(tmp_path, *units)
    with left_out():
        corpus = open_corpus(path, columns=("en", "de"))
        texts = list(corpus.texts())
        assert 0 < len(texts) < 30
        assert [int(text[2] or text[0] - 1) + 1 for text in texts] == [text[0] for text in texts]
        assert [text for shard in (1, 2, 3) for text in corpus.shard(shard, 3).texts()] == texts
