"""Source and target on one line, of columns or JSON objects; answers with text and scores; broken lines are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.errors import BrokenLine, CorpusError
from corpora.formats.columns import fields_of
from corpora.formats.joint import Columns, parse_joints, two_languages
from corpora.formats.jsonl import LINE, parse_jsonl
from corpora.links import PairLinks
from corpora.readers import open_corpus

TEXT = st.text(st.characters(exclude_characters="\t\n", exclude_categories=["Cs"])).map(str.strip)


@given(rows=st.lists(st.lists(TEXT, min_size=3, max_size=5), max_size=5), place=st.permutations([1, 2, 3]))
def test_columns(rows: list[list[str]], place: list[int]) -> None:
    columns = str(place[0]), str(place[1])
    lines = ["\t".join(row).encode() for row in rows]
    found = list(parse_joints(lines, "t", 5, columns))
    assert [number for number, *_ in found] == list(range(5, 5 + len(rows)))
    for (_, *sides), row in zip(found, rows, strict=True):
        assert sides == [row[column - 1].encode().strip() for column in place[:2]]


@given(pairs=st.lists(st.tuples(TEXT, TEXT), max_size=5), nested=st.booleans(), ascii_=st.booleans())
def test_objects(pairs: list[tuple[str, str]], nested: bool, ascii_: bool) -> None:
    objects = [{"id": 1, "en": one, "fr": other.split(" ")} for one, other in pairs]
    values = [{"translation": found} for found in objects] if nested else objects
    columns = ("translation.en", "translation.fr") if nested else ("en", "fr")
    lines = [json.dumps(value, ensure_ascii=ascii_).encode() for value in values]
    expected = [(number, one.encode(), other.encode()) for number, (one, other) in enumerate(pairs, 1)]
    assert list(parse_joints(lines, "t", 1, columns)) == expected


@pytest.mark.parametrize(
    ("value", "source", "found"),
    [
        ({"id": 1, "en": "a", "fr": ["b", "c"]}, None, "en fr"),
        ({"target": "a", "source": "b", "x": "c"}, "en", "source target"),
        ({"n": "x", "en": "a", "FR": "b"}, "En", "n en FR"),
        ({"translation": {"en": "a", "fr": "b"}}, "fr", "translation.fr translation.en"),
        ({"a": "x"}, None, "a"), ({"a": "x", "b": "y", "c": []}, None, "a b"),
    ],
)  # fmt: skip
def test_fields_need_no_choice_where_there_are_two(value: object, source: str | None, found: str) -> None:
    lines = [b"{}", json.dumps(value).encode()]
    names = found.split()
    if len(names) == 2:
        assert fields_of("t", source, None, lines) == tuple(names)
    else:
        with pytest.raises(
            CorpusError, match=rf"t: has the columns {', '.join(names)} \(choose those of source and target with"
        ):
            fields_of("t", source, None, lines)


def test_a_text_of_several_lines_is_one() -> None:
    assert list(parse_joints([rb'{"a.b": "x\ny", "b": ""}'], "t", 1, ("a.b", "b"))) == [(1, b"x y", b"")]


@pytest.mark.parametrize(
    ("line", "columns", "what"),
    [
        (b"a\tb", ("1", "3"), "t:2: has no column 3, only 2 (choose others with `columns`)"),
        (b"a ||| b", ("1", "2"), "t:2: has no column 2, only 1 (choose others with `columns`)"),
        (b'{"a": "x"}', ("a", "b"), "t:2: '{\"a\": \"x\"}' is no JSON object with texts or tokens 'a' and 'b' ("),
        (b'{"a": "x", "b": null}', ("a", "b"), "is no JSON object with texts"),
        (b'{"a": "x", "b": [1]}', ("a", "b"), "is no JSON object with texts"),
        (b'{"a": "x", "b": "\\ud800"}', ("a", "b"), "is no JSON object with texts"),
        (b'{"a": "x", "b": "\xff"}', ("a", "b"), "is no JSON object with texts"),
        (b'{"a": "x", "b": "y"} {', ("a", "b"), "is no JSON object with texts"),
        (b"[" * 100_000, ("a", "b"), "is no JSON object with texts"),
        (b'["a", "b"]', ("a", "b"), "is no JSON object with texts"),
        (b'"a b"', ("a", "b"), "is no JSON object with texts"),
    ],
)
def test_a_broken_line_shifts_no_other(line: bytes, columns: Columns, what: str) -> None:
    good = b'{"a": "x", "b": "y"}' if columns == ("a", "b") else b"x\tz\ty\ty"
    found = parse_joints([b" ", line, good], "t", 1, columns)
    assert next(found) == (1, b"", b"")
    with pytest.raises(BrokenLine) as caught:
        next(found)
    assert what in str(caught.value)
    assert next(found)[0] == 3


TOKENS = st.lists(st.text(min_size=1), min_size=1, max_size=4)
GOOD = b'{"source": ["a"], "target": ["x"], "links": [[0, 0, 0.5]], "score": 0.5}'


@given(TOKENS, TOKENS, st.data())
def test_links_are_read_back(source: list[str], target: list[str], data: st.DataObject) -> None:
    places = st.tuples(st.integers(0, len(source) - 1), st.integers(0, len(target) - 1))
    links = data.draw(st.frozensets(places))
    found = {"source": source, "target": target, "links": [[j, k, 0.5] for j, k in links], "score": 0.5}
    line = json.dumps(found, ensure_ascii=False).encode(errors="replace")
    assert LINE.fullmatch(line)
    scores = dict.fromkeys(links, 0.5)
    assert list(parse_jsonl([line], "x")) == [PairLinks(links, frozenset(), scores, (source, target))]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b"", "no object of tokens and links"),
        (b"0-0", "no object of tokens and links"),
        (b"[]", "no object of tokens and links"),
        (b"[" * 100_000, "no object of tokens and links"),
        (b'{"source": ["a"], "target": ["\xff"], "links": []}', "no object of tokens and links"),
        (b'{"source": ["a"], "links": []}', "no object of tokens and links"),
        (b'{"source": ["a"], "target": ["x"], "links": [0, 0]}', "no object of tokens and links"),
        (b'{"source": ["a"], "target": ["x"], "links": [[0]]}', "no object of tokens and links"),
        (b'{"source": ["a"], "target": ["x"], "links": [[0, "0"]]}', "no object of tokens and links"),
        (b'{"source": ["a"], "target": ["x"], "links": [[0, -1]]}', "no object of tokens and links"),
        (b'{"source": ["a"], "target": ["x"], "links": [[0, 1]]}', "link 0-1 is out of range for 1 source and 1"),
    ],
)
def test_what_is_no_answer(line: bytes, what: str) -> None:
    with pytest.raises(CorpusError, match=f"^x:2: .*{what}"):
        list(parse_jsonl([GOOD, line], "x"))


def test_scores_are_probabilities_where_they_are_wanted() -> None:
    (found,) = parse_jsonl([GOOD], "x", probable=True)
    assert found == PairLinks(frozenset({(0, 0)}), frozenset(), {(0, 0): 0.5}, (["a"], ["x"]))
    for score in (b"0", b"-1", b"2", b"NaN", b'"a"'):
        with pytest.raises(CorpusError, match="no object of tokens and links"):
            list(parse_jsonl([GOOD.replace(b"0.5]]", score + b"]]")], "x", probable=True))


def test_columns_of_any_length_are_refused_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("a\tb\n")
    with pytest.raises(CorpusError, match="has no column '999"):
        list(open_corpus(tmp_path / "t", columns=("9" * 5000, "2")).texts())


@pytest.mark.parametrize(
    ("names", "wanted", "found"),
    [
        ("en fr", ("FR", None), "fr en"), ("en_US fr", ("EN-us", "fr"), "en_US fr"),
        ("en_US fr", ("en", None), "en_US fr"), ("en en_US fr", ("en", "fr"), "en fr"),
        ("en EN", ("EN", "en"), "EN en"), ("Tx tx ft", ("tx", "ft"), "tx ft"),
        ("en_GB fr", ("en-US", "fr"), "en_GB fr"), ("zh_Hant zh_Hans en", ("zh-Hant-TW", "en"), "zh_Hant en"),
        ("en_GB en_AU", (None, "en-GB"), "en_AU en_GB"), ("x-a x-b", (None, None), "x-a x-b"),
    ],
)  # fmt: skip
def test_a_language_is_found_by_its_tag(names: str, wanted: tuple[str | None, str | None], found: str) -> None:
    assert two_languages("f", names.split(), wanted) == tuple(found.split())


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        ("en_GB en_AU fr", ("en", "fr")), ("en_GB en_AU fr", ("en-US", "fr")), ("en EN fr", ("eN", "fr")),
        ("x-a fr", ("x-b", "fr")), ("eng fr", ("en", "fr")), ("en fr", ("enx", "fr")), ("en fr de", ("en", None)),
        ("en fr", ("en", "EN")), ("en", ("en", None)), ("", (None, None)),
    ],
)  # fmt: skip
def test_where_a_choice_is_left_it_is_asked_for(names: str, wanted: tuple[str | None, str | None]) -> None:
    with pytest.raises(CorpusError):
        two_languages("f", names.split(), wanted)
