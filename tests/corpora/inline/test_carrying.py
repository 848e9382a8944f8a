"""Inline markup across links: each tag once, well-formed, the text as it was."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.inline.carrying import carry, write
from corpora.inline.kinds import read_marked, read_plain

WORDS = st.text("ab&<éＡ日本ひカ. -", max_size=6)
LINKS = st.dictionaries(st.tuples(st.integers(0, 9), st.integers(0, 9)), st.floats(0.05, 1.0), max_size=14)
VOID = {"br", "img", "wbr"}


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


HTML = st.recursive(
    st.one_of(
        WORDS.map(escaped), st.sampled_from(["<br>", '<img alt="a>b"/>', "<wbr>", "{x}", "&nbsp;", "<!-- c -->"])
    ),
    lambda inner: st.lists(
        st.one_of(
            inner,
            st.tuples(st.sampled_from(["b", "i", 'a href="x"', "span class='y'"]), inner).map(
                lambda one: f"<{one[0]}>{one[1]}</{one[0].split()[0]}>"
            ),
        ),
        max_size=4,
    ).map("".join),
    max_leaves=8,
)
XML = st.recursive(
    st.one_of(WORDS.map(escaped), st.sampled_from(["<x/>", '<ph>&lt;br/&gt;<sub>a</sub></ph>', "<it/>", "%s"])),
    lambda inner: st.lists(
        st.one_of(
            inner,
            inner.map(lambda one: f"<g>{one}</g>"),
            inner.map(lambda one: f'<bpt i="1">{{</bpt>{one}<ept i="1"/>'),
        ),
        max_size=4,
    ).map("".join),
    max_leaves=8,
)  # fmt: skip


class Parser(HTMLParser):
    """A parser that does not know how tags are carried.  found: tags and comments."""

    def __init__(self, content: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text, self.found, self.open = "", Counter[str](), list[str]()
        self.feed(content)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found[str(self.get_starttag_text())] += 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.found[str(self.get_starttag_text())] += 1

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, "tags nest"
        self.found[f"/{tag}"] += 1

    def handle_comment(self, data: str) -> None:
        self.found[f"!{data}"] += 1

    def handle_data(self, data: str) -> None:
        self.text += data


def carried(kind: str, source: str, target: str, links: dict[tuple[int, int], float]) -> str:
    ours = read_marked(source, kind)
    theirs = read_plain(target, kind, ours)
    inside = {(j, k): p for (j, k), p in links.items() if j < len(ours.tokens) and k < len(theirs.tokens)}
    return write(theirs, carry(ours, theirs, inside))


@given(HTML, WORDS, LINKS)
def test_html_is_well_formed_and_has_each_tag_once(
    source: str, target: str, links: dict[tuple[int, int], float]
) -> None:
    output = carried("html", source, target, links)
    before, after = Parser(source), Parser(output)
    assert after.found == before.found
    assert after.text.replace("{x}", "") == target, "placeholders that the target lacks are added"
    assert after.text.count("{x}") == before.text.count("{x}")


@pytest.mark.parametrize("kind", ["xliff", "tmx"])
@given(source=XML, target=WORDS, links=LINKS)
def test_xml_is_well_formed_and_has_each_code_once(
    kind: str, source: str, target: str, links: dict[tuple[int, int], float]
) -> None:
    output = carried(kind, source, target, links)
    before, after = (ET.fromstring(f"<seg>{one}</seg>") for one in (source, output))
    assert Counter(one.tag for one in after.iter()) == Counter(one.tag for one in before.iter())
    for code in after.iter():
        if code.tag in ("ph", "bpt"):
            code.text, code[:] = "", []
    assert "".join(after.itertext()).replace("%s", "") == target.replace("%s", "")
    opened = [element.tag for element in after.iter() if element.tag in ("bpt", "ept")]
    depths = [opened[:n].count("bpt") - opened[:n].count("ept") for n in range(len(opened) + 1)]
    assert min(depths) == depths[-1] == 0, "the first of two codes comes first"
