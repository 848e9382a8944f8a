"""Dictionaries in each format: the exact entries of small samples, and one line on broken ones."""

from __future__ import annotations

import gzip
import warnings
from base64 import b64encode
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.dictionaries import Dictionary, read_dictionary
from corpora.errors import BrokenLine, CorpusError
from corpora.left_out import LeftOut

Entries = list[tuple[list[str], list[str]]]


def write(folder: Path, name: str, content: str, encoding: str = "utf-8") -> Path:
    (folder / name).write_bytes(content.encode(encoding))
    return folder / name


def pairs(dictionary: Dictionary) -> Entries:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOut)
        return [([*entry.headwords], [*entry.translations]) for entry in dictionary.entries]


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


DICTD = [
    "Befehlszeile /bəfˈeːlstsaɪlə/ <fem, n, sg>\n [comp.] command line <n>, line of code <n>LOC,  /lˈoːk/\n"
    '         Note: of code\n      "eine Zeile"  - one line\n   Synonyms: {Zeile}\n\n see: {Zeile}\n\n',
    "Haus… /hˈaʊs/\nhouse …\n",
    "committee /[kɑmɪˈtiː]/ //kɒ// <n>\n1. комите́т, коми́сия\ngroup of persons\n2. съвет 2.\na council\n",
    " [news2]  髱 /(en)tʃˈaɪniːz/,  [ichi1] たぼ /tˈäbo̞/\n(noun (common) (futsuumeishi))\n{日本}chignon (in hair)\n",
    "0,062 milliliter /nˈulːɑ/\nminim\n",
    "he/she is\nő van\n",
    "to run\nfut\n",
    "only a note\nNote: nothing\n",
]
DICTD_ENTRIES: Entries = [
    (["Befehlszeile"], ["command line", "line of code", "LOC"]),
    (["Haus"], ["house"]),
    (["committee"], ["комитет", "комисия", "съвет"]),
    (["髱", "たぼ"], ["chignon"]),
    (["0,062 milliliter"], ["minim"]),
    (["he/she is"], ["ő van"]),
    (["run"], ["fut"]),
]


@pytest.mark.parametrize("pack", [True, False])
def test_dictd(tmp_path: Path, pack: bool) -> None:
    """Keys are no headwords, an entry that stands in the index several times is one, and notes translate nothing."""
    index = write_dictd(tmp_path, "freedict-deu-eng", DICTD, pack=pack)
    for path in (index, tmp_path / f"freedict-deu-eng.dict{'.dz' if pack else ''}"):
        found = read_dictionary(path)
        assert (found.form, found.languages) == ("dictd", ("de", "en"))
        assert pairs(found) == DICTD_ENTRIES
    reasons = r"5 notes and references to other entries; 2 lines of definitions .*; 1 entries without a translation"
    with pytest.warns(LeftOut, match=rf"deu-eng.index: left out: {reasons}"):
        assert len([*read_dictionary(index).entries]) == len(DICTD_ENTRIES)


def test_dictd_whose_texts_do_not_begin_with_the_headword(tmp_path: Path) -> None:
    """As PyGlossary 5.0 writes it: headwords are keys alone, as they are, and each line is a translation."""
    rows, text = "", ""
    for keys, body in ((["ice cream", "icecream"], "Eis\n"), (["bank"], "Bank\n"), (["bank"], "Ufer\nBöschung\n")):
        rows += "".join(f"{key}\t{number(len(text.encode()))}\t{number(len(body.encode()))}\n" for key in keys)
        text += body
    (tmp_path / "eng-deu.dict").write_text(text, "utf-8")
    found = pairs(read_dictionary(write(tmp_path, "eng-deu.index", rows)))
    assert found == [(["ice cream", "icecream"], ["Eis"]), (["bank"], ["Bank"]), (["bank"], ["Ufer", "Böschung"])]


def test_broken_files_of_dictd(tmp_path: Path) -> None:
    index = write_dictd(tmp_path, "x", ["a\nb\n"], "bad\t!\tB\n")
    with pytest.raises(BrokenLine, match=r"x.index:5: 'bad\\t!\\tB' is no row of an index \(a row is key TAB start"):
        [*read_dictionary(index).entries]
    index = write_dictd(tmp_path, "x", ["a\nb\n"], "bad\tZZ\tB\n")
    with pytest.raises(CorpusError, match=r"x.dict.dz: has no 1 bytes at 1,625, as its index says \(get all files"):
        [*read_dictionary(index).entries]
    index = write_dictd(tmp_path, "x", ["a\nb\n"])
    (tmp_path / "x.dict.dz").write_bytes(gzip.compress(b"abca\n\xff\n\n"))
    with pytest.raises(CorpusError, match=r"x.dict.dz: is not valid UTF-8: 'a\\n\\xff\\n'"):
        [*read_dictionary(index).entries]
    (tmp_path / "x.dict.dz").unlink()
    with pytest.raises(CorpusError, match=r"x.index: has no x.dict.dz or x.dict beside it \(a dictionary of dictd is"):
        read_dictionary(index)


WORDS = st.lists(st.text("abcäжй漢", min_size=1, max_size=4), min_size=1, max_size=4, unique=True)


@settings(deadline=None)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5), st.booleans())
def test_whatever_dictd_has_is_read(tmp_path_factory: pytest.TempPathFactory, entries: Entries, numbered: bool) -> None:
    bodies = []
    for heads, words in entries:
        glosses = "".join(f"{n}. {word}\n" for n, word in enumerate(words, 1)) if numbered else f"{', '.join(words)}\n"
        bodies.append(f"{', '.join(heads)} /x/ <n>\n{glosses}")
    found = pairs(read_dictionary(write_dictd(tmp_path_factory.mktemp("d"), "x", bodies)))
    assert found == entries


EDICT = """　？？？ /EDICT, dictionary files/Created: 2021-02-03/
加工 [かこう] /(n,vs) manufacturing/processing of goods/(n) (2) treatment/(P)/
ＬＰ [エルピー] /(n) (1) long-play (record)/LP/
アシェイムド /(adj-f) ashamed/
４℃ [しど] /
漢字;感字(iK) [かんじ(P);かんぢ(ik)] /(n) Chinese character/kanji/(P)/EntL1210280X/
"""


@pytest.mark.parametrize(("encoding", "pack"), [("utf-8", False), ("euc_jp", False), ("euc_jp", True)])
def test_edict(tmp_path: Path, encoding: str, pack: bool) -> None:
    path = write(tmp_path, "edict", EDICT, encoding)
    if pack:
        path.write_bytes(gzip.compress(path.read_bytes()))
    found = read_dictionary(path)
    assert (found.form, found.languages) == ("EDICT", ("ja", "en"))
    assert pairs(found) == [
        (["加工", "かこう"], ["manufacturing", "processing of goods", "treatment"]),
        (["LP", "エルピー"], ["long-play", "LP"]),
        (["アシェイムド"], ["ashamed"]),
        (["漢字", "感字", "かんじ", "かんぢ"], ["Chinese character", "kanji"]),
    ]
    path.write_bytes(EDICT.replace("アシェイムド /", "アシェイムド ").encode(encoding))
    with pytest.raises(BrokenLine, match=r"edict:4: .* is no entry \(an entry is KANJI \[kana\] /gloss/\)"):
        [*read_dictionary(path).entries]


CEDICT = """# CC-CEDICT
#! charset=UTF-8
% % [pa1] /percent (Tw)/
照相機 照相机 [zhao4 xiang4 ji1] /camera/CL:個|个[ge4],架[jia4]/
笞掠 笞掠 [chi1 lu:e4] /to flog/
䝔 獾 [huan1] /variant of 獾[huan1]/
笞掠 笞掠 [chi1 lu:e4] /(dialect) to whip/
"""


def test_cc_cedict(tmp_path: Path) -> None:
    """A word may stand on several lines, and both of its forms count."""
    path = write(tmp_path, "cedict_ts.u8", CEDICT.replace("\n", "\r\n"))
    found = read_dictionary(path)
    assert (found.form, found.languages) == ("CC-CEDICT", ("zh", "en"))
    flog: Entries = [(["笞掠"], ["flog"]), (["笞掠"], ["whip"])]
    assert pairs(found) == [(["%"], ["percent"]), (["照相機", "照相机"], ["camera"]), *flog]
    with pytest.warns(LeftOut, match="2 notes and references to other entries; 1 entries without a translation"):
        [*read_dictionary(path).entries]
    with pytest.raises(BrokenLine, match=r"x:8: 'nothing' is no entry \(an entry is TRADITIONAL SIMPLIFIED"):
        [*read_dictionary(write(tmp_path, "x", CEDICT + "nothing\n")).entries]


def test_lines(tmp_path: Path) -> None:
    """Words as they are written, with weights; comments may be above them."""
    text = "﻿# my words\n#\nhouse\tmaison\n\ngive up ||| renoncer ||| 2\r\na (b)\t{c}\t0.5\n#\tnumber\n"
    found = read_dictionary(write(tmp_path, "en-fr.txt", text))
    assert (found.form, found.languages) == ("lines", ("en", "fr"))
    assert [*found.entries] == [
        (("house",), ("maison",), 1.0),
        (("give up",), ("renoncer",), 2.0),
        (("a (b)",), ("{c}",), 0.5),
        (("#",), ("number",), 1.0),
    ]
    with pytest.warns(
        LeftOut, match=r"l: left out: 1 entries of more than 64 words on a side \(give sentences as text"
    ):
        assert len([*read_dictionary(write(tmp_path, "l", f"a\tb\nb\t{'c ' * 65}\n")).entries]) == 1
    with pytest.raises(CorpusError, match=r"e: has no entry of a dictionary \(formats: StarDict, dictd, "):
        [*read_dictionary(write(tmp_path, "e", "")).entries]


@pytest.mark.parametrize(
    "line",
    ["a", "a\t", "\tb", "a\tb\tx", "a\tb\t0", "a\tb\t-1", "a\tb\tnan", "a\tb\t2e6", "a\tb\t1\t1", "a ||| ",
     "a\tb\udcff", "a\tb\t1_0", "a\tb\t١"],
)  # fmt: skip
def test_a_broken_line_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "D").write_bytes(b"a\tb\n" + line.encode("utf-8", "surrogateescape"))
    with pytest.raises(BrokenLine, match=r"D:2: .* is no entry of a dictionary .*source TAB target"):
        [*read_dictionary(tmp_path / "D").entries]


def test_dict_cc(tmp_path: Path) -> None:
    text = (
        "# DE-EN vocabulary database\tcompiled by dict.cc\n# Date\t2020\n\n(sich) Haus {n} [alt]\thouse <h.>\tnoun\t\n"
    )
    found = read_dictionary(write(tmp_path, "x.txt", text))
    assert (found.form, found.languages) == ("dict.cc", ("de", "en"))
    assert pairs(found) == [(["Haus"], ["house"])]
    with pytest.raises(BrokenLine, match=r"y:5: 'no' is no entry of dict.cc \(an entry is source TAB target"):
        [*read_dictionary(write(tmp_path, "y", f"{text}no\n")).entries]


def test_glossaries(tmp_path: Path) -> None:
    """Columns and languages are those of the text; `test_glossaries` has their formats."""
    path = write(tmp_path, "g.csv", "en,fr,de\nhouse,maison,Haus\nhouse,,\n,,Hof\n")
    for languages, entry in ((("de", "en"), ("Haus", "house")), (("en", "fr"), ("house", "maison"))):
        found = read_dictionary(path, languages)
        assert (found.form, found.languages) == ("glossary", languages)
        assert pairs(found)[0] == ([entry[0]], [entry[1]])
    with pytest.warns(LeftOut, match="1 entries without a term in both languages"):
        [*read_dictionary(path, ("en", "fr")).entries]
    assert pairs(read_dictionary(write(tmp_path, "t", "id\ten\tfr\n1\thouse\tmaison\n"))) == [(["house"], ["maison"])]
    terms = "".join(f'<langSet xml:lang="{one}"><tig><term>{one}</term></tig></langSet>' for one in ("en", "fr"))
    path = write(
        tmp_path, "g.tbx", f'<martif type="TBX"><text><body><termEntry>{terms}</termEntry></body></text></martif>'
    )
    assert pairs(read_dictionary(path, ("fr", "en"))) == [(["fr"], ["en"])]
