"""Random texts with inline markup, and a parser of HTML that knows nothing of ours."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser

from hypothesis import strategies as st

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
    st.one_of(WORDS.map(escaped), st.sampled_from(["<x/>", "<ph>&lt;br/&gt;<sub>a</sub></ph>", "<it/>", "%s"])),
    lambda inner: st.lists(
        st.one_of(
            inner,
            inner.map(lambda one: f"<g>{one}</g>"),
            inner.map(lambda one: f'<bpt i="1">{{</bpt>{one}<ept i="1"/>'),
        ),
        max_size=4,
    ).map("".join),
    max_leaves=8,
)
CROSSING = st.lists(
    st.one_of(
        WORDS.map(escaped),
        st.sampled_from(['<bpt i="1"/>', '<ept i="1"/>', '<bpt i="2"/>', '<ept i="2"/>', "<g>a</g>"]),
        st.just('<g><bpt i="2"/>b</g>'),
    ),
    max_size=9,
).map("".join)
"""Codes that need not nest, nor have another half."""


class Parser(HTMLParser):
    """Fails on tags that do not nest.  found: tags and comments.  text: without them."""

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
