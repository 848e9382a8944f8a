"""XLIFF: which text of a unit is its translation, and which is deleted, not translated yet, or of another unit."""

import time
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from readings import left_out, pairs, unit, xliff

from corpora.readers import open_corpus

LANGUAGES = 'source-language="en" target-language="de"'
OPEN = "targets that are not translated, which `untranslated` takes"


def one(folder: Path, *units: str) -> Path:
    return xliff(folder, (LANGUAGES, "".join(units)))


def two(folder: Path, content: str) -> Path:
    text = (
        f'<x:xliff version="2.0" srcLang="en" trgLang="de" xmlns:x="urn:x"><x:file id="f">{content}</x:file></x:xliff>'
    )
    (folder / "m.xlf").write_text(text)
    return folder / "m.xlf"


@pytest.mark.parametrize(
    "deleted",
    [
        '<mrk mtype="x-sdl-deleted" sdl:revid="1">{}</mrk>', '<mrk mtype="x-sdl-feedback-deleted">{}</mrk>',
        '<mrk mtype="x-mq-tc" mq:tctype="del">{}</mrk>', '<x:mrk mtype="x-mq-tc" y:tctype="Del">{}</x:mrk>',
        '<mrk type="my:deletion">{}</mrk>', "<w:del>{}</w:del>", "<del>{}</del>",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "text", ["Boot", 'Boot<g id="1">e<x id="2"/> <ph id="3">y</ph></g>', '<mrk mtype="x-model">B</mrk>']
)
def test_deleted_text_is_left_out_and_added_text_stays(tmp_path: Path, deleted: str, text: str) -> None:
    added = '<mrk mtype="x-sdl-added">Ha</mrk><mrk mtype="x-mq-tc" mq:tctype="ins">us</mrk>'
    target = f"Das {deleted.format(text)}{added} ist<mrk mtype='x-delta'> grün</mrk>.{deleted.format('!')}"
    assert pairs(one(tmp_path, unit("The house.", target))) == ["The house.|Das Haus ist grün."]
    segments = [
        f'<{name}><mrk mtype="seg" mid="1">{text}</mrk></{name}>'
        for name, text in (("seg-source", "A."), ("target", target))
    ]
    path = one(tmp_path, f"<trans-unit><source>A.</source>{''.join(segments)}</trans-unit>")
    assert pairs(path) == ["A.|Das Haus ist grün."]
    assert pairs(two(tmp_path, f"<unit><segment><source>A.</source><target>{target}</target></segment></unit>")) == [
        "A.|Das Haus ist grün."
    ]


STATES = """
<trans-unit><source>a</source><target state="final">b</target></trans-unit>
<trans-unit approved="no"><source>c</source><target state="needs-review-translation">c</target></trans-unit>
<trans-unit><source>d</source><target state="new">D</target></trans-unit>
<trans-unit><source>e</source><target state="needs-translation">e</target></trans-unit>
<trans-unit><source>f</source><target state="new"/></trans-unit>
<trans-unit translate="no"><source>g <g id="1">h</g></source><target>g h</target></trans-unit>
<group translate="no"><group>
  <trans-unit><source>i</source><target>i</target></trans-unit>
  <trans-unit><source>j</source><target>J</target></trans-unit>
  <trans-unit translate="yes"><source>k</source><target>k</target></trans-unit></group></group>
<trans-unit restype="x-gettext-domain-header"><source>MIME</source><target>MIME</target></trans-unit>
<trans-unit q:status="NotStarted"><source>l</source><target>l</target></trans-unit>
<trans-unit><source>m</source><target>m</target></trans-unit>
"""
TAKEN = ["ab", "cc", "dD", "ee", "f", "g hg h", "ii", "jJ", "kk", "MIMEMIME", "ll", "mm"]
LEFT = ["ab", "cc", "d", "e", "f", "g h", "i", "jJ", "kk", "MIME", "l", "mm"]


def test_targets_that_are_not_translated_are_empty_unless_asked_for(tmp_path: Path) -> None:
    path = one(tmp_path, STATES)
    with left_out() as told:
        assert [pair.replace("|", "") for pair in pairs(path, untranslated=True)] == TAKEN
    assert not told
    with left_out() as told:
        assert [pair.replace("|", "") for pair in pairs(path)] == LEFT
    assert told == {OPEN: 6}
    with left_out() as told:
        assert pairs(
            xliff(tmp_path, (LANGUAGES, STATES), ('source-language="de" target-language="fr"', STATES)), "en,de"
        )
    assert told == {OPEN: 6, "units in other languages than en and de": 12}, "of units that are pairs"


def test_states_of_xliff_2(tmp_path: Path) -> None:
    segment = "<segment {0}><source>{1}</source><target>{2}</target></segment>"
    content = f"""<unit>{segment.format("", "a", "a")}{segment.format('state="initial"', "b", "b")}</unit>
      <group translate="no"><unit>{segment.format("", "c", "c")}{segment.format('state="final"', "d", "D")}</unit>
      <unit translate="yes">{segment.format("", "e", "e")}<ignorable><source> </source></ignorable>
      <ignorable><source>1)</source><target>1.</target></ignorable></unit></group>"""
    with left_out() as told:
        assert pairs(two(tmp_path, content)) == ["a|a", "b|", "c|", "d|D", "e|e", "1)|1."]
    assert told == {OPEN: 2}


def test_translations_of_others_are_not_those_of_the_unit(tmp_path: Path) -> None:
    other = "<source>a blue boat</source><target>ein blaues Boot</target>"
    others = "".join(
        f"<{name}>{other}</{name}>" for name in ("alt-trans", "mq:insertedmatch", "mq:historical-unit", "x")
    )
    for unit_ in (f"{others}<source>a boat</source>", f"<source>a boat</source>{others}"):
        assert pairs(one(tmp_path, f"<trans-unit>{unit_}</trans-unit>")) == ["a boat|"]
        assert pairs(one(tmp_path, f"<trans-unit>{unit_}<target>b</target></trans-unit>")) == ["a boat|b"]


def test_what_is_not_in_a_segment_is_told(tmp_path: Path) -> None:
    def segments(*texts: str) -> str:
        return "".join(
            f'<mrk mtype="seg" mid="{text[0]}">{text[1:]}</mrk>' if text[0].isdigit() else text for text in texts
        )

    def both(source: str, target: str) -> str:
        return f"<trans-unit><seg-source>{source}</seg-source><target>{target}</target></trans-unit>"

    with left_out() as told:
        assert pairs(one(tmp_path, both(segments("1a", " ", "2b"), segments("2B", "\n", "1A", " ")))) == [
            "a|A",
            "b|B",
        ]
        split = both(segments("1tea", " ", "2b"), segments("1Tee", "1kanne", "-", "1x", "3c"))
        assert pairs(one(tmp_path, split)) == ["tea|Teekanne-x", "b|", "|c"]
    assert not told
    with left_out() as told:
        assert pairs(one(tmp_path, both(segments("(", "1a", ") "), segments("[", "1b", "/", "2c", "]")))) == [
            "a|b",
            "|c",
        ]
        twice = "<trans-unit><source>a</source><target>b</target><target>c</target></trans-unit>"
        assert pairs(one(tmp_path, twice, unit("d", "e<ph>x<sub>f</sub></ph>"))) == ["a|b", "d|e"]
    assert told == {
        "texts between segments": 5,
        "second target elements of a unit": 1,
        "texts within codes of the document": 1,
    }


@pytest.mark.parametrize("mark", ['<mrk mtype="seg" mid="1">', "<g>"])
def test_nested_marks_take_linear_time(tmp_path: Path, mark: str) -> None:
    def seconds(depth: int) -> float:
        name = mark[1:].partition(" ")[0].rstrip(">")
        nested = f"{mark}x" * depth + f"</{name}>" * depth
        path = one(tmp_path, f"<trans-unit><seg-source>{nested}</seg-source><target>{nested}</target></trans-unit>")
        began = time.process_time()
        found = pairs(path)
        assert "|".join(["x" * depth] * 2) in found or found == ["|" + "x" * depth]
        return time.process_time() - began

    assert seconds(20_000) < 25 * max(seconds(2_500), 0.02)


class Piece(NamedTuple):
    """How a text is written in a segment, and what is read of it."""

    written: str
    read: str


PIECES = st.sampled_from(
    [
        Piece("a", "a"),
        Piece("&lt;b&gt; ", "<b> "),
        Piece("<g id='1'>c</g>", "c"),
        Piece("<x id='1'/>", " "),
        Piece("<bpt>{\\b</bpt>d<ept>}</ept>", "d"),
        Piece("<mrk mtype='x-sdl-deleted'>e<x id='2'/></mrk>", ""),
        Piece("<mrk mtype='x-sdl-added'>f</mrk>", "f"),
        Piece(" ", " "),
    ]
)
TEXTS = st.lists(PIECES, max_size=4)
ATTRIBUTES = st.sampled_from([("", True), (' state="new"', False), (' state="translated"', True)])


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=3), ATTRIBUTES), min_size=1, max_size=5)
)
def test_units_in_are_pairs_out(
    tmp_path_factory: pytest.TempPathFactory,
    units: list[tuple[list[tuple[list[Piece], list[Piece]]], tuple[str, bool]]],
) -> None:
    def read(pieces: list[Piece]) -> str:
        return " ".join("".join(piece.read for piece in pieces).split())

    content, expected = "", list[tuple[str, str, bool]]()
    for segments, (state, is_translated) in units:
        sides = [
            "\n".join(
                f'<mrk mtype="seg" mid="{number}">{"".join(piece.written for piece in pair[side])}</mrk>'
                for number, pair in enumerate(segments)
            )
            for side in (0, 1)
        ]
        texts = f"<seg-source>{sides[0]}</seg-source><target{state}>{sides[1]}</target>"
        content += f"<trans-unit><source>z</source>{texts}</trans-unit>"
        expected += [(read(source), read(target), is_translated) for source, target in segments]
    path = one(tmp_path_factory.mktemp("t"), content)
    assert pairs(path, untranslated=True) == [f"{source}|{target}" for source, target, _ in expected]
    with left_out() as told:
        assert pairs(path) == [f"{source}|{target if kept else ''}" for source, target, kept in expected]
    assert told[OPEN] == sum(target != "" and not kept for _, target, kept in expected)
    assert not told.keys() - {OPEN}
    assert open_corpus(path).source_language == "en"
