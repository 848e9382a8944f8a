"""Glossaries in each form: terms of the right languages, all synonyms of a concept, and what is left out."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from readings import leaves_out, refuses

from corpora.formats.sheets import write_rows
from corpora.formats.tbx import write_tbx
from corpora.glossaries import read_glossary
from corpora.normalize import Normalizer

ENTRIES = [(["State", "aid"], ["aides", "d'", "État"]), (["state"], ["État"])]


def write(folder: Path, name: str, content: str, encoding: str = "utf-8") -> Path:
    (folder / name).write_bytes(content.encode(encoding))
    return folder / name


def test_lines(tmp_path: Path) -> None:
    path = write(tmp_path, "g.tsv", "source\ttarget\nState aid\taides d' État\t3\nstate ||| État\n\naid\t''-aide\n")
    assert read_glossary(path) == [*ENTRIES, (["aid"], ["-aide"])]
    path = write(tmp_path, "g.tsv", "id\tFrench\ten\n1\taides d' État\tState aid\n2\tÉtat\tstate\n")
    for languages in (("en", "fr"), ("English", "fr-CA"), ("en", "xx")):
        assert read_glossary(path, languages) == ENTRIES


@pytest.mark.parametrize(
    ("content", "line"), [("a\tb\nc\n", 2), ("<html>", 1), ("just text\n", 1), ("a\tb\n\udcff\tb\n", 2)]
)
def test_what_is_no_glossary(tmp_path: Path, content: str, line: int) -> None:
    (tmp_path / "g").write_bytes(content.encode("utf-8", "surrogateescape"))
    with refuses(rf"g:{line}: .*(a glossary is TBX, CSV, XLSX, .*source TAB target|not valid UTF-8)"):
        read_glossary(tmp_path / "g")
    with refuses(r"e: has no term with a translation \(a glossary is TBX"):
        read_glossary(write(tmp_path, "e", ""))


@pytest.mark.parametrize("separator", ",;\t")
@pytest.mark.parametrize(
    "names", ["", "French{}English{}note\n", "id{}fr{}en\n", "Target{}Source{}x\n", "notes{}de{}fr{}en\n"]
)
def test_tables(tmp_path: Path, separator: str, names: str) -> None:
    """With or without names in the first row, which say the direction."""
    rows = [["State aid", "aides d' État", "x"], ["state", "État", ""]]
    if names:
        cells = names.strip().split("{}")
        french, english = (
            next(n for n, cell in enumerate(cells) if cell in of)
            for of in (("French", "fr", "Target"), ("English", "en", "Source"))
        )
        rows = [[row[1] if n == french else row[0] if n == english else "7" for n in range(len(cells))] for row in rows]
        rows.insert(0, cells)
    path = write(tmp_path, "g.csv", "".join(separator.join(row) + "\r\n" for row in rows), "utf-8-sig")
    assert read_glossary(path, ("en", "fr")) == ENTRIES
    stream = io.BytesIO()
    write_rows(stream, "xlsx", rows[0], rows[1:])
    (tmp_path / "g.xlsx").write_bytes(stream.getvalue())
    assert read_glossary(tmp_path / "g.xlsx", ("en", "fr")) == ENTRIES


def test_several_languages_in_a_table_need_those_of_the_text(tmp_path: Path) -> None:
    path = write(tmp_path, "g.csv", "en,fr,de\nhouse,maison,Haus\n")
    assert read_glossary(path, ("de", "en")) == [(["Haus"], ["house"])]
    with refuses("has the columns en, fr, de"):
        read_glossary(path)


def test_a_row_without_one_side_is_told(tmp_path: Path) -> None:
    for name, between in (("g.csv", ","), ("g.tsv", "\t")):
        path = write(
            tmp_path,
            name,
            f"en{between}fr\nState aid{between}aides d' État\nno{between}\n{between}\nstate{between}État\n",
        )
        with leaves_out("left out: 1 entries without a term in both languages"):
            assert read_glossary(path, ("en", "fr")) == ENTRIES


def test_memories_and_objects(tmp_path: Path) -> None:
    units = "".join(
        f'<tu><tuv xml:lang="FR"><seg>{" ".join(two)}</seg></tuv>'
        f'<tuv xml:lang="en-GB"><seg>{" ".join(one)}</seg></tuv></tu>'
        for one, two in ENTRIES
    )
    path = write(tmp_path, "g.tmx", f'<tmx version="1.4"><header/><body>{units}</body></tmx>')
    for languages in (("en", "fr"), ("en", None), ("en-gb", "fr-CA"), ("src", "fr")):
        assert read_glossary(path, languages) == ENTRIES
    path = write(tmp_path, "g.jsonl", '{"en": "State aid", "fr": "aides d\' État"}\n{"en": "state", "fr": "État"}\n')
    assert read_glossary(path) == read_glossary(path, ("en", "fr")) == ENTRIES


V2 = (
    '<?xml version="1.0" encoding="{}"?>\n<!DOCTYPE martif SYSTEM "TBXcoreStructV02.dtd">\n<martif type="TBX" '
    'xml:lang="en-US"><martifHeader><fileDesc/></martifHeader><text><body>{}</body></text></martif>'
)
V3 = (
    '<tbx style="dca" type="TBX-Basic" xml:lang="en" xmlns="urn:iso:std:iso:30042:ed-2">'
    "<text><body>{}</body></text></tbx>"
)


def concept(terms: list[tuple[str, list[str]]], names: str = "termEntry langSet ntig") -> str:
    entry, language, tig = names.split()
    of_term = '<term>{}</term><termNote type="x">n</termNote>'
    of_term = f"<{tig}>{f'<termGrp>{of_term}</termGrp>' if tig == 'ntig' else of_term}</{tig}>"
    sides = (
        f'<{language} xml:lang="{code}"><note>no term</note>{"".join(map(of_term.format, of))}</{language}>'
        for code, of in terms
    )
    return f"<{entry}>{''.join(sides)}</{entry}>"


@pytest.mark.parametrize("names", ["termEntry langSet ntig", "termEntry langSet tig", "conceptEntry langSec termSec"])
def test_termbases(tmp_path: Path, names: str) -> None:
    """Every term of a concept is translated by each of the other language, in whatever variant of the languages."""
    terms = [("en-US", ["house", "<hi>home</hi>"]), ("fr-FR", ["maison"]), ("en-GB", ["dwelling"]), ("fr", ["logis"])]
    body = concept(terms, names) + concept([("en", ["no"])], names) + concept([("de", ["Haus"])], names)
    expected = {(one, two) for one in ("house", "home", "dwelling") for two in ("maison", "logis")}
    whole = V3.format(body) if "termSec" in names else V2.format("UTF-16", body)
    path = write(tmp_path, "g.tbx", whole, "utf-8" if "termSec" in names else "utf-16")
    with leaves_out("2 entries without a term in both languages"):
        assert {(one[0], two[0]) for one, two in read_glossary(path, ("en", "fr"))} == expected
    with refuses(r"has 6 languages, .* \(name the languages of the text by `source`"):
        read_glossary(path)


def test_terms_that_are_not_to_be_used(tmp_path: Path) -> None:
    body = concept([("en", ["house"]), ("fr", ["maison", "baraque"])], "termEntry langSet tig")
    status = '<termNote type="administrativeStatus">deprecatedTerm-admn-sts</termNote>'
    path = write(tmp_path, "g", V2.format("UTF-8", body.replace("baraque</term>", f"baraque</term>{status}")))
    with leaves_out("1 terms that are not to be used, being deprecated"):
        assert read_glossary(path) == [(["house"], ["maison"])]


WORDS = st.lists(st.text("ab=+é", min_size=1, max_size=3), min_size=1, max_size=2).map(" ".join)
CONCEPTS = st.lists(st.tuples(*[st.lists(WORDS, min_size=1, max_size=2)] * 2), min_size=1, max_size=4)


@given(CONCEPTS, st.sampled_from([("en", "fr"), ("x-source", "x-target"), ("zh-Hant", "ja")]))
def test_termbases_that_are_written_are_read(
    tmp_path_factory: pytest.TempPathFactory, concepts: list[tuple[list[str], list[str]]], codes: tuple[str, str]
) -> None:
    path = tmp_path_factory.mktemp("t") / "g.tbx"
    with path.open("wb") as stream:
        write_tbx(stream, "x", "en", [[*zip(codes, sides, strict=True)] for sides in concepts])
    expected = [(a.split(), b.split()) for one, two in concepts for a in one for b in two]
    assert read_glossary(path) == read_glossary(path, codes) == expected


def test_a_glossary_is_split_as_the_text_is(tmp_path: Path) -> None:
    path = write(tmp_path, "g", "a,\tc!\n")
    sides = Normalizer(tokenize=True), Normalizer()
    assert read_glossary(path, normalizers=sides) == [(["a", ","], ["c!"])]
