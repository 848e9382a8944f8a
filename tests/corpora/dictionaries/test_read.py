"""Dictionaries in each format: the exact entries of small samples, and one line on broken ones."""

import gzip
from base64 import b64encode
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from readings import leaves_out, left_out, refuses

from corpora.dictionaries import Dictionary, read_dictionary
from corpora.errors import BrokenLine, CorpusError


def write(folder: Path, name: str, content: str, encoding: str = "utf-8") -> Path:
    (folder / name).write_bytes(content.encode(encoding))
    return folder / name


def shown(dictionary: Dictionary) -> list[str]:
    """The entries as ``headword|headword=translation|translation``, and their weights unless these are 1."""
    return [
        f"{'|'.join(one.headwords)}={'|'.join(one.translations)}" + (f" {one.weight}" if one.weight != 1.0 else "")
        for one in dictionary.entries
    ]


EDICT = """　？？？ /EDICT, dictionary files/Created: 2021-02-03/
加工 [かこう] /(n,vs) manufacturing/processing of goods/(n) (2) treatment/(P)/
ＬＰ [エルピー] /(n) (1) long-play (record)/LP/
アシェイムド /(adj-f) ashamed/
４℃ [しど] /
漢字;感字(iK) [かんじ(P);かんぢ(ik)] /(n) Chinese character/kanji/(P)/EntL1210280X/
"""
CEDICT = """# CC-CEDICT
#! charset=UTF-8
% % [pa1] /percent (Tw)/
照相機 照相机 [zhao4 xiang4 ji1] /camera/CL:個|个[ge4],架[jia4]/
笞掠 笞掠 [chi1 lu:e4] /to flog/
䝔 獾 [huan1] /variant of 獾[huan1]/
笞掠 笞掠 [chi1 lu:e4] /(dialect) to whip/
"""
DICT_CC = (
    "# DE-EN vocabulary database\tcompiled by dict.cc\n# Date\t2020\n\n(sich) Haus {n} [alt]\thouse <h.>\tnoun\t\n"
)
LINES = "﻿# my words\n#\nhouse\tmaison\n\ngive up ||| renoncer ||| 2\r\na (b)\t{c}\t0.5\n#\tnumber\n"
JMDICT = """<?xml version="1.0" encoding="UTF-8"?>
<!-- Rev 1.09 <b> -->
<!DOCTYPE JMdict [
<!ELEMENT JMdict (entry*)>
<!ENTITY n "noun (common) (futsuumeishi)">
]>
<JMdict>
<entry><ent_seq>1</ent_seq><k_ele><keb>加工</keb></k_ele><r_ele><reb>かこう</reb></r_ele>
<sense><pos>&n;</pos><gloss>manufacturing</gloss><gloss g_type="expl">what is done to goods</gloss></sense>
<sense><gloss xml:lang="ger">(n) Verarbeitung; Bearbeitung</gloss></sense></entry>
<entry><r_ele><reb>アシェイムド</reb></r_ele><sense><gloss>ashamed (of)</gloss></sense></entry>
</JMdict>
"""
DIX = """<?xml version="1.0"?><dictionary><alphabet/><sdefs><sdef n="n"/></sdefs>
<pardefs><pardef n="s"><e><p><l><s n="n"/></l><r><s n="n"/><s n="m"/></r></p></e></pardef>
<pardef n="ize"><e r="LR"><p><l>ise</l><r>izar</r></p></e><e><p><l>ize</l><r>izar</r></p></e></pardef></pardefs>
<section id="main" type="standard">
<e><p><l>ice<b/>cream<s n="n"/></l><r>helado<s n="n"/></r></p><par n="s"/></e>
<e r="RL"><p><l>take<g><b/>out</g></l><r>sacar</r></p></e>
<e><i>radio</i><par n="s"/></e>
<e><p><l>real</l><r>real</r></p><par n="ize"/></e>
<e><re>[0-9]+</re></e><e i="yes"><i>x</i></e><e><p><l/><r>y</r></p></e>
</section></dictionary>
"""
LIFT = """<?xml version="1.0"?><lift version="0.13">
<entry><lexical-unit><form lang="seh"><text>nyumba</text></form></lexical-unit>
<variant><form lang="seh"><text>numba</text></form></variant>
<variant><form lang="seh-fonipa"><text>ɲumba</text></form></variant>
<sense><gloss lang="en"><text>house; (old) home</text></gloss><gloss lang="pt"><text>casa</text></gloss></sense></entry>
<entry><lexical-unit><form lang="seh"><text>enda</text></form></lexical-unit>
<sense><definition><form lang="en"><text>to go</text></form></definition></sense>
<sense><definition><form lang="en"><text>what a person does on the way</text></form></definition></sense></entry></lift>
"""
MDF = r"""\_sh v3.0  400  MDF 4.0

\lx haus
\va hous
\ps n
\sn 1
\ge house ; home
\gn rumah
\re dwelling
\de a building that people live in, of whatever kind
\sn 2
\ge sit_down
on it
\se haus sik
\gn rumah sakit
\de hospital

\lx nating
\dt 24/Jan/2001
"""
WORDS = "house maison\nhouse foyer\ncat\tchat\n"
MOSES = "house maison 0.5\nNULL de 0.25\ncat chat 1.0000000\na b 0.0\n"
LEXICON = "source\ttarget\tcount\tp(target|source)\tp(source|target)\nhouse\tmaison\t3\t0.75\t1\nNULL\tde\t1\t1\t1\n"
WIKTIONARY = """\
{"word": "house", "lang_code": "en", "pos": "noun", "forms": [{"form": "houses", "tags": ["plural"]}, \
{"form": "no-table-tags", "tags": ["table-tags"]}, {"form": "more house", "tags": ["comparative"]}], \
"senses": [{"glosses": ["A building."], "translations": [{"lang_code": "fr", "word": "maison"}]}], \
"translations": [{"code": "de", "word": "Haus"}, {"lang": "French", "lang_code": "fr", "word": "logis"}, \
{"lang_code": "de", "note": "please add"}]}
{"word": "Häuser", "lang_code": "de", "senses": [{"glosses": ["plural of Haus"], "tags": ["form-of"]}]}
{"word": "gehen", "lang_code": "de", "senses": [{"glosses": ["to move", "to walk, to go on foot"]}]}
{"title": "x", "redirect": "house"}
"""
GERMAN = WIKTIONARY.partition("\n")[2]
TABLE, TABS = "en,fr,de\nhouse,maison,Haus\nhouse,,\n,,Hof\n", "id\ten\tfr\n1\thouse\tmaison\n"
TBX = "".join(f'<langSet xml:lang="{one}"><tig><term>{one}</term></tig></langSet>' for one in ("en", "fr"))
TBX = f'<martif type="TBX"><text><body><termEntry>{TBX}</termEntry></body></text></martif>'
NOTES, NONE = "notes and references to other entries", "entries without a translation"
SAMPLES = [
    ("edict", EDICT, "", "EDICT ja,en", """加工|かこう=manufacturing|processing of goods|treatment
LP|エルピー=long-play|LP
アシェイムド=ashamed
漢字|感字|かんじ|かんぢ=Chinese character|kanji""", f"1 {NONE}"),
    ("cedict_ts.u8", CEDICT.replace("\n", "\r\n"), "", "CC-CEDICT zh,en", """%=percent
照相機|照相机=camera
笞掠=flog
笞掠=whip""", f"2 {NOTES}; 1 {NONE}"),
    ("x.txt", DICT_CC, "", "dict.cc de,en", "Haus=house", ""),
    ("en-fr.txt", LINES, "", "lines en,fr", """house=maison
give up=renoncer 2.0
a (b)={c} 0.5
#=number""", ""),
    ("l", f"a\tb\nb\t{'c ' * 65}\n", "", "lines None,None", "a=b",
     "l: left out: 1 entries of more than 64 words on a side .give sentences as text"),
    ("JMdict", JMDICT, "", "JMdict ja,en", "加工|かこう=manufacturing\nアシェイムド=ashamed",
     "1 glosses of more than 6 words.*; 1 glosses in other languages"),
    *[("JMdict", JMDICT, asked, "JMdict ja,de", "加工|かこう=Verarbeitung|Bearbeitung", "1 entries|glosses")
      for asked in ("ja,de", "German,ja")],
    ("apertium-eng-spa.eng-spa.dix", DIX, "", "Apertium en,es", """ice cream=helado
take out=sacar
radio=radio
realise|realize=realizar""", f"1 entries of patterns.*; 1 entries that are to be ignored; 1 {NONE}"),
    *[("x.lift", LIFT, asked, "LIFT seh,en", "nyumba|numba=house|home\nenda=go", "glosses of more than 6 words")
      for asked in ("", "seh,en", "en-GB,seh")],
    ("x.lift", LIFT, "seh,pt", "LIFT seh,pt", "nyumba|numba=casa", NONE),
    ("x.db", MDF.replace("\n", "\r\n"), "", "MDF None,en", """haus|hous=house|home|dwelling|sit down on it
haus sik=hospital""", f"1 {NONE}"),
    ("x.db", MDF, "tpi,id", "MDF None,None", "haus|hous=rumah\nhaus sik=rumah sakit", f"1 {NONE}"),
    ("en-fr.txt", WORDS, "", "MUSE en,fr", "house=maison\nhouse=foyer\ncat=chat", ""),
    *[(name, MOSES, "", "Moses lexicon None,None", entries,
       "1 lines of words without a translation; 1 lines of a probability of 0")
      for name, entries in (("lex.f2e", "maison=house 0.5\nchat=cat"), ("lex.e2f", "house=maison 0.5\ncat=chat"))],
    ("l.tsv", LEXICON, "", "lexicon None,None", "house=maison 0.75", "1 lines of words without"),
    ("raw.jsonl", WIKTIONARY, "en,fr", "Wiktionary en,fr", "house|houses=logis|maison", "2 words of other languages"),
    ("raw.jsonl", WIKTIONARY, "fr,en", "Wiktionary fr,en", "logis|maison=house|houses", "2 words of other languages"),
    ("raw.jsonl", WIKTIONARY, "en,de", "Wiktionary en,de", "house|houses=Haus\nwalk|go on foot=gehen",
     "1 entries without a headword"),
    ("raw.jsonl", WIKTIONARY, "de,en", "Wiktionary de,en",  "Haus=house|houses\ngehen=walk|go on foot", f"1 {NONE}"),
    ("de.jsonl", GERMAN, "", "Wiktionary de,en",  "gehen=walk|go on foot", f"1 {NONE}"),
    ("g.csv", TABLE, "de,en", "glossary de,en", "Haus=house", "2 entries without a term in both languages"),
    ("g.csv", TABLE, "en,fr", "glossary en,fr", "house=maison", "1 entries without a term in both languages"),
    ("t", TABS, "", "glossary None,None", "house=maison", ""),
    ("g.tbx", TBX, "fr,en", "glossary fr,en", "fr=en", ""),
]  # fmt: skip
"""Name and content of a file, the languages asked for, form and languages found, entries, and what is left out."""


@pytest.mark.parametrize(("name", "content", "asked", "form", "entries", "reasons"), SAMPLES)
def test_entries(tmp_path: Path, name: str, content: str, asked: str, form: str, entries: str, reasons: str) -> None:
    source, _, target = asked.partition(",")
    with leaves_out(reasons) if reasons else nullcontext():
        found = read_dictionary(write(tmp_path, name, content), (source or None, target or None))
        assert f"{found.form} {','.join(map(str, found.languages))}" == form
        assert shown(found) == entries.split("\n")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_edict_in_its_own_encoding(tmp_path: Path, pack: type[bytes]) -> None:
    (tmp_path / "edict").write_bytes(pack(EDICT.encode("euc_jp")))
    with left_out():
        assert shown(read_dictionary(tmp_path / "edict")) == SAMPLES[0][4].split("\n")
    (tmp_path / "edict").write_bytes(EDICT.replace("アシェイムド /", "アシェイムド ").encode("euc_jp"))
    with refuses(r"edict:4: .* is no entry \(an entry is KANJI \[kana\] /gloss/\)", BrokenLine), left_out():
        shown(read_dictionary(tmp_path / "edict"))


BROKEN = [
    ("x", CEDICT + "nothing\n", r"x:8: 'nothing' is no entry \(an entry is TRADITIONAL SIMPLIFIED"),
    ("x", f"{DICT_CC}no\n", r"x:5: 'no' is no entry of dict.cc \(an entry is source TAB target"),
    ("x.db", MDF.replace("rumah", "\udcff", 1), r"x.db:8: not valid UTF-8 \(convert it to UTF-8"),
    ("m", "a b\n" * 31 + "one\n", r"m:32: 'one' is no line of this list \(each line has two words"),
    ("b", f'{WIKTIONARY}{{"word": 1}}\n', r"b:5: '\{\"word\": 1\}' is no word of Wiktionary \(a line is an"),
    *[("D", f"a\tb\n{line}", "D:2: .* is no entry of a dictionary .*source TAB target") for line in [
        "a", "a\t", "\tb", "a\tb\tx", "a\tb\t0", "a\tb\t-1", "a\tb\tnan", "a\tb\t2e6", "a\tb\t1\t1", "a ||| ",
        "a\tb\udcff", "a\tb\t1_0", "a\tb\t١"]],
]  # fmt: skip
REFUSED = [
    ("e", "", r"e: has no entry of a dictionary \(formats: StarDict, dictd, "),
    ("m", DIX.replace("<e><i>", '<e lm="radio"><i>'), r"m: is a dictionary of one language.* \(give the one of two"),
    ("d", DIX.replace("</dictionary>", ""), "d:11: is no whole Apertium file"),
    ("y", "\\lx a\n\\ps n\n", r"y: has no glosses .* \(mark them so, as MDF does\)"),
    ("x.lift", LIFT, r"x.lift: has translations in en, pt \(name the languages of the text by"),
    *[("x", JMDICT.replace('n "noun (common) (futsuumeishi)"', entity),
       "x:5: has an entity of its own, 'n', which no such file needs")
      for entity in ('n "a&amp;b"', 'n SYSTEM "f"', f'n "{"a" * 201}"', '% n "a"')],
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "message", "error"),
    [*((*row, BrokenLine) for row in BROKEN), *((*row, CorpusError) for row in REFUSED)],
)
def test_what_is_refused(tmp_path: Path, name: str, content: str, message: str, error: type[CorpusError]) -> None:
    (tmp_path / name).write_bytes(content.encode("utf-8", "surrogateescape"))
    with refuses(message, error):
        shown(read_dictionary(tmp_path / name, ("fr", "de") if name == "x.lift" else (None, None)))


def write_stardict(folder: Path, ifo: str, bodies: dict[str, bytes], width: int) -> None:
    index, text = b"", b""
    for word, body in bodies.items():
        index += word.encode() + b"\0" + len(text).to_bytes(width, "big") + len(body).to_bytes(4, "big")
        text += body
    (folder / "en-zh.idx.gz").write_bytes(gzip.compress(index))
    (folder / "en-zh.dict.dz").write_bytes(gzip.compress(text))
    (folder / "en-zh.syn").write_bytes(b"home\0\0\0\0\0")
    write(folder, "en-zh.ifo", f"StarDict's dict ifo file\nversion=2.4.2\n{ifo}\n")


@pytest.mark.parametrize(
    ("ifo", "body", "other"),
    [
        ("sametypesequence=m", "*['haus]\nn. 房子, 住宅\nvt. 收藏", "去"),
        ("sametypesequence=tm", "haus\0房子, 住宅\n收藏", "haus\0去"),
        ("sametypesequence=h", "<b>房子</b> &lt;n&gt;,<br/>住宅<p>收藏</p>", "去"),
        ("sametypesequence=x", "<k>house</k>\n<dtrn>房子, 住宅</dtrn><dtrn>收藏</dtrn><ex>his house</ex>", "去"),
        ("sametypesequence=g", "<i>房子</i>\n住宅;收藏", "去"),
        ("sametypesequence=m\nidxoffsetbits=64", "1. 房子, 住宅\na building\n2. 收藏", "去"),
        ("", "thaus\0m房子, 住宅; 收藏\0W\0\0\0\2xx", "m去\0"),
    ],
)
def test_stardict(tmp_path: Path, ifo: str, body: str, other: str) -> None:
    write_stardict(tmp_path, ifo, {"house": body.encode(), "to go": other.encode()}, 8 if "64" in ifo else 4)
    for name in ("en-zh.ifo", "en-zh.dict.dz", "en-zh.idx.gz"):
        found = read_dictionary(tmp_path / name)
        assert (found.form, found.languages) == ("StarDict", ("en", "zh"))
        with left_out():
            assert shown(found) == ["house|home=房子|住宅|收藏", "go=去"]
    (tmp_path / "en-zh.idx").write_bytes(b"house\0\0\0")
    with refuses(r"en-zh.idx: ends within an entry \(get all files of one version\)"):
        shown(read_dictionary(tmp_path / "en-zh.ifo"))
    (tmp_path / "en-zh.dict.dz").unlink()
    with refuses(r"en-zh.ifo: has no en-zh.dict.dz or en-zh.dict beside it"):
        read_dictionary(tmp_path / "en-zh.ifo")


def number(value: int) -> str:
    return b64encode(value.to_bytes(6, "big")).decode().lstrip("A") or "A"


def write_dictd(folder: Path, name: str, bodies: list[str], more: str = "", pack: bool = True) -> Path:
    """The index, beside it the text; each entry has three keys, of which one is its headword's."""
    rows, place = [f"00databaseinfo\tA\t{number(3)}\n"], 3
    for body in bodies:
        size = len(body.encode())
        rows += [f"{key}\t{number(place)}\t{number(size)}\n" for key in ("b", body.partition("\n")[0], "")]
        place += size
    text = ("abc" + "".join(bodies)).encode()
    (folder / f"{name}.dict{'.dz' if pack else ''}").write_bytes(gzip.compress(text) if pack else text)
    return write(folder, f"{name}.index", "".join(rows) + more)


DICTD = """\
Befehlszeile /bəfˈeːlstsaɪlə/ <fem, n, sg>
 [comp.] command line <n>, line of code <n>LOC,  /lˈoːk/
         Note: of code
      "eine Zeile"  - one line
   Synonyms: {Zeile}

 see: {Zeile}

@Haus… /hˈaʊs/
house …
@committee /[kɑmɪˈtiː]/ //kɒ// <n>
1. комите́т, коми́сия
group of persons
2. съвет 2.
a council
@ [news2]  髱 /(en)tʃˈaɪniːz/,  [ichi1] たぼ /tˈäbo̞/
(noun (common) (futsuumeishi))
{日本}chignon (in hair)
@0,062 milliliter /nˈulːɑ/
minim
@he/she is
ő van
@to run
fut
@only a note
Note: nothing
""".split("@")
DICTD_ENTRIES = """\
Befehlszeile=command line|line of code|LOC
Haus=house
committee=комитет|комисия|съвет
髱|たぼ=chignon
0,062 milliliter=minim
he/she is=ő van
run=fut""".split("\n")


@pytest.mark.parametrize("pack", [True, False])
def test_dictd(tmp_path: Path, pack: bool) -> None:
    """Keys are no headwords, an entry that stands in the index several times is one, and notes translate nothing."""
    index = write_dictd(tmp_path, "freedict-deu-eng", DICTD, pack=pack)
    reasons = rf"5 {NOTES}; 2 lines of definitions .*; 1 {NONE}"
    for path in (index, tmp_path / f"freedict-deu-eng.dict{'.dz' if pack else ''}"):
        found = read_dictionary(path)
        assert (found.form, found.languages) == ("dictd", ("de", "en"))
        with leaves_out(rf"deu-eng.\S*: left out: {reasons}"):
            assert shown(found) == DICTD_ENTRIES


def test_dictd_whose_texts_do_not_begin_with_the_headword(tmp_path: Path) -> None:
    """As PyGlossary 5.0 writes it: headwords are keys alone, as they are, and each line is a translation."""
    rows, text = "", ""
    for keys, body in ((["ice cream", "icecream"], "Eis\n"), (["bank"], "Bank\n"), (["bank"], "Ufer\nBöschung\n")):
        rows += "".join(f"{key}\t{number(len(text.encode()))}\t{number(len(body.encode()))}\n" for key in keys)
        text += body
    (tmp_path / "eng-deu.dict").write_text(text, "utf-8")
    found = shown(read_dictionary(write(tmp_path, "eng-deu.index", rows)))
    assert found == ["ice cream|icecream=Eis", "bank=Bank", "bank=Ufer|Böschung"]


def test_broken_files_of_dictd(tmp_path: Path) -> None:
    index, text = write_dictd(tmp_path, "x", ["a\nb\n"]), tmp_path / "x.dict.dz"
    whole = index.read_text()
    for row, message in (
        ("bad\t!\tB\n", r"x.index:5: 'bad\\t!\\tB' is no row of an index \(a row is key TAB start"),
        ("bad\tZZ\tB\n", r"x.dict.dz: has no 1 bytes at 1,625, as its index says \(get all files"),
    ):
        index.write_text(whole + row)
        with refuses(message):
            shown(read_dictionary(index))
    index.write_text(whole)
    text.write_bytes(gzip.compress(b"abca\n\xff\n\n"))
    with refuses(r"x.dict.dz: is not valid UTF-8: 'a\\n\\xff\\n'"):
        shown(read_dictionary(index))
    text.unlink()
    with refuses(r"x.index: has no x.dict.dz or x.dict beside it \(a dictionary of dictd is"):
        read_dictionary(index)


SIDE = st.lists(st.text("abcäжй漢", min_size=1, max_size=4), min_size=1, max_size=4, unique=True)


@given(st.lists(st.tuples(SIDE, SIDE), min_size=1, max_size=5), st.booleans())
def test_whatever_dictd_has_is_read(
    tmp_path_factory: pytest.TempPathFactory, entries: list[tuple[list[str], list[str]]], numbered: bool
) -> None:
    bodies = []
    for heads, words in entries:
        glosses = "".join(f"{n}. {word}\n" for n, word in enumerate(words, 1)) if numbered else f"{', '.join(words)}\n"
        bodies.append(f"{', '.join(heads)} /x/ <n>\n{glosses}")
    found = shown(read_dictionary(write_dictd(tmp_path_factory.mktemp("d"), "x", bodies)))
    assert found == [f"{'|'.join(heads)}={'|'.join(words)}" for heads, words in entries]
