"""Source and target, or links with their text or scores, on one line; broken lines are named and shift no other."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from readings import cases, pairs, refuses

from corpora.errors import BrokenLine
from corpora.formats.columns import fields_of
from corpora.formats.joint import Columns, parse_joints, two_languages
from corpora.formats.jsonl import parse_jsonl
from corpora.formats.tsv import COLUMNS, ROW
from corpora.link_files import open_links
from corpora.links import PairLinks
from corpora.readers import open_corpus

TEXT = st.text(st.characters(exclude_characters="\t\n", exclude_categories=["Cs"])).map(str.strip)


@given(rows=st.lists(st.lists(TEXT, min_size=3, max_size=5), max_size=5), place=st.permutations([1, 2, 3]))
def test_columns(rows: list[list[str]], place: list[int]) -> None:
    lines = ["\t".join(row).encode() for row in rows]
    found = list(parse_joints(lines, "t", 5, (str(place[0]), str(place[1]))))
    expected = [[row[column - 1].encode().strip() for column in place[:2]] for row in rows]
    assert found == [(number, *sides) for number, sides in enumerate(expected, 5)]


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
    lines, names = [b"{}", json.dumps(value).encode()], found.split()
    if len(names) == 2:
        assert fields_of("t", source, None, lines) == tuple(names)
        return
    with refuses(rf"t: has the columns {', '.join(names)} \(choose those of source and target with"):
        fields_of("t", source, None, lines)


@pytest.mark.parametrize("line", [rb'{"a.b": "x\ny", "b": ""}', b'{"a": {"b": ["x", "y"]}, "b": ""}'])
def test_a_text_of_several_lines_or_within_an_object_is_one(line: bytes) -> None:
    assert list(parse_joints([line], "t", 1, ("a.b", "b"))) == [(1, b"x y", b"")]


NO_OBJECT = "is no JSON object with texts or tokens 'a' and 'b' ("


@pytest.mark.parametrize(
    ("line", "columns", "what"),
    [
        (b"a\tb", ("1", "3"), "t:2: has no column 3, only 2 (choose others with `columns`)"),
        (b"a ||| b", ("1", "2"), "t:2: has no column 2, only 1 (choose others with `columns`)"),
        *[(line, ("a", "b"), NO_OBJECT) for line in [
            b'{"a": "x"}', b'{"a": "x", "b": null}', b'{"a": "x", "b": [1]}', b'{"a": "x", "b": "\\ud800"}',
            b'{"a": "x", "b": "\xff"}', b'{"a": "x", "b": "y"} {', b"[" * 100_000, b'["a", "b"]', b'"a b"']],
    ],
)  # fmt: skip
def test_a_broken_line_shifts_no_other(line: bytes, columns: Columns, what: str) -> None:
    good = b'{"a": "x", "b": "y"}' if columns == ("a", "b") else b"x\tz\ty\ty"
    found = parse_joints([b" ", line, good], "t", 1, columns)
    assert next(found) == (1, b"", b"")
    with refuses(re.escape(what), BrokenLine):
        next(found)
    assert next(found)[0] == 3


def test_columns_of_any_length_are_refused_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("a\tb\n")
    with refuses("has no column '999"):
        pairs(tmp_path / "t", "9" * 5000 + ",2")


ANSWER = '{"source": ["a"], "target": ["x"], "links": [[0, 0, 0.5]], "score": 0.5}\n'
SCORED = (ROW % (-1.0, float("-inf"), float("nan"), 0.5, 0.25, b"0-0 2-1")).decode()
OF_ANSWER = "is no object of tokens and links"


@pytest.mark.parametrize(
    ("line", "what"),
    [
        *[(line, OF_ANSWER) for line in [
            "", "0-0", "[]", "[" * 100_000, '{"source": ["a"], "target": ["\udcff"], "links": []}',
            '{"source": ["a"], "links": []}', *[ANSWER.replace("[[0, 0, 0.5]]", links) for links in (
                "[0, 0]", "[[0]]", '[[0, "0"]]', "[[0, -1]]",
                *(f'[[0, 0]], "possible": {possible}' for possible in (
                    "[[1, 0]]", "[[0]]", "[[0, 0, 1]]", "1", "null", '["ab"]')))]]],
        (ANSWER.replace("0, 0,", "0, 1,"), "link 0-1 is out of range for 1 source and 1"),
        (SCORED.replace("0-0", "0-x"), "'0-x' is not a link"),
        *[(line, f"is no line of {len(COLUMNS) - 1} numbers and links") for line in [
            SCORED.replace("0.5000\t", ""), SCORED.replace("nan", "none"), "0-0\t\n"]],
    ],
)  # fmt: skip
def test_a_broken_line_of_links_is_named(tmp_path: Path, line: str, what: str) -> None:
    form = "tsv" if "\t" in line else "jsonl"
    (tmp_path / "t").write_text((ANSWER if form == "jsonl" else SCORED) + line + "\n", errors="surrogateescape")
    with refuses(f"t:2: .*{what}"):
        list(open_links(tmp_path / "t", format=form))


def test_lines_of_scores_and_links_are_no_corpus(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(SCORED)
    with refuses("holds links, not text"):
        open_corpus(tmp_path / "t")


def test_scores_are_probabilities_where_they_are_wanted() -> None:
    (found,) = parse_jsonl([ANSWER.encode()], "x", probable=True)
    assert found == PairLinks(frozenset({(0, 0)}), frozenset(), {(0, 0): 0.5}, (["a"], ["x"]))
    for score in ("0", "-1", "2", "NaN", '"a"'):
        with refuses(OF_ANSWER):
            list(parse_jsonl([ANSWER.replace("0.5]]", f"{score}]]").encode()], "x", probable=True))


@pytest.mark.parametrize(
    ("more", "languages"),
    [
        (', "languages": ["en", "fr"]', ("en", "fr")), (', "languages": ["en", null]', ("en", None)),
        *[(more, (None, None)) for more in
          ("", ', "languages": "en"', ', "languages": [1, "fr"]', ', "languages": ["en"]')],
    ],
)  # fmt: skip
def test_languages(tmp_path: Path, more: str, languages: tuple[str | None, str | None]) -> None:
    (tmp_path / "t").write_text(f'{{"source": ["en"], "target": ["b"], "links": []{more}}}\n' * 2)
    found = open_corpus(tmp_path / "t")
    assert found.languages == languages
    assert list(found.texts()) == [(1, b"en", b"b"), (2, b"en", b"b")]
    assert open_corpus(tmp_path / "t", source="en").source_language == "en"
    assert open_corpus(tmp_path / "t", target="fr").target_language == "fr"
    for source, target in (("fr", "en"), ("fr", None), (None, "en")) if languages == ("en", "fr") else ():
        with refuses("has en as its source and fr as its target"):
            open_corpus(tmp_path / "t", source=source, target=target)


@pytest.mark.parametrize(
    ("names", "source", "target", "found"),
    cases(
        """
        en fr ¦ FR ¦ ¦ fr en
        en_US fr ¦ EN-us ¦ fr ¦ en_US fr
        en_US fr ¦ en ¦ ¦ en_US fr
        en en_US fr ¦ en ¦ fr ¦ en fr
        en EN ¦ EN ¦ en ¦ EN en
        Tx tx ft ¦ tx ¦ ft ¦ tx ft
        en_GB fr ¦ en-US ¦ fr ¦ en_GB fr
        zh_Hant zh_Hans en ¦ zh-Hant-TW ¦ en ¦ zh_Hant en
        en_GB en_AU ¦ ¦ en-GB ¦ en_AU en_GB
        x-a x-b ¦ ¦ ¦ x-a x-b
        en_GB en_AU fr ¦ en ¦ fr ¦
        en_GB en_AU fr ¦ en-US ¦ fr ¦
        en EN fr ¦ eN ¦ fr ¦
        x-a fr ¦ x-b ¦ fr ¦
        eng fr ¦ en ¦ fr ¦
        en fr ¦ enx ¦ fr ¦
        en fr de ¦ en ¦ ¦
        en fr ¦ en ¦ EN ¦
        en ¦ en ¦ ¦
        ¦ ¦ ¦
        """
    ),
)
def test_a_language_is_found_by_its_tag_unless_a_choice_is_left(
    names: str, source: str, target: str, found: str
) -> None:
    wanted = source or None, target or None
    if found:
        assert two_languages("f", names.split(), wanted) == tuple(found.split())
        return
    with refuses("f: "):
        two_languages("f", names.split(), wanted)
