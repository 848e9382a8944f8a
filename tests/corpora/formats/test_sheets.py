"""Tables of people, read: separators, quotes, headers, encodings, and what is refused."""

import csv
import gzip
import io
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from readings import leaves_out, pairs, refuses, turned

from corpora.errors import BrokenLine
from corpora.readers import group_corpora, open_corpus

ROWS = [
    ["id", "en", "fr", "note"],
    ["1", 'He said "yes", twice', "Il a dit « oui »\u00a0; deux fois", "a;b"],
    ["2", "Two\nlines", "Deux\r\nlignes", ""],
    [],
    ["4", "", "sans source", ""],
]
PAIRS = ['He said "yes", twice|Il a dit « oui »\u00a0; deux fois', "Two lines|Deux lignes", "|", "|sans source"]


def write(
    folder: Path, rows: list[list[str]], name: str = "a.csv", encoding: str = "utf-8", separator: str = ",", **how: Any
) -> Path:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, **how).writerows(rows)
    content = text.getvalue().encode(encoding)
    (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return folder / name


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("form", ["utf-8 a.csv", "utf-8-sig A.CSV", "utf-16 a.csv", "utf-8 a.csv.gz"])
def test_rows_of_csv(tmp_path: Path, form: str, separator: str) -> None:
    encoding, name = form.split()
    path = write(tmp_path, ROWS, name, encoding, separator)
    for chosen in ({"columns": "en,fr"}, {"source": "en", "target": "fr"}, {"columns": "EN,Fr"}):
        assert pairs(path, **chosen) == PAIRS
    assert pairs(path, "fr,en") == turned(PAIRS)
    assert pairs(write(tmp_path, ROWS[1:], name, encoding, separator), "2,3") == PAIRS
    assert group_corpora([str(path), str(path)]) == [[str(path)], [str(path)]]


WORDS = st.lists(st.text("abcé'\"", min_size=1, max_size=4), min_size=1, max_size=4)
CLAUSES = st.lists(WORDS.map(" ".join), min_size=1, max_size=3).map(", ".join) | WORDS.map("; ".join)


@given(st.lists(st.tuples(CLAUSES, CLAUSES), min_size=1, max_size=6), st.sampled_from(",;\t|"), st.booleans())
def test_punctuation_of_text_separates_no_columns(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], separator: str, every: bool
) -> None:
    """A blank follows commas and semicolons of text, whether or not cells have quotes."""
    quoting = csv.QUOTE_ALL if every else csv.QUOTE_MINIMAL
    path = write(tmp_path_factory.mktemp("t"), [[*row] for row in rows], separator=separator, quoting=quoting)
    assert pairs(path, "1,2") == [f"{' '.join(one.split())}|{' '.join(other.split())}" for one, other in rows]


def test_a_separator_that_is_stated(tmp_path: Path) -> None:
    """As Excel reads it; it is no row."""
    path = tmp_path / "a.csv"
    for content, expected in (
        (b'sep=;\r\n"a,b,c";d\r\ne,f,g;h\r\n', ["a,b,c|d", "e,f,g|h"]),
        (b"sep=text,b\nc,d\n", ["sep=text|b", "c|d"]),
    ):
        path.write_bytes(content)
        assert pairs(path, "1,2") == expected


def test_what_is_wrong_with_rows_and_names(tmp_path: Path) -> None:
    wrong = [["5", "too short"], ["6", "a text", "of two", "cells", "more"], ["7", "good", "bon"]]
    path = write(tmp_path, [*ROWS, *wrong])
    texts = open_corpus(path, columns=("en", "fr")).texts()
    assert len([next(texts) for _ in PAIRS]) == 4
    with refuses(r"a.csv:6: has no column 3, only 2", BrokenLine):
        next(texts)
    with refuses(r"a.csv:7: has 5 cells, but the first row has 4 \(is the text of a cell in", BrokenLine):
        next(texts)
    assert next(texts) == (8, b"good", b"bon")
    for columns, message in (
        ("en,de", "has no column 'de', but id, en, fr, note"),
        ("", "has the columns id, en, fr, note"),
        ("2,3", "a.csv:1: has names of columns, not text"),
        ("0,3", "has no column 3"),
    ):
        with refuses(message):
            pairs(path, columns)
    with refuses("has more than one column 'en'"):
        pairs(write(tmp_path, [["en", "en", "fr"], ["a", "b", "c"]]), "en,fr")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'en,fr\na,"b\nc,d\n', "a.csv:2: is no CSV: unexpected end of data"),
        (b'en,fr\na,"b"c\n', "a.csv:2: is no CSV: "), (b"en,fr\na,\xe9t\xe9\n", "not valid UTF-8"),
        (b"", "has no column 'en'"),
    ],
)  # fmt: skip
def test_broken_files_are_refused_in_a_line(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    with refuses(message):
        pairs(tmp_path / "a.csv", "en,fr")


def test_two_columns_need_no_choice_where_the_first_row_is_clear(tmp_path: Path) -> None:
    """It is names, a pair, or refused with both ways to take it: no pair is lost, and no name becomes one."""

    def of(*first: str) -> Path:
        return write(tmp_path, [[*first], ["one", "deux"], ["a b", "c"]])

    path = write(tmp_path, [["Target", "source"], ["b", "a"]])
    assert pairs(path) == pairs(path, source="en", target="fr") == ["a|b"]
    for names in ("Greek,English", "el,en-GB", "Source text,target_text", "English (UK),Greek"):
        path = of(*names.split(","))
        with leaves_out(f"1 first row, taken as the names of columns, {re.escape(names.split(',')[0])}"):
            assert pairs(path) == ["one|deux", "a b|c"]
        assert len(pairs(path, ",".join(names.upper().split(",")))) == 2
    for text in ("How are you today ?|Ça va ?", "Yes.|Oui", "|x", "chapter 1|chapitre"):
        assert pairs(of(*text.split("|")))[0] == text
    assert pairs(of("en", "Wie geht es dir heute ?"), source="en")[0] == "en|Wie geht es dir heute ?"
    path = of("Term", "Translation, checked")
    with refuses(r'a.csv:1: has two columns, .* \(choose `columns` Term,"Translation, checked", or 1,2\)'):
        pairs(path)
    assert len(pairs(path, "Term,Translation, checked")) == 2
    assert len(pairs(path, "1,2")) == 3


def test_languages_choose_columns(tmp_path: Path) -> None:
    path = write(tmp_path, [["n", "Greek", "English", "English notes"], ["1", "a", "b", "c"]])
    for source, target in (("Greek", "English"), ("el", "English"), ("greek", "ENGLISH")):
        assert pairs(path, source=source, target=target) == ["a|b"]
    path = write(tmp_path, [["Ελληνικά", "English"], ["a", "b"]])
    for one, other, pair in (("el", "en", "a|b"), (None, "en", "a|b"), ("x", "English", "a|b"), ("en", None, "b|a")):
        with leaves_out("1 first row"):
            assert pairs(path, source=one, target=other) == [pair]
    with refuses("has the columns German, English"):
        pairs(write(tmp_path, [["German", "English"], ["a", "b"]]), source="fr", target="en")


def test_lines_with_tabs_may_have_names(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("id\ten\tfr\n1\ta \"b\tc\n\n3\t''=d\te\n", "utf-8")
    assert pairs(path, "EN,fr") == pairs(path, source="en", target="fr") == ['a "b|c', "|", "=d|e"]
    with refuses(r"has the columns id, en, fr \(choose those .*, or by number"):
        open_corpus(path)
    path.write_text("en\tfr\na\tb\n", "utf-8")
    assert list(open_corpus(path, columns=("en", "fr")).texts()) == [(2, b"a", b"b")]
