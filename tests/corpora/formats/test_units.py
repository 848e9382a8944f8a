"""TMX and XLIFF: texts of units, languages, which are wanted, what is left out and told, and what is refused."""

import gzip
import io
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from readings import Unit, cases, left_out, pairs, refuses, tmx, turned, unit, xliff

from corpora.encodings import BUFFER_BYTES
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
SAME = TMX.replace("FR-CA", "fr-CA")
EXPECTED = [
    "data (with a non-standard character: \uf8ff).|données (avec un caractère\u00a0: \uf8ff).",
    "Click here end|Cliquez ici fin", "Only English|",
]  # fmt: skip
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
    (folder / name).write_bytes(("\ufeff" * (encoding == "utf-16-be") + text).encode(encoding))
    return folder / name


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_units_of_tmx(tmp_path: Path, encoding: str) -> None:
    text = SAME.replace(' encoding="UTF-8"', "") if "16" in encoding else SAME
    path = write(tmp_path, text, encoding=encoding)
    assert kind_of_units(path) == "TMX"
    assert pairs(path) == EXPECTED
    assert open_corpus(path).languages == ("en-US", "fr-CA")


def test_units_of_xliff(tmp_path: Path) -> None:
    one, two = write(tmp_path, XLIFF_1, "one.xlf"), write(tmp_path, XLIFF_2, "two.xlf")
    assert kind_of_units(one) == kind_of_units(two) == "XLIFF"
    expected = [
        "Hello big world now|Hallo große Welt jetzt", "First.|Erstens.", "Second one.|Zweitens.", "Not yet|",
    ]  # fmt: skip
    assert pairs(one) == expected
    assert pairs(one, source="de") == turned(expected)
    assert pairs(two) == ["A tree.|木です。", "Two!|二つ。"]
    assert open_corpus(two).languages == ("en", "ja")
    (tmp_path / "one.xlf.gz").write_bytes(gzip.compress(one.read_bytes()))
    assert pairs(tmp_path / "one.xlf.gz") == expected
    assert group_corpora([str(one), str(two)]) == [[str(one)], [str(two)]]
    for opened in (open_texts, lambda *files: open_corpus(files)):
        with refuses(r"one.xlf: is XLIFF, which holds both languages \(give it alone\)"):
            opened(one, two)


def test_languages_are_chosen_by_name_or_number(tmp_path: Path) -> None:
    path = write(tmp_path, SAME)
    for chosen in ({"source": "fr"}, {"target": "en"}, {"source": "FR-ca", "target": "en_us"}):
        assert pairs(path, **chosen) == turned(EXPECTED)
    for columns in ("fr,en", "2,1", "fr-CA,en-US"):
        assert pairs(path, columns) == turned(EXPECTED)
    with refuses("source and target are both fr-CA"):
        pairs(path, source="fr", target="fr-CA")
    for wrong in ({}, {"source": "pt"}):
        with refuses(r"m.tmx: has .*en-US, fr-CA, de"):
            pairs(write(tmp_path, TMX.replace("FR-CA", "de")), **wrong)
    with refuses("has text in en-US alone"):
        pairs(write(tmp_path, SAME.replace("fr-CA", "en-US")))


ENTITY = '[<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]', '[<!ENTITY a SYSTEM "file:///etc/passwd">]'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *[(SAME.replace('SYSTEM "tmx14.dtd"', entity).replace("&#xF8FF;", "&a;"),
           "m.tmx:2: has an entity of its own, 'a', which no such file needs") for entity in ENTITY],
        (SAME.replace("&#xF8FF;", "&nothing;"), "m.tmx:8: has an entity of its own, 'nothing'"),
        (SAME[:900], "is no whole TMX file: "),
        (SAME.replace("</seg>", "", 1), "is no whole TMX file: mismatched tag"),
        (SAME.replace("<seg>", "").replace("</seg>", ""), "has tuv elements without a seg, which has the text"),
    ],
)  # fmt: skip
def test_hostile_and_broken_files_are_refused_in_a_line(tmp_path: Path, text: str, message: str) -> None:
    with refuses(message):
        pairs(write(tmp_path, text))


WHOLE = (
    "<tmx><body>\n<tu><tuv xml:lang='en'><seg>a @ b</seg></tuv><tuv xml:lang='de'><seg>c</seg></tuv></tu></body></tmx>"
)


@pytest.mark.parametrize("before", [0, BUFFER_BYTES - 40, BUFFER_BYTES])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be"])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("\x02", r":2: has the character U\+0002, which XML forbids \(delete it there, or write a blank for it\)"),
        ("\x1f", r":2: has the character U\+001F"),
        ("&#x1F;", ":2: has the character &#x1F;, which XML forbids"),
        ("&", r":2: has '&' as a letter, which XML writes as &amp; \(write it so"),
        ("<", ":2: has '<' as a letter, which XML writes as &lt;"),
        ("</b>", ":2: is no whole TMX file: mismatched tag"),
    ],
)  # fmt: skip
def test_what_xml_forbids_is_named(tmp_path: Path, wrong: str, message: str, encoding: str, before: int) -> None:
    content = WHOLE.replace("<body>", f"<body><!-- {'x' * before} -->").replace("@", wrong)
    with refuses(message):
        open_corpus(write(tmp_path, content, encoding=encoding))


def test_bytes_are_those_of_the_encoding_that_is_named(tmp_path: Path) -> None:
    for letter in "\ufffe\uffff":
        with refuses(rf":2: has the character U\+{ord(letter):04X}"):
            open_corpus(write(tmp_path, WHOLE.replace("@", letter)))
    with refuses(r":2: is not valid UTF-8 \(save it in UTF-8, or name its encoding in its first line\)"):
        open_corpus(write(tmp_path, WHOLE.replace("@", "é"), encoding="latin-1"))
    latin = f"<?xml version='1.0' encoding='latin-1'?>{WHOLE.replace('@', 'é')}"
    assert pairs(write(tmp_path, latin, encoding="latin-1")) == ["a é b|c"]


def test_text_that_looks_a_little_like_it_is_text(tmp_path: Path) -> None:
    for text in ("<seg> a\n", "a < b <tmx>\n", "<\n", "", "<s snum=1> tmx </s>\n"):
        assert kind_of_units(write(tmp_path, text)) is None
    assert kind_of_units(write(tmp_path, "\n <?xml version='1.0'?> <x:tmx>")) == "TMX"


def test_written_memories_are_xml_with_links_as_a_property(tmp_path: Path) -> None:
    words, links = ["<b>", "&amp;", '"', "]]>"], PairLinks(frozenset({(0, 0)}), frozenset({(1, 1)}))
    with io.BytesIO() as stream:
        write_tmx(stream, [(words, ["é"], links), ([], ["b"], NO_LINKS)], ("en-GB", "x-a&b"))
        path = write(tmp_path, stream.getvalue().decode())
    found = [
        (unit.get("tuid"), *((of.get("{http://www.w3.org/XML/1998/namespace}lang"), of.findtext("seg")) for of in unit))
        for unit in (tu.findall("tuv") and tu for tu in ElementTree.parse(path).getroot().findall("body/tu"))
    ]
    assert [one[0] for one in found] == ["1", "2"]
    assert [one[-2:] for one in found] == [
        (("en-GB", " ".join(words)), ("x-a&b", "é")),
        (("en-GB", ""), ("x-a&b", "b")),
    ]
    assert list(open_links(path)) == [links, NO_LINKS]
    assert UnitFile(path, "TMX").names == ["en-GB", "x-a&b"]


def test_memories_of_others_have_no_links(tmp_path: Path) -> None:
    with refuses(r"m.tmx:1: has no links"):
        list(open_links(write(tmp_path, TMX)))
    some = TMX.replace("</note>", '</note><prop type="x-links"> </prop>')
    path = write(tmp_path, some.replace("<tu>", '<tu><prop type="x-links">0-0 x</prop>', 1))
    links = iter(open_links(path))
    assert next(links) == NO_LINKS
    with refuses(r"m.tmx:2: 'x' is not a link"):
        next(links)
    assert UnitFile(path, "TMX").names == ["en-US", "fr-CA"]


@pytest.mark.parametrize("columns", ["", "en,de", "en-US,de-DE", "EN_us,DE", "1,2", "eN,dE-dE"])
def test_a_language_is_one_in_all_its_spellings(tmp_path: Path, columns: str) -> None:
    path = tmx(tmp_path, "en-US:a de-DE:b", "EN-US:c DE-DE:d", "en_us:e de:f", "de_de:h EN-us:g")
    assert pairs(path, columns) == ["a|b", "c|d", "e|f", "g|h"]


def test_variants_are_joined_or_chosen(tmp_path: Path) -> None:
    path = tmx(tmp_path, "en-US:a pt-BR:b", "en-GB:c pt-PT:d", "en:e zh-Hant-TW:f", "zh-Hant-TW:g zh-Hans:h")
    for columns, expected, names, least in (
        ("en,pt", ["a|b", "c|d", "e|"], "en and pt", 1),
        ("en-US,pt-br", ["a|b"], "en-US and pt-BR", 3),  # en may be British, as en-GB is there
        ("zh-hant,zh-hans", ["f|", "g|h"], "zh-Hant-TW and zh-Hans", 2),
        ("en,en-GB", ["a|", "|c", "e|"], "en and en-GB", 1),
    ):
        with left_out() as told:
            assert pairs(path, columns) == expected
        assert told == {f"units without text in {names}": least}
    names = UnitFile(path, "TMX").names
    for columns in (f"{one},{other}" for one in names for other in {*names} - {one}):
        with left_out():
            assert pairs(path, columns)
    with refuses(r"has 7 languages, en-US, pt-BR, en-GB, .*\(choose two .*, like en,pt\)"):
        pairs(path)
    for wrong in ("en-AU,pt", "en,zh-TW", "fr,en", "x,en"):
        with refuses(r"has no '.*', but en-US, pt-BR, en-GB, pt-PT"):
            pairs(path, wrong)


def test_variants_of_one_language_are_two_languages_where_there_is_no_other(tmp_path: Path) -> None:
    assert pairs(tmx(tmp_path, "zh-Hans:a zh-Hant:b")) == ["a|b"]
    assert pairs(tmx(tmp_path, "en:a en-US:b", "EN-us:d EN:c")) == ["a|b", "c|d"]
    assert pairs(tmx(tmp_path, "x-a:a x-b:b")) == ["a|b"]
    for wrong in ("en,EN", "en-US,EN_us"):
        with refuses("source and target are both"):
            pairs(tmx(tmp_path, "en-US:a en-GB:b"), wrong)


@pytest.mark.parametrize("late", ["EN-us", "en-GB", "en"])
def test_a_language_may_come_late(tmp_path: Path, late: str) -> None:
    units = [f"{'en-US' if n < 1500 else late}:a{n} fr:b{n}" for n in range(1600)]
    expected = [f"a{n}|b{n}" for n in range(1600)]
    path = tmx(tmp_path, *units)
    assert pairs(path) == pairs(path, "en,fr") == expected
    assert [text[0] for text in UnitFile(path, "TMX").parse(("en", "fr"), 1598)] == [1599, 1600]
    with refuses("has 3 languages, en-US, fr, de"):
        pairs(tmx(tmp_path, *units[:1500], "de:a fr:b"))
    assert pairs(tmx(tmp_path, *["fr:b"] * 1500, *units[1500:]), "en,fr")[1499:1501] == ["|b", expected[1500]]


@pytest.mark.parametrize(
    ("says", "first"),
    cases(
        """
        DE ¦ b
        de_AT ¦ b
        EN-gb ¦ a
        *all* ¦ b
        fr ¦ b
        """
    ),
)
def test_the_header_of_tmx_says_which_side_is_the_source(tmp_path: Path, says: str, first: str) -> None:
    path = tmx(tmp_path, "de:b en-US:a", source=says)
    assert pairs(path)[0][0] == pairs(path, "1,2")[0][0] == first
    assert pairs(path, "en,de") == ["a|b"]


def test_messages_stay_short(tmp_path: Path) -> None:
    path = tmx(tmp_path, *(f"x-{number}:a" for number in range(20_000)), f"{'y' * 9999}:b")
    for columns, message in (
        ("", "20,001 languages, x-0, x-1, .* and 19,993"),
        ("de,x-1", "no 'de', but x-0, .* and 19,"),
    ):
        with refuses(f"has {message}") as refused:
            pairs(path, columns)
        assert len(str(refused.value)) < len(str(path)) + 200


FAMILIES = {"en": ["en", "EN", "en-US", "en_us", "EN-gb"], "de": ["de", "de-AT", "DE"], "": ["fr", "enx", "x-en", "?"]}
NAMES = {name: family for family, names in FAMILIES.items() for name in names}
TEXT = st.tuples(st.sampled_from(sorted(NAMES)), st.sampled_from(["", "a", "b & c", "d"]))


@settings(max_examples=100)
@given(st.lists(st.lists(TEXT, max_size=5), max_size=8))
def test_units_of_tmx_are_pairs_or_told(tmp_path_factory: pytest.TempPathFactory, units: list[Unit]) -> None:
    whole: list[Unit] = [[("en", "x"), ("de", "y")], *units]
    with left_out() as told:
        found = [pair.split("|") for pair in pairs(tmx(tmp_path_factory.mktemp("t"), *whole), "en,de")]
    texts = [[[text for name, text in one if NAMES[name] == side] for side in ("en", "de")] for one in whole]
    kept = [sides for sides in texts if any(sides)]
    assert len(found) == len(kept) == len(whole) - told["units without text in en and de"]
    for pair, sides in zip(found, kept, strict=True):
        assert all(text in of if any(of) else not text for text, of in zip(pair, sides, strict=True))
        assert all(bool(text) == any(of) for text, of in zip(pair, sides, strict=True))
    n_texts = sum(text != "" for sides in texts for side in sides for text in side)
    n_found = sum(text != "" for pair in found for text in pair)
    assert n_texts == n_found + told["second texts of a language in a unit"]


def test_a_plain_language_goes_before_its_variants(tmp_path: Path) -> None:
    with left_out() as told:
        assert pairs(tmx(tmp_path, "en-US:a en:b fr:c fr:d"), "en,fr") == ["b|c"]
    assert told == {"second texts of a language in a unit": 2}


def test_sources_of_xliff_are_sources_whatever_later_files_say(tmp_path: Path) -> None:
    first, empty = (
        ('source-language="en" target-language="de"', unit("a", "b")),
        ('source-language="en"', unit("e", "")),
    )
    for says in ("en-US DE_at", "und de", "de en"):
        languages = 'source-language="{}" target-language="{}"'.format(*says.split())
        second = unit("d", "c") if says == "de en" else unit("c", "d")
        assert pairs(xliff(tmp_path, first, (languages, second))) == ["a|b", "c|d"]
    assert pairs(xliff(tmp_path, ('source-language="en" target-language="en"', unit("c", "d")))) == ["c|d"]
    assert pairs(xliff(tmp_path, first, empty)) == ["a|b", "e|"]
    assert pairs(xliff(tmp_path, empty)) == ["e|"]


def test_files_of_xliff_in_other_languages_are_left_out(tmp_path: Path) -> None:
    english = 'source-language="en"'
    path = xliff(
        tmp_path,
        (f'{english} target-language="de"', unit("a", "b")),
        (f'{english} target-language="fr"', unit("c", "d") + unit("e", "")),
        (english, unit("f", "g") + unit("h", "")),
    )
    with refuses(r"has 4 languages, en, de, fr, target"):
        pairs(path)
    with left_out() as told:
        assert pairs(path, "de,en") == ["b|a", "|h"]
    assert told == {"units in other languages than de and en": 3}
    everything = ["a|b", "c|d", "e|", "f|g", "h|"]
    assert pairs(path, "source,target") == everything
    assert pairs(path, "target,source") == turned(everything)
    own = english, "<trans-unit><source>i</source><target xml:lang='de'>j</target></trans-unit>"
    assert pairs(xliff(tmp_path, own), "en,de") == ["i|j"]


def test_shards_pass_over_pairs_and_not_units(tmp_path: Path) -> None:
    path = tmx(tmp_path, *(f"{'fr' if n % 3 else 'en'}:a {'de' if n % 2 else 'fr'}:{n}" for n in range(30)))
    with left_out():
        corpus = open_corpus(path, columns=("en", "de"))
        texts = list(corpus.texts())
        assert 0 < len(texts) < 30
        assert [int(text[2] or text[0] - 1) + 1 for text in texts] == [text[0] for text in texts]
        assert [text for shard in (1, 2, 3) for text in corpus.shard(shard, 3).texts()] == texts
