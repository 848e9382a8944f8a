"""Text and markup apart: nothing is lost, and the text is what other parsers say it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marked_texts import CROSSING, HTML, XML, Parser
from readings import cases, refuses

from corpora import SettingError
from corpora.inline.carrying import Placed, write
from corpora.inline.kinds import KINDS, Tag, check_kind, read_marked, read_plain
from corpora.inline.tokens import identifier, spans_of_tokens


def written(content: str, kind: str) -> str:
    """The text with its tags put where they were."""
    found = read_marked(content, kind)
    placed = dict[Tag | None, Placed]()
    for tag in found.tags:
        placed[tag] = Placed(tag, tag.start, tag.end, placed.get(tag.parent))
    return write(found, [*placed.values()])


@given(st.one_of(HTML, XML, CROSSING, st.text('<>/b&;{}%s"= amp-![')), st.sampled_from([*KINDS]))
def test_what_stood_there_comes_back(content: str, kind: str) -> None:
    assert written(content, kind) == content


@given(HTML)
def test_text_is_that_of_another_parser(content: str) -> None:
    assert read_marked(content, "html").text == Parser(content).text


@given(st.text("a b.日カひ-'1_"))
def test_tokens_are_all_letters_in_order(text: str) -> None:
    assert "".join(text[a:b] for a, b in spans_of_tokens(text)) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Press Ctrl+S.", "Press Ctrl + S ."), ("well-known (x)", "well - known ( x )"),
        ("at mozilla.org 1,5 times", "at mozilla.org 1,5 times"), ("l’eau", "l ’ eau"), ("п'ять", "п'ять"),
        ("ファイルを保存します。OK", "ファイル を 保存 します 。 OK"), ("हिन्दी", "हिन्दी"),
    ],
)  # fmt: skip
def test_tokens(text: str, tokens: str) -> None:
    assert " ".join(text[a:b] for a, b in spans_of_tokens(text)) == tokens


def test_tags_end_words_but_wbr_does_not() -> None:
    assert read_marked("a<b>b</b>c<wbr>d<br>e", "html").words == ["a", "b", "cd", "e"]
    source = read_marked("<b>Ctrl</b><b>Alt</b>", "html")
    assert read_plain("StrgAlt GNU", "html", source).words == ["Strg", "Alt", "GNU"]


@pytest.mark.parametrize(
    ("placeholder", "name"),
    cases(
        """
        { -brand } ¦ {-brand}
        { -brand(case: "genitive") } ¦ {-brand}
        { $n } ¦ {$n}
        { NUMBER($n, style: 1) } ¦ {$n}
        {{ x }} ¦ {x}
        ${x} ¦ {x}
        %{x} ¦ {x}
        {n, plural, one {{k} day} other {days}} ¦ {n}
        %1$s ¦ %1$s
        %(name)s ¦ %(name)s
        %d ¦ %d
        {} ¦ {}
        %1 ¦ %1
        """
    ),
)
def test_placeholders(placeholder: str, name: str) -> None:
    found = read_marked(f"a {placeholder}b 100% sure", "placeholders")
    assert [found.text[a:b] for a, b in found.placeholders] == [placeholder]
    assert identifier(placeholder) == name
    assert found.words == ["a", name, "b", "100", "%", "sure"]


@pytest.mark.parametrize(
    ("kind", "content", "around", "codes"),
    [
        ("html", "<B>a</b> <p>b <link x>c</link> <link y> </i>", ["<B>", "<link x>"], ["<p>", "<link y>", "</i>"]),
        ("xliff", '<bx id="1"/>a<ex id="1"/> <g id="2">b</g> <x id="3"/>', ['<bx id="1"/>', '<g id="2">'],
         ['<x id="3"/>']),
        ("xliff", '<bpt id="1" rid="7">{<sub>x</sub></bpt>a<ept id="2" rid="7">}</ept>',
         ['<bpt id="1" rid="7">{<sub>x</sub></bpt>'], []),
        ("xliff", '<x id="START_LINK_1"/>a<x id="CLOSE_LINK"/> <x id="INTERPOLATION"/>', ['<x id="START_LINK_1"/>'],
         ['<x id="INTERPOLATION"/>']),
        ("xliff2", '<sc id="1"/>a<ec startRef="1"/> <pc id="2">b</pc> <ph id="3"/>', ['<sc id="1"/>', '<pc id="2">'],
         ['<ph id="3"/>']),
        ("tmx", '<hi>a</hi> <it pos="begin">x</it> <ut>y</ut>', ["<hi>"], ['<it pos="begin">x</it>', "<ut>y</ut>"]),
        ("placeholders", "<b>a</b>", [], []),
    ],
)  # fmt: skip
def test_kinds(kind: str, content: str, around: list[str], codes: list[str]) -> None:
    found = read_marked(content, kind).tags
    assert [tag.opening for tag in found if tag.is_pair] == around
    assert [tag.opening for tag in found if not tag.is_pair] == codes


def test_an_unknown_kind_is_refused() -> None:
    with refuses("choose from html", SettingError):
        check_kind("rtf")


@given(st.text("abÉжЖ'’._,:01 \u3000\u00a0-—«»()%אبα\u0301\uff21\u00ad\u200d😀"))
def test_text_of_spaced_scripts_has_the_same_tokens_by_the_quick_way(text: str) -> None:
    ends = [len(text), len(text) + 2]
    assert spans_of_tokens(text) == spans_of_tokens(f"{text} ア", ends)[: len(spans_of_tokens(text))]
