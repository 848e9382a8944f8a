"""Inline markup across links: each tag once, well-formed, the text as it was."""

import re
import xml.etree.ElementTree as ET
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marked_texts import CROSSING, HTML, LINKS, WORDS, XML, Parser
from readings import cases

from corpora.inline.carrying import Placed, Places, carry, write
from corpora.inline.examples import Examples, collect_examples
from corpora.inline.kinds import read_marked, read_plain, read_target

Links = dict[tuple[int, int], float]


def carried(
    kind: str,
    source: str,
    target: str,
    links: Links,
    corrected: Places | None = None,
    examples: Examples | None = None,
) -> tuple[str, list[Placed]]:
    ours = read_marked(source, kind)
    theirs = read_plain(target, kind, ours)
    inside = {(j, k): p for (j, k), p in links.items() if j < len(ours.tokens) and k < len(theirs.tokens)}
    placed = carry(ours, theirs, inside, corrected, examples)
    return write(theirs, placed), placed


@given(HTML, WORDS, LINKS)
def test_html_is_well_formed_and_has_each_tag_once(source: str, target: str, links: Links) -> None:
    output, _ = carried("html", source, target, links)
    before, after = Parser(source), Parser(output)
    assert after.found == before.found
    assert after.text.replace("{x}", "") == target, "placeholders that the target lacks are added"
    assert after.text.count("{x}") == before.text.count("{x}")


@pytest.mark.parametrize("kind", ["xliff", "tmx"])
@given(source=XML, target=WORDS, links=LINKS)
def test_xml_is_well_formed_and_has_each_code_once(kind: str, source: str, target: str, links: Links) -> None:
    output, _ = carried(kind, source, target, links)
    before, after = (ET.fromstring(f"<seg>{one}</seg>") for one in (source, output))
    assert Counter(one.tag for one in after.iter()) == Counter(one.tag for one in before.iter())
    for code in after.iter():
        if code.tag in ("ph", "bpt"):
            code.text, code[:] = "", []
    assert "".join(after.itertext()).replace("%s", "") == target.replace("%s", "")


@given(CROSSING, WORDS, LINKS)
def test_codes_that_cross_are_kept_and_the_first_of_two_comes_first(source: str, target: str, links: Links) -> None:
    output, placed = carried("tmx", source, target, links)
    before, after = (ET.fromstring(f"<seg>{one}</seg>") for one in (source, output))
    ours, theirs = ([(one.tag, one.get("i")) for one in root.iter()] for root in (before, after))
    assert Counter(ours) == Counter(theirs)
    assert "".join(after.itertext()) == target
    number = {id(one.tag): output.find(f'<bpt i="{one.tag.key[-1]}"/>') for one in placed}
    if all(ours.count((side, i)) < 2 for side in ("bpt", "ept") for i in "12"):
        for one in placed:
            if one.tag.first is not None:
                assert number[id(one.tag)] < output.find(one.tag.opening)


def links_of(text: str) -> Links:
    return {(int(j), int(k)): 1.0 for j, k in re.findall(r"(\d)-(\d)", text)}


@pytest.mark.parametrize(
    ("source", "target", "links", "output", "why"),
    cases(
        """
        Press <b>Save</b> now ¦ Jetzt sichern drücken ¦ 0-2 1-1 2-0 ¦ Jetzt <b>sichern</b> drücken ¦ plain
        a <b>b c</b> d ¦ D x C y B A ¦ 0-5 1-4 2-2 3-0 ¦ D x <b>C y B</b> A ¦ between linked words
        <b>a b</b> ¦ x A B y ¦ 0-1 1-2 ¦ <b>x A B y</b> ¦ all of it
        <b>a</b> b ¦ x A B y ¦ 0-1 1-2 ¦ <b>x A</b> B y ¦ up to the edge
        a <b>b</b> c ¦ A x B y C ¦ 0-0 1-2 2-4 ¦ A x <b>B</b> y C ¦ unlinked words outside
        <b>a</b> <i>b</i> ¦ A ¦ 0-0 1-0 ¦ <b>A</b><i></i> ¦ one word for two tags
        a <b>b</b> c d ¦ A B C D ¦ ¦ A <b>B</b> C D ¦ no links
        a<br> b ¦ A B ¦ 0-0 1-1 ¦ A<br> B ¦ a code after its word
        a <br>b ¦ A B ¦ 0-0 1-1 ¦ A <br>B ¦ a code before its word
        <b>a</b><u></u> ¦ ¦ ¦ <b></b><u></u> ¦ empty
        a &amp; <b>b</b> ¦ A & <B> ¦ 0-0 2-3 ¦ A &amp; &lt;<b>B&gt;</b> ¦ escapes
        a <b>{x}</b> c ¦ A C ¦ 0-0 2-1 ¦ A <b>{x}</b>C ¦ a placeholder that the target lacks
        <b>A</b><i>B</i> ¦ XyZw ¦ 0-0 1-1 ¦ <b>Xy</b><i>Zw</i> ¦ tags within a word
        <b>a <i>b</b> c</i> ¦ A B C ¦ 0-0 1-1 2-2 ¦ <b>A <i>B</b> C</i> ¦ tags that do not nest
        """
    ),
)
def test_rules(source: str, target: str, links: str, output: str, why: str) -> None:
    assert carried("html", source, target, links_of(links))[0] == output, why


def test_what_is_sure() -> None:
    links = {(0, 0): 0.9, (1, 1): 0.9, (2, 2): 0.5}
    _, placed = carried("html", "<b>a</b> <i>b</i> <u>c</u> <s>d</s><br>", "A B C D", links)
    assert [one.sure for one in placed] == [True, True, False, False, True]


@given(st.one_of(HTML, CROSSING), WORDS, LINKS, LINKS)
def test_tags_that_are_corrected_stand_there_whatever_the_links(
    source: str, target: str, links: Links, others: Links
) -> None:
    wanted, placed = carried("html", source, target, links)
    places = {number: (one.start, one.end) for number, one in enumerate(placed)}
    assert carried("html", source, target, others, places)[0] == wanted
    for number, place in places.items():
        try:
            output, found = carried("html", source, target, others, {number: place})
        except ValueError:
            assert place[0] == place[1], "codes alone may be where other words are"
            continue
        assert (found[number].start, found[number].end) == place or placed[number].tag.first is not None
        assert Parser(output).found == Parser(wanted).found
        assert found[number].sure


@pytest.mark.parametrize(
    ("corrected", "output"),
    [
        ({}, "<b>A <i>B</i></b> C <u>D</u>"),
        ({1: (4, 5)}, "<b>A B <i>C</i></b> <u>D</u>"),  # which the tag around it comes to have
        ({1: (4, 5), 0: (4, 5)}, "A B <b><i>C</i></b> <u>D</u>"),
        ({0: (4, 7)}, "A <u>B</u> <b>C <i>D</i></b>"),  # to which others give way
        ({2: (3, 3)}, "<b>A <i>B</i></b><u></u> C D"),
        ({1: (2, 7)}, "<b>A <i>B C D</i></b><u></u>"),
    ],
)
def test_corrections(corrected: Places, output: str) -> None:
    links = {(n, n): 1.0 for n in range(4)}
    assert carried("html", "<b>a <i>b</i></b> c <u>d</u>", "A B C D", links, corrected)[0] == output


@pytest.mark.parametrize(
    ("corrected", "message"),
    [
        ({0: (0, 1), 1: (2, 3)}, "<i> is in <b>, but not its words"),
        ({1: (0, 3), 2: (2, 3)}, "<b> has a word of another tag beside it"),
        ({3: (0, 1)}, "there is no tag 3"),
        ({0: (0, 9)}, "there is no tag 0 with a place from 0 to 9"),
        ({2: (1, 1), 0: (0, 3)}, "<u> cannot stand at 1, within another tag or outside its own"),
    ],
)
def test_corrections_that_cannot_be(corrected: Places, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        carried("html", "<b>a <i>b</i></b> c <u>d</u>", "A B C D", {}, corrected)


@pytest.mark.parametrize(
    ("source", "target", "links", "output", "why"),
    cases(
        """
        a <b>Big House</b> ¦ A grand maison ¦ 0-0 2-2 ¦ A <b>grand maison</b> ¦ beside what is linked
        a <b>big house</b> c ¦ A Grand maison C maison ¦ 0-0 2-3 ¦ A Grand maison <b>C</b> maison ¦ links differ
        a <b>big house</b> c ¦ A C grand maison ¦ 0-0 3-1 ¦ A C <b>grand maison</b> ¦ nothing is linked
        a <b>big</b> house ¦ A grand maison ¦ 0-0 1-2 ¦ A grand <b>maison</b> ¦ no example of these words
        """
    ),
)
def test_examples(source: str, target: str, links: str, output: str, why: str) -> None:
    pairs = (
        ("the <i>big house</i>", "la <i>grand maison</i>"),
        ("<u>big</u> <u>big</u>", "<u>maison</u> <u>maison</u>"),
        ("<u>big</u>", "maison"),
    )
    examples = collect_examples((read_marked(one, "html"), read_marked(other, "html")) for one, other in pairs)
    assert examples == {("big", "house"): {("grand", "maison"): 1}}
    assert carried("html", source, target, links_of(links), examples=examples)[0] == output, why


def test_codes_of_the_target_stay() -> None:
    source = read_marked('a <x id="1"/> <g id="2">b</g>', "xliff")
    target = read_target('<x id="1"/>B A', "xliff", source)
    assert write(target, carry(source, target, {(0, 1): 1.0, (1, 0): 1.0})) == '<g id="2"><x id="1"/>B</g> A'
    target = read_target('<g id="2">B</g> A', "xliff", source)
    assert carry(source, target, {(1, 0): 1.0}) == [], "of tags around words all or none"
    with pytest.raises(ValueError, match="no tags"):
        carry(source, target, {}, {0: (0, 1)})


def test_tags_within_a_message() -> None:
    source = read_marked('{n, plural, =0 {none} other {<x id="START_B"/>many<x id="CLOSE_B"/>}}', "xliff")
    assert source.placeholders == []
    target = read_target("{n, plural, =0 {keine} other {viele}}", "xliff", source)
    assert source.words[-3:] == ["many", "}", "}"]
    links = {(n, n): 1.0 for n in range(len(source.words))}
    output = '{n, plural, =0 {keine} other {<x id="START_B"/>viele<x id="CLOSE_B"/>}}'
    assert write(target, carry(source, target, links)) == output


def test_deep_nesting() -> None:
    depth = 20_000
    output, placed = carried("html", "<b>" * depth + "a" + "</b>" * depth + " b", "B A", {(0, 1): 1.0, (1, 0): 1.0})
    assert output == "B " + "<b>" * depth + "A" + "</b>" * depth
    assert len(placed) == depth
