"""Dictionaries of StarDict, in XML, in word lists, of Toolbox and of Wiktionary: exact entries, and broken files."""

from __future__ import annotations

import gzip
import json
import warnings
from pathlib import Path

import pytest

from corpora.dictionaries import Dictionary, read_dictionary
from corpora.errors import BrokenLine, CorpusError
from corpora.left_out import LeftOut


def write(folder: Path, name: str, content: str) -> Path:
    (folder / name).write_text(content, "utf-8")
    return folder / name


def read(dictionary: Dictionary) -> list[str]:
    """The entries as ``headword|headword=translation|translation``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOut)
        return [f"{'|'.join(entry.headwords)}={'|'.join(entry.translations)}" for entry in dictionary.entries]


def write_stardict(folder: Path, ifo: str, bodies: dict[str, bytes], width: int = 4, syn: bytes = b"") -> Path:
    index, text = b"", b""
    for word, body in bodies.items():
        index += word.encode() + b"\0" + len(text).to_bytes(width, "big") + len(body).to_bytes(4, "big")
        text += body
    (folder / "en-zh.idx.gz").write_bytes(gzip.compress(index))
    (folder / "en-zh.dict.dz").write_bytes(gzip.compress(text))
    (folder / "en-zh.syn").write_bytes(syn)
    return write(folder, "en-zh.ifo", f"StarDict's dict ifo file\nversion=2.4.2\n{ifo}\n")


@pytest.mark.parametrize(
    ("ifo", "body"),
    [
        ("sametypesequence=m", "*['haus]\nn. 房子, 住宅\nvt. 收藏"),
        ("sametypesequence=tm", "haus\0房子, 住宅\n收藏"),
        ("sametypesequence=h", "<b>房子</b> &lt;n&gt;,<br/>住宅<p>收藏</p>"),
        ("sametypesequence=x", "<k>house</k>\n<dtrn>房子, 住宅</dtrn><dtrn>收藏</dtrn><ex>his house</ex>"),
        ("sametypesequence=g", "<i>房子</i>\n住宅;收藏"),
        ("sametypesequence=m\nidxoffsetbits=64", "1. 房子, 住宅\na building\n2. 收藏"),
        ("", "thaus\0m房子, 住宅; 收藏\0W\0\0\0\2xx"),
    ],
)
def test_stardict(tmp_path: Path, ifo: str, body: str) -> None:
    bodies = {
        "house": body.encode(),
        "to go": b"m\xe5\x8e\xbb\0" if not ifo else b"haus\0\xe5\x8e\xbb"[5 * ("tm" not in ifo) :],
    }
    syn = b"home\0\0\0\0\0"
    path = write_stardict(tmp_path, ifo, bodies, 8 if "64" in ifo else 4, syn)
    for name in ("en-zh.ifo", "en-zh.dict.dz", "en-zh.idx.gz"):
        found = read_dictionary(tmp_path / name)
        assert (found.form, found.languages) == ("StarDict", ("en", "zh"))
        assert read(found) == ["house|home=房子|住宅|收藏", "go=去"]
    (tmp_path / "en-zh.idx").write_bytes(b"house\0\0\0")
    with pytest.raises(CorpusError, match=r"en-zh.idx: ends within an entry \(get all files of one version\)"):
        read(read_dictionary(path))
    (tmp_path / "en-zh.dict.dz").unlink()
    with pytest.raises(CorpusError, match=r"en-zh.ifo: has no en-zh.dict.dz or en-zh.dict beside it"):
        read_dictionary(path)


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


def test_jmdict(tmp_path: Path) -> None:
    path = write(tmp_path, "JMdict", JMDICT)
    for languages, expected in (
        ((None, None), ["加工|かこう=manufacturing", "アシェイムド=ashamed"]),
        (("ja", "de"), ["加工|かこう=Verarbeitung|Bearbeitung"]),
        (("German", "ja"), ["加工|かこう=Verarbeitung|Bearbeitung"]),
    ):
        found = read_dictionary(path, languages)
        assert (found.form, found.languages[0]) == ("JMdict", "ja")
        assert read(found) == expected
    reasons = "1 glosses of more than 6 words.*; 1 glosses in other languages"
    with pytest.warns(LeftOut, match=reasons):
        assert [*read_dictionary(path).entries]


@pytest.mark.parametrize("entity", ['n "a&amp;b"', 'n SYSTEM "f"', f'n "{"a" * 201}"', '% n "a"'])
def test_entities_that_are_no_short_text_are_refused(tmp_path: Path, entity: str) -> None:
    path = write(tmp_path, "x", JMDICT.replace('n "noun (common) (futsuumeishi)"', entity))
    with pytest.raises(CorpusError, match=r"x:5: has an entity of its own, 'n', which no such file needs"):
        read(read_dictionary(path))


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


def test_apertium(tmp_path: Path) -> None:
    path = write(tmp_path, "apertium-eng-spa.eng-spa.dix", DIX)
    found = read_dictionary(path)
    assert (found.form, found.languages) == ("Apertium", ("en", "es"))
    assert read(found) == ["ice cream=helado", "take out=sacar", "radio=radio", "realise|realize=realizar"]
    reasons = "1 entries of patterns.*; 1 entries that are to be ignored; 1 entries without a translation"
    with pytest.warns(LeftOut, match=reasons):
        assert [*read_dictionary(path).entries]
    with pytest.raises(CorpusError, match=r"m: is a dictionary of one language.* \(give the one of two languages"):
        read(read_dictionary(write(tmp_path, "m", DIX.replace("<e><i>", '<e lm="radio"><i>'))))
    with pytest.raises(CorpusError, match=r"d:11: is no whole Apertium file"):
        read(read_dictionary(write(tmp_path, "d", DIX.replace("</dictionary>", ""))))


def lift_form(name: str, language: str, text: str) -> str:
    return f'<{name}><form lang="{language}"><text>{text}</text></form></{name}>'


def test_lift(tmp_path: Path) -> None:
    glosses = {"en": "house; (old) home", "pt": "casa"}
    sense = "".join(f'<gloss lang="{code}"><text>{text}</text></gloss>' for code, text in glosses.items())
    sense = f"<sense>{sense}</sense>"
    forms = lift_form("lexical-unit", "seh", "nyumba") + lift_form("variant", "seh", "numba")
    phonetic = lift_form("variant", "seh-fonipa", "ɲumba")
    short = f"<sense>{lift_form('definition', 'en', 'to go')}</sense>"
    long = f"<sense>{lift_form('definition', 'en', 'what a person does on the way')}</sense>"
    entries = (
        f"<entry>{forms}{phonetic}{sense}</entry><entry>{lift_form('lexical-unit', 'seh', 'enda')}{short}{long}</entry>"
    )
    path = write(tmp_path, "x.lift", f'<?xml version="1.0"?><lift version="0.13">{entries}</lift>')
    for languages in ((None, None), ("seh", "en"), ("en-GB", "seh")):
        found = read_dictionary(path, languages)
        assert (found.form, found.languages) == ("LIFT", ("seh", "en"))
        assert read(found) == ["nyumba|numba=house|home", "enda=go"]
    assert read(read_dictionary(path, ("seh", "pt"))) == ["nyumba|numba=casa"]
    with pytest.raises(CorpusError, match=r"x.lift: has translations in en, pt \(name the languages of the text by"):
        read_dictionary(path, ("fr", "de"))


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


def test_mdf(tmp_path: Path) -> None:
    path = write(tmp_path, "x.db", MDF.replace("\n", "\r\n"))
    found = read_dictionary(path)
    assert (found.form, found.languages) == ("MDF", (None, "en"))
    assert read(found) == ["haus|hous=house|home|dwelling|sit down on it", "haus sik=hospital"]
    with pytest.warns(LeftOut, match="1 entries without a translation"):
        assert [*read_dictionary(path).entries]
    assert read(read_dictionary(path, ("tpi", "id"))) == ["haus|hous=rumah", "haus sik=rumah sakit"]
    path.write_bytes(MDF.replace("rumah", "\xff", 1).encode("latin-1"))
    with pytest.raises(BrokenLine, match=r"x.db:8: not valid UTF-8 \(convert it to UTF-8"):
        read_dictionary(path)
    with pytest.raises(CorpusError, match=r"y: has no glosses .* \(mark them so, as MDF does\)"):
        read_dictionary(write(tmp_path, "y", "\\lx a\n\\ps n\n"))


def test_word_lists(tmp_path: Path) -> None:
    found = read_dictionary(write(tmp_path, "en-fr.txt", "house maison\nhouse foyer\ncat\tchat\n"))
    assert (found.form, found.languages) == ("MUSE", ("en", "fr"))
    assert read(found) == ["house=maison", "house=foyer", "cat=chat"]
    lexicon = "house maison 0.5\nNULL de 0.25\ncat chat 1.0000000\na b 0.0\n"
    for name, expected in (("lex.f2e", ("maison", "house")), ("lex.e2f", ("house", "maison"))):
        found = read_dictionary(write(tmp_path, name, lexicon))
        assert found.form == "Moses lexicon"
        with pytest.warns(LeftOut, match="1 lines of words without a translation; 1 lines of a probability of 0"):
            entries = [*found.entries]
        assert entries[0] == ((expected[0],), (expected[1],), 0.5)
        assert entries[1].weight == 1.0
    rows = "source\ttarget\tcount\tp(target|source)\tp(source|target)\nhouse\tmaison\t3\t0.75\t1\nNULL\tde\t1\t1\t1\n"
    found = read_dictionary(write(tmp_path, "l.tsv", rows))
    assert found.form == "lexicon"
    with pytest.warns(LeftOut):
        assert [*found.entries] == [(("house",), ("maison",), 0.75)]
    with pytest.raises(BrokenLine, match=r"m:32: 'one' is no line of this list \(each line has two words"):
        read(read_dictionary(write(tmp_path, "m", "a b\n" * 31 + "one\n")))


WIKTIONARY = [
    {"word": "house", "lang_code": "en", "pos": "noun", "forms": [{"form": "houses", "tags": ["plural"]},
     {"form": "no-table-tags", "tags": ["table-tags"]}, {"form": "more house", "tags": ["comparative"]}],
     "senses": [{"glosses": ["A building."], "translations": [{"lang_code": "fr", "word": "maison"}]}],
     "translations": [{"code": "de", "word": "Haus"}, {"lang": "French", "lang_code": "fr", "word": "logis"},
     {"lang_code": "de", "note": "please add"}]},
    {"word": "Häuser", "lang_code": "de", "senses": [{"glosses": ["plural of Haus"], "tags": ["form-of"]}]},
    {"word": "gehen", "lang_code": "de", "senses": [{"glosses": ["to move", "to walk, to go on foot"]}]},
    {"title": "x", "redirect": "house"},
]  # fmt: skip


def test_wiktionary(tmp_path: Path) -> None:
    content = "".join(f"{json.dumps(word, ensure_ascii=False)}\n" for word in WIKTIONARY)
    path = write(tmp_path, "raw.jsonl", content)
    for languages, expected in (
        (("en", "fr"), ["house|houses=logis|maison"]),
        (("fr", "en"), ["logis|maison=house|houses"]),
        (("en", "de"), ["house|houses=Haus", "walk|go on foot=gehen"]),
        (("de", "en"), ["Haus=house|houses", "gehen=walk|go on foot"]),
    ):
        found = read_dictionary(path, languages)
        assert (found.form, found.languages) == ("Wiktionary", languages)
        assert read(found) == expected
    found = read_dictionary(write(tmp_path, "de.jsonl", "".join(content.splitlines(keepends=True)[1:])))
    assert found.languages == ("de", "en")
    assert read(found) == ["gehen=walk|go on foot"]
    with pytest.raises(BrokenLine, match=r"b:5: '\{\"word\": 1\}' is no word of Wiktionary \(a line is an object with"):
        read_dictionary(write(tmp_path, "b", f'{content}{{"word": 1}}\n'))
