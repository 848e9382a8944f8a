"""Tables of people, read: separators, quotes, headers, encodings, and what is refused."""

from __future__ import annotations

import csv
import gzip
import io
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.errors import BrokenLine, CorpusError
from corpora.left_out import LeftOut
from corpora.readers import group_corpora, open_corpus

ROWS = [
    ["id", "en", "fr", "note"],
    ["1", 'He said "yes", twice', "Il a dit « oui »\u00a0; deux fois", "a;b"],
    ["2", "Two\nlines", "Deux\r\nlignes", ""],
    [],
    ["4", "", "sans source", ""],
]
PAIRS = [
    ('He said "yes", twice', "Il a dit « oui »\u00a0; deux fois"), ("Two lines", "Deux lignes"), ("", ""),
    ("", "sans source"),
]  # fmt: skip


def write(
    folder: Path, rows: list[list[str]], name: str = "a.csv", encoding: str = "utf-8", separator: str = ","
) -> Path:
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows(rows)
    path = folder / name
    content = text.getvalue().encode(encoding)
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def pairs(
    path: Path, columns: tuple[str, str] | None = ("en", "fr"), source: str | None = None, target: str | None = None
) -> list[tuple[str, str]]:
    texts = list((corpus := open_corpus(path, columns=columns, source=source, target=target)).texts())
    assert [text for number in (1, 2, 3) for text in corpus.shard(number, 3).texts()] == texts
    return [(one.decode(), other.decode()) for _, one, other in texts]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("form", ["utf-8 a.csv", "utf-8-sig A.CSV", "utf-16 a.csv", "utf-8 a.csv.gz"])
def test_rows_of_csv(tmp_path: Path, form: str, separator: str) -> None:
    encoding, name = form.split()
    path = write(tmp_path, ROWS, name, encoding, separator)
    assert pairs(path) == pairs(path, None, source="en", target="fr") == pairs(path, ("EN", "Fr")) == PAIRS
    assert pairs(path, ("fr", "en")) == [pair[::-1] for pair in PAIRS]
    assert pairs(write(tmp_path, ROWS[1:], name, encoding, separator), ("2", "3")) == PAIRS
    assert group_corpora([str(path), str(path)]) == [[str(path)], [str(path)]]


WORDS = st.lists(st.text("abcé'\"", min_size=1, max_size=4), min_size=1, max_size=4)
CLAUSES = st.lists(WORDS.map(" ".join), min_size=1, max_size=3).map(", ".join) | WORDS.map("; ".join)


@settings(deadline=None)
@given(st.lists(st.tuples(CLAUSES, CLAUSES), min_size=1, max_size=6), st.sampled_from(",;\t|"), st.booleans())
def test_punctuation_of_text_separates_no_columns(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], separator: str, every: bool
) -> None:
    """A blank follows commas and semicolons of text, whether or not cells have quotes."""
    text = io.StringIO()
    csv.writer(text, delimiter=separator, quoting=csv.QUOTE_ALL if every else csv.QUOTE_MINIMAL).writerows(rows)
    path = tmp_path_factory.mktemp("t") / "a.csv"
    path.write_bytes(text.getvalue().encode())
    assert pairs(path, ("1", "2")) == [(" ".join(one.split()), " ".join(other.split())) for one, other in rows]


def test_a_separator_that_is_stated(tmp_path: Path) -> None:
    """As Excel reads it; it is no row."""
    path = tmp_path / "a.csv"
    path.write_bytes(b'sep=;\r\n"a,b,c";d\r\ne,f,g;h\r\n')
    assert list(open_corpus(path, columns=("1", "2")).texts()) == [(1, b"a,b,c", b"d"), (2, b"e,f,g", b"h")]
    path.write_bytes(b"sep=text,b\nc,d\n")
    assert list(open_corpus(path, columns=("1", "2")).texts()) == [(1, b"sep=text", b"b"), (2, b"c", b"d")]


def test_what_is_wrong_with_rows_and_names(tmp_path: Path) -> None:
    path = write(
        tmp_path, [*ROWS, ["5", "too short"], ["6", "a text", "of two", "cells", "more"], ["7", "good", "bon"]]
    )
    corpus = open_corpus(path, columns=("en", "fr")).texts()
    for _ in PAIRS:
        next(corpus)
    with pytest.raises(BrokenLine, match=r"a.csv:6: has no column 3, only 2"):
        next(corpus)
    with pytest.raises(BrokenLine, match=r"a.csv:7: has 5 cells, but the first row has 4 \(is the text of a cell in"):
        next(corpus)
    assert next(corpus) == (8, b"good", b"bon")
    for columns, message in (
        (("en", "de"), "has no column 'de', but id, en, fr, note"),
        (None, "has the columns id, en, fr, note"),
        (("2", "3"), "a.csv:1: has names of columns, not text"),
        (("0", "3"), "has no column 3"),
    ):
        with pytest.raises(CorpusError, match=message):
            pairs(path, columns)
    with pytest.raises(CorpusError, match="has more than one column 'en'"):
        pairs(write(tmp_path, [["en", "en", "fr"], ["a", "b", "c"]]))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'en,fr\na,"b\nc,d\n', "a.csv:2: is no CSV: unexpected end of data"),
        (b'en,fr\na,"b"c\n', "a.csv:2: is no CSV: "),
        (b"en,fr\na,\xe9t\xe9\n", "not valid UTF-8"),
        (b"", "has no column 'en'"),
    ],
)
def test_broken_files_are_refused_in_a_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=message):
        pairs(path)


def test_two_columns_need_no_choice_where_the_first_row_is_clear(tmp_path: Path) -> None:
    """It is names, a pair, or refused with both ways to take it: no pair is lost, and no name becomes one."""
    rows = [["one", "deux"], ["a b", "c"]]
    path = write(tmp_path, [["Target", "source"], ["b", "a"]])
    assert pairs(path, None) == pairs(path, None, source="en", target="fr") == [("a", "b")]
    for names in (["Greek", "English"], ["el", "en-GB"], ["Source text", "target_text"], ["English (UK)", "Greek"]):
        path = write(tmp_path, [names, *rows])
        with pytest.warns(LeftOut, match=f"1 first row, taken as the names of columns, {re.escape(names[0])}"):
            assert [text[1:] for text in open_corpus(path).texts()] == [(b"one", b"deux"), (b"a b", b"c")]
        assert len(pairs(path, (names[1].upper(), names[0].lower()))) == 2
    for text in (["How are you today ?", "Ça va ?"], ["Yes.", "Oui"], ["", "x"], ["chapter 1", "chapitre"]):
        assert pairs(write(tmp_path, [text, *rows]), None)[0] == tuple(text)
    text = ["en", "Wie geht es dir heute ?"]
    assert pairs(write(tmp_path, [text, *rows]), None, source="en")[0] == tuple(text)
    path = write(tmp_path, [["Term", "Translation, checked"], *rows])
    hint = r'a.csv:1: has two columns, .* \(choose `columns` Term,"Translation, checked", or 1,2\)'
    with pytest.raises(CorpusError, match=hint):
        pairs(path, None)
    assert len(pairs(path, ("Term", "Translation, checked"))) == 2
    assert len(pairs(path, ("1", "2"))) == 3


def test_languages_choose_columns(tmp_path: Path) -> None:
    path = write(tmp_path, [["n", "Greek", "English", "English notes"], ["1", "a", "b", "c"]])
    for source, target in (("Greek", "English"), ("el", "English"), ("greek", "ENGLISH")):
        assert pairs(path, None, source, target) == [("a", "b")]
    two = write(tmp_path, [["Ελληνικά", "English"], ["a", "b"]])
    for source, target, pair in (("el", "en", "ab"), (None, "en", "ab"), ("x", "English", "ab"), ("en", None, "ba")):
        with pytest.warns(LeftOut, match="1 first row"):
            assert pairs(two, None, source, target) == [(pair[0], pair[1])]
    with pytest.raises(CorpusError, match="has the columns German, English"):
        pairs(write(tmp_path, [["German", "English"], ["a", "b"]]), None, "fr", "en")


def test_lines_with_tabs_may_have_names(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("id\ten\tfr\n1\ta \"b\tc\n\n3\t''=d\te\n", "utf-8")
    expected = [(2, b'a "b', b"c"), (3, b"", b""), (4, b"=d", b"e")]
    assert list(open_corpus(path, columns=("EN", "fr")).texts()) == expected
    assert list(open_corpus(path, source="en", target="fr").texts()) == expected
    with pytest.raises(CorpusError, match=r"has the columns id, en, fr \(choose those .*, or by number"):
        open_corpus(path)
    path.write_text("en\tfr\na\tb\n", "utf-8")
    assert list(open_corpus(path, columns=("en", "fr")).texts()) == [(2, b"a", b"b")]
