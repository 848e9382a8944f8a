"""TMX and XLIFF: texts, languages and lines of units, and what is refused."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.errors import CorpusError
from corpora.formats.memories import write_tmx
from corpora.formats.units import UnitFile, kind_of_units
from corpora.link_files import open_links
from corpora.links import NO_LINKS, PairLinks
from corpora.readers import group_corpora, open_corpus, open_texts

TMX = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<!-- an example with all kinds of inline elements -->
<tmx version="1.4">
  <header creationtool="XYZTool" segtype="sentence" adminlang="en-us" srclang="en-US" datatype="rtf"/>
  <body>
    <tu tuid="0001"><note>Text of a note at the TU level.</note>
      <tuv xml:lang="en-US"><seg>data (with a <hi>non-standard</hi> character: &#xF8FF;).</seg></tuv>
      <tuv xml:lang="fr-CA"><prop type="Origin">MT</prop>
        <seg>données (avec un
          caractère\u00a0: &#xF8FF;).</seg></tuv>
    </tu>
    <tu>
      <tuv xml:lang="FR-CA">
      <seg>Cliquez <bpt i="1">{\\b </bpt>ici<ept i="1">}</ept><ph x="2">&lt;br/></ph>fin</seg></tuv>
      <tuv lang="en-US"><seg>Click <bpt i="1">{\\b </bpt>here<ept i="1">}</ept><ph x="2">&lt;br/></ph>end</seg></tuv>
    </tu>
    <tu><tuv xml:lang="en-US"><seg>Only English</seg></tuv></tu>
  </body>
</tmx>
"""

XLIFF_1 = """<?xml version="1.0"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
 <file original="a.txt" source-language="en" target-language="de" datatype="plaintext"><body>
  <group><trans-unit id="1"><source>Hello <g id="1">big</g> world<x id="2"/>now</source>
   <target>Hallo <g id="1">große</g> Welt<x id="2"/>jetzt</target>
   <alt-trans><source>Hello</source><target>Servus</target></alt-trans></trans-unit></group>
  <trans-unit id="2"><source>First. Second.</source>
   <seg-source><mrk mtype="seg" mid="0">First.</mrk>
    <mrk mtype="seg" mid="1">Second <mrk mtype="term">one</mrk>.</mrk></seg-source>
   <target><mrk mtype="seg" mid="0">Erstens.</mrk> <mrk mtype="seg" mid="1">Zweitens.</mrk></target></trans-unit>
  <trans-unit id="3"><source>Not yet</source></trans-unit>
 </body></file>
</xliff>
"""

XLIFF_2 = """<xliff version="2.0" srcLang="en" trgLang="ja" xmlns="urn:oasis:names:tc:xliff:document:2.0"
 xmlns:mtc="urn:oasis:names:tc:xliff:matches:2.0">
 <file id="f1"><unit id="1">
  <mtc:matches><mtc:match ref="#1"><source>x</source><target>y</target></mtc:match></mtc:matches>
  <originalData><data id="d1">&lt;b></data></originalData>
  <segment id="s1"><source>A <pc id="1" dataRefStart="d1">tree</pc>.</source><target>木です。</target></segment>
  <ignorable><source> </source></ignorable>
  <segment><source>Two<sc id="3"/>!</source><target>二つ。</target></segment></unit></file>
</xliff>
"""


def write(folder: Path, text: str, name: str = "m.tmx", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def pairs(path: Path, source: str | None = None, target: str | None = None) -> list[tuple[str, str]]:
    texts = open_corpus(path, source=source, target=target).texts()
    return [(one.decode(), other.decode()) for _, one, other in texts]


EXPECTED = [
    ("data (with a non-standard character: \uf8ff).", "données (avec un caractère\u00a0: \uf8ff)."),
    ("Click here end", "Cliquez ici fin"),
    ("Only English", ""),
]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_units_of_tmx(tmp_path: Path, encoding: str) -> None:
    text = TMX.replace("FR-CA", "fr-CA")
    if "16" in encoding:
        text = text.replace(' encoding="UTF-8"', "")
    path = write(tmp_path, ("\ufeff" if encoding == "utf-16-be" else "") + text, encoding=encoding)
    assert kind_of_units(path) == "TMX"
    assert pairs(path) == EXPECTED
    corpus = open_corpus(path)
    assert corpus.languages == ("en-US", "fr-CA")
    assert [number for number, _, _ in corpus.texts()] == [1, 2, 3]
    assert list(corpus.shard(2, 3).texts()) == list(corpus.texts())[1:2]


def test_languages_are_chosen_by_name_or_number(tmp_path: Path) -> None:
    path = write(tmp_path, TMX.replace("FR-CA", "fr-CA"))
    turned = [(target, source) for source, target in EXPECTED]
    assert pairs(path, source="fr") == pairs(path, target="en") == pairs(path, source="FR-ca", target="en_us") == turned
    for columns in (("fr", "en"), ("2", "1"), ("fr-CA", "en-US")):
        corpus = open_corpus(path, columns=columns)
        assert [(source.decode(), target.decode()) for _, source, target in corpus.texts()] == turned
    with pytest.raises(CorpusError, match="source and target are both fr-CA"):
        pairs(path, source="fr", target="fr-CA")
    three = write(tmp_path, TMX.replace("FR-CA", "de"), "three.tmx")
    for wrong in ({}, {"source": "pt"}):
        with pytest.raises(CorpusError, match=r"three.tmx: has .*en-US, fr-CA, de"):
            pairs(three, **wrong)
    one = write(tmp_path, TMX.replace("FR-CA", "en-US").replace("fr-CA", "en-US"), "one.tmx")
    with pytest.raises(CorpusError, match="has text in en-US alone"):
        pairs(one)


def test_units_of_xliff(tmp_path: Path) -> None:
    one, two = write(tmp_path, XLIFF_1, "one.xlf"), write(tmp_path, XLIFF_2, "two.xlf")
    assert [kind_of_units(path) for path in (one, two)] == ["XLIFF", "XLIFF"]
    assert pairs(one) == [
        ("Hello big world now", "Hallo große Welt jetzt"),
        ("First.", "Erstens."),
        ("Second one.", "Zweitens."),
        ("Not yet", ""),
    ]
    assert pairs(one, source="de")[1] == ("Erstens.", "First.")
    assert pairs(two) == [("A tree.", "木です。"), ("Two!", "二つ。")]
    corpus = open_corpus(two)
    assert corpus.languages == ("en", "ja")


def test_packed_files_and_lists_of_corpora(tmp_path: Path) -> None:
    plain = write(tmp_path, XLIFF_1, "one.xlf")
    packed = tmp_path / "one.xlf.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert pairs(packed) == pairs(plain)
    assert group_corpora([str(plain), str(packed)]) == [[str(plain)], [str(packed)]]
    for opened in (open_texts, lambda *files: open_corpus(files)):
        with pytest.raises(CorpusError, match=r"one.xlf: is XLIFF, which holds both languages \(give it alone\)"):
            opened(plain, packed)
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(CorpusError, match=r"one.xlf.gz:.* ends too early"):
        pairs(packed)


BOMB = TMX.replace('SYSTEM "tmx14.dtd"', '[<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]').replace("&#xF8FF;", "&b;")
OUTSIDE = TMX.replace('SYSTEM "tmx14.dtd"', '[<!ENTITY a SYSTEM "file:///etc/passwd">]').replace("&#xF8FF;", "&a;")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, "m.tmx:2: has an entity of its own, 'a', which no such file needs"),
        (OUTSIDE, "m.tmx:2: has an entity of its own, 'a', which no such file needs"),
        (TMX.replace("&#xF8FF;", "&nothing;"), "m.tmx:8: has an entity of its own, 'nothing'"),
        (TMX[:900], "is no whole TMX file: "),
        (TMX.replace("</seg>", "", 1), "is no whole TMX file: mismatched tag"),
    ],
)
def test_hostile_and_broken_files_are_refused_in_a_line(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text.replace("FR-CA", "fr-CA"))
    with pytest.raises(CorpusError, match=message) as caught:
        pairs(path)
    assert "\n" not in str(caught.value)


def test_text_that_looks_a_little_like_it_is_text(tmp_path: Path) -> None:
    for text in ("<seg> a\n", "a < b <tmx>\n", "<\n", "", "<s snum=1> tmx </s>\n"):
        assert kind_of_units(write(tmp_path, text)) is None
    assert kind_of_units(write(tmp_path, "\n <?xml version='1.0'?> <x:tmx>")) == "TMX"


def test_many_units_are_read_one_by_one(tmp_path: Path) -> None:
    unit = "<tu><tuv xml:lang='en'><seg>a {0}</seg></tuv><tuv xml:lang='de'><seg>b {0}</seg></tuv></tu>\n"
    path = write(tmp_path, f"<tmx><body>\n{''.join(map(unit.format, range(3000)))}</body></tmx>")
    memory = UnitFile(path, "TMX")
    assert (memory.names, memory.count(("en", "de"))) == (["en", "de"], 3000)
    assert list(memory.parse(("en", "de"), 2998)) == [(2999, b"a 2998", b"b 2998"), (3000, b"a 2999", b"b 2999")]


WORDS = st.lists(
    st.sampled_from(["a", "<b>", "&amp;", "&", '"', "'", "]]>", "\u00a0é", "\u2028", "\U0001f600"]), max_size=4
)
LINKS = st.frozensets(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=4)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(WORDS, WORDS, LINKS, LINKS), min_size=1, max_size=5))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[list[str], list[str], frozenset[tuple[int, int]], frozenset[tuple[int, int]]]],
) -> None:
    path, links = tmp_path_factory.mktemp("t") / "m.tmx", [PairLinks(sure, other - sure) for *_, sure, other in rows]
    stream = io.BytesIO()
    write_tmx(stream, ((*row[:2], pair) for row, pair in zip(rows, links, strict=True)), ("en-GB", "x-a&b"))
    path.write_bytes(stream.getvalue())
    assert UnitFile(path, "TMX").names == ["en-GB", "x-a&b"]
    assert pairs(path) == [(" ".join(source), " ".join(target)) for source, target, *_ in rows]
    assert list(open_links(path)) == links
    language = "{http://www.w3.org/XML/1998/namespace}lang"
    units = ElementTree.parse(path).getroot().findall("body/tu")
    assert [unit.get("tuid") for unit in units] == [str(number + 1) for number in range(len(rows))]
    assert [[(tuv.get(language), tuv.findtext("seg")) for tuv in unit.findall("tuv")] for unit in units] == [
        [("en-GB", " ".join(source)), ("x-a&b", " ".join(target))] for source, target, *_ in rows
    ]


def test_memories_of_others_have_no_links(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"m.tmx:1: has no links"):
        list(open_links(write(tmp_path, TMX)))
    path = write(
        tmp_path,
        TMX.replace("</note>", '</note><prop type="x-links"> </prop>').replace(
            "<tu>", '<tu><prop type="x-links">0-0 x</prop>', 1
        ),
    )
    links = iter(open_links(path))
    assert next(links) == NO_LINKS
    with pytest.raises(CorpusError, match=r"m.tmx:2: 'x' is not a link"):
        next(links)
    assert UnitFile(path, "TMX").names == ["en-US", "fr-CA"]
