"""Whole documents: targets get the tags of their sources, and every other byte is as it was."""

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import repeat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marked_texts import HTML, WORDS, XML, Parser, escaped
from readings import left_out, refuses

from aligner.model.inline import LinkProbabilities, carried
from corpora.inline.documents import Document, Lines, corpus_of, segments_of
from corpora.inline.kinds import read_marked
from corpora.inline.pages import Pages, is_page
from corpora.inline.units import Units
from corpora.reading import Reading

PAIRS = st.lists(st.tuples(XML, WORDS.map(escaped)), min_size=1, max_size=4)


def filled(document: Document) -> bytes:
    """The document with tags by relative position."""
    links: Iterator[LinkProbabilities] = repeat({})
    return b"".join(piece.written(placed) for piece, placed in carried(document, links))


def xliff(pairs: Sequence[tuple[str, str]]) -> str:
    units = (
        f'<trans-unit id="{n}" x = "&gt;>">\r\n<source>{source}</source>\t<!-- <target> -->'
        f'<target  state="x">{target}</target>'
        "<note>a</note><alt-trans><source>b</source><target>c</target></alt-trans></trans-unit>\n"
        for n, (source, target) in enumerate(pairs)
    )
    return f'<xliff version="1.2"><file source-language="en">{"".join(units)}</file></xliff>\n'


def xliff2(pairs: Sequence[tuple[str, str]]) -> str:
    segments = (f"<segment><source>{source}</source><target>{target}</target></segment>" for source, target in pairs)
    units = f'<file id="f"><unit id="u">{"".join(segments)}</unit></file>'
    return f'<x:xliff version="2.0" xmlns:x="a" xmlns="a">{units}</x:xliff>'


def tmx(pairs: Sequence[tuple[str, str]]) -> str:
    units = (
        f"<tu><tuv xml:lang='de'><seg>{target}</seg></tuv><tuv xml:lang='en'><seg>{source}</seg></tuv></tu>"
        for source, target in pairs
    )
    return f'<tmx version="1.4"><header srclang="en"/><body>{"".join(units)}</body></tmx>'


FORMS = {"xliff": xliff, "xliff2": xliff2, "tmx": tmx}


def codes(content: str) -> Counter[str]:
    return Counter(element.tag for element in ET.fromstring(f"<seg>{content}</seg>").iter())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@settings(max_examples=30)
@given(pairs=PAIRS)
def test_all_but_targets_is_equal_to_the_byte(
    form: str, encoding: str, pairs: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("units") / "d"
    head = f'<?xml version="1.0" encoding="{encoding}"?>\n'
    path.write_bytes((head + FORMS[form](pairs)).encode(encoding))
    with left_out():
        output = filled(Units(path, Reading(source="en", target="de")))
    ET.fromstring(output)
    around = FORMS[form]([(source, "@@@") for source, _ in pairs])
    found = re.fullmatch(re.escape(head + around).replace("@@@", "(.*)"), output.decode(encoding), re.DOTALL)
    assert found is not None
    for (source, target), now in zip(pairs, found.groups(), strict=True):
        if target.strip():
            assert codes(now) == codes(source)
        else:
            assert now == target, "an empty target is not filled"
        text = read_marked(now, form).text
        assert text.replace("%s", "") == unescape(target).replace("%s", "")


def test_xliff_in_segments(tmp_path: Path) -> None:
    mark = '<mrk mtype="seg" mid="{}">{}</mrk>'
    body = (
        "<trans-unit id='a'><source>x</source><seg-source>{}{}</seg-source><target>{} {}</target></trans-unit>"
        "<trans-unit id='b'><source>A <g id='1'>b</g></source></trans-unit>"
        "<trans-unit id='c'><source>A <g id='1'>b</g></source><target/></trans-unit>"
        "<trans-unit id='d'><source>A <g id='1'>b</g> <x id='2'/></source>"
        "<target>A <g id='1'>b</g></target></trans-unit>"
    )
    sources = mark.format(1, "<g id='1'>a</g> b"), mark.format(2, "c")
    path = tmp_path / "d.xlf"
    content = f"<xliff version='1.2'><file>{body}</file></xliff>"
    path.write_text(content.format(*sources, mark.format(2, "C"), mark.format(1, "A B")))
    with left_out() as reasons:
        output = filled(Units(path)).decode()
        names = [(one.line, one.name) for one in segments_of(Units(path))]
    assert output == content.format(*sources, mark.format(2, "C"), mark.format(1, "<g id='1'>A</g> B"))
    assert [*reasons.values()] == [2], "a target that has some tags, read twice"
    assert names == [(1, "a"), (1, "a"), (1, "d")]


def test_a_damaged_file_is_named_with_its_unit(tmp_path: Path) -> None:
    path = tmp_path / "d.xlf"
    path.write_text(xliff([("a", "b")]).replace("</target><note>", "<note>"))
    with refuses(r"d.xlf:2: .* in the unit '0' \("):
        [*segments_of(Units(path))]


BLOCKS = st.lists(st.tuples(HTML, WORDS.map(escaped)).filter(lambda one: bool(one[1].strip())), min_size=1, max_size=4)


@settings(max_examples=40)
@given(blocks=BLOCKS)
def test_pages_are_paired_segment_by_segment(
    blocks: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("pages")
    begin = f"<!doctype html>\n<title>{40 * 'İ'} <b></title><script>if (a<b) '<p>'</script><div class=a>"
    end = "</div><pre><b>y</b></pre>\n"
    sources = ["w" + source for source, _ in blocks]
    for name, texts in (("en", sources), ("de", [target for _, target in blocks])):
        (folder / name).write_text(f"{begin}{'<p>'.join(texts)}{end}", "utf-8", newline="")
    assert is_page(folder / "en")
    document = Pages((folder / "en", folder / "de"))
    output = filled(document).decode()
    assert output.startswith(begin)
    assert output.endswith(end)
    for text, source, (_, target) in zip(output[len(begin) : -len(end)].split("<p>"), sources, blocks, strict=True):
        assert Parser(text).found == Parser(source).found
        assert Parser(text).text.replace("{x}", "") == Parser(target).text.replace("{x}", "")


def test_pages_of_other_forms_are_refused(tmp_path: Path) -> None:
    for name, page in (("en", "<html><p>a<p>b"), ("de", "<html><p>a b")):
        (tmp_path / name).write_text(page)
    with refuses(r"has 1 segment, but .* has 2 \("):
        [*segments_of(Pages((tmp_path / "en", tmp_path / "de")))]


def test_lines(tmp_path: Path) -> None:
    (tmp_path / "en").write_text("a <g>b</g>\n<g>a\n\n")
    (tmp_path / "de").write_text("A B\nA\n\n")
    files = tmp_path / "en", tmp_path / "de"
    with refuses(r"en:2: has broken markup: .* \(is it xliff\?"):
        filled(Lines(files, "xliff"))
    told = list[str]()
    assert filled(Lines(files, "xliff", on_broken=lambda error: told.append(str(error)))) == b"A <g>B</g>\nA\n\n"
    assert len(told) == 1, "though it is read twice"
    assert [*corpus_of(Lines(files, "html")).texts()] == [(1, b"a b", b"A B"), (2, b"a", b"A"), (3, b"", b"")]
