"""CoNLL files: what is read is written again, tags of spans in all spellings, and what is refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from readings import cases, refuses

from corpora.formats.conll import read_sentences, spans_of, tags_of

# As in the examples of the CoNLL-2003 task and of universaldependencies.org/format.
CONLL_2003 = """-DOCSTART- -X- O O

U.N. NNP I-NP I-ORG
official NN I-NP O
Ekeus NNP I-NP I-PER
heads VBZ I-VP O
for IN I-PP O
Baghdad NNP I-NP I-LOC
. . O O

"""
CONLLU = """# sent_id = 1
# text = vámonos al mar
1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tvamos\tir\tVERB\t_\tNumber=Plur\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t_\t_
3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_
3\ta\ta\tADP\t_\t_\t5\tcase\t_\t_
4\tel\tel\tDET\t_\t_\t5\tdet\t_\t_
5\tmar\tmar\tNOUN\t_\t_\t1\tobl\t_\tSpaceAfter=No
5.1\tx\tx\tX\t_\t_\t_\t_\t1:dep\t_

"""


def read(path: Path, content: str) -> list[str]:
    path.write_text(content, "utf-8")
    return list(map(str, read_sentences(path)))


def test_columns_and_conllu(tmp_path: Path) -> None:
    path = tmp_path / "a"
    assert "".join(read(path, CONLL_2003)) == CONLL_2003.split("\n\n", 1)[1]
    (sentence,) = read_sentences(path)
    assert sentence.words[:3] == ["U.N.", "official", "Ekeus"]
    assert spans_of(sentence.labels) == [(0, 1, "ORG"), (2, 3, "PER"), (5, 6, "LOC")]
    assert (sentence.line, sentence.has_spans, sentence.is_conllu) == (3, True, False)
    rows = [line for line in CONLLU.splitlines(keepends=True) if not line.startswith(("1-2", "3-4", "5.1"))]
    assert read(path, CONLLU) == ["".join(rows)]
    (sentence,) = read_sentences(path)
    assert sentence.words == ["vamos", "nos", "a", "el", "mar"]
    assert sentence.labels == ["VERB", "PRON", "ADP", "DET", "NOUN"]
    assert sentence.is_conllu
    assert not sentence.has_spans
    windows = "﻿" + CONLLU.replace("\n", "\r\n") * 2
    assert read(path, windows.rstrip("\r\n")) == ["".join(rows)] * 2
    assert read(path, "# O\na O\n") == ["# O\na O\n\n"], "a word"
    assert read(path, "# newpar\n# x = y\na b O\n") == ["# newpar\n# x = y\na b O\n\n"]
    assert read(path, "a\t\nb c\tO\n") == ["a\t\nb c\tO\n\n"]
    assert read(path, "") == read(path, "\n\n") == []


def test_no_break_spaces_end_no_word(tmp_path: Path) -> None:
    (written,) = read(tmp_path / "a", "dix\u00a0mille B-X\n\u2003 O\n")
    read(tmp_path / "b", written)
    for name in "ab":
        (found,) = read_sentences(tmp_path / name)
        assert (found.words, found.labels) == (["dix\u00a0mille", "\u2003"], ["B-X", "O"])


def test_any_comment_of_conllu(tmp_path: Path) -> None:
    remarks = ["# a free remark\n", "#\n", "# note = a\tb\n"]
    rows = [line for line in CONLLU.splitlines(keepends=True) if not line.startswith(("1-2", "3-4", "5.1"))]
    for comments in (remarks, [*remarks, "\n", *remarks]):
        assert read(tmp_path / "a", "".join([*comments, CONLLU, *remarks, CONLLU])) == [
            "".join([*remarks, *rows]),
            "".join([*remarks, *rows]),
        ]


def test_the_comment_with_the_text_is_that_of_the_words(tmp_path: Path) -> None:
    read(tmp_path / "a", CONLLU)
    (sentence,) = read_sentences(tmp_path / "a")
    assert sentence.comments == ("# sent_id = 1", "# text = vámonos al mar")
    assert sentence.with_rows(sentence.rows[:2]).comments == ("# sent_id = 1", "# text = vamos nos")


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3), st.sampled_from("AB"))))
def test_tags_come_back(steps: list[tuple[int, int, str]]) -> None:
    spans, place = [], 0
    for gap, length, name in steps:
        spans.append((place + gap, place + gap + length, name))
        place += gap + length
    tags = tags_of(spans, place + 1)
    assert spans_of(tags) == spans
    bioes = [*tags]
    for start, end, name in spans:
        bioes[end - 1] = f"{'S' if end == start + 1 else 'E'}-{name}"
    assert spans_of(bioes) == spans


@pytest.mark.parametrize(
    ("tags", "spans"),
    cases(
        """
        I-A I-A O I-B ¦ 0 2 A, 3 4 B
        I-A B-A I-B ¦ 0 1 A, 1 2 A, 2 3 B
        B-A I-B E-B I-B ¦ 0 1 A, 1 3 B, 3 4 B
        NOUN O _ ¦
        ¦
        """
    ),
)
def test_other_tags(tags: str, spans: str) -> None:
    assert ", ".join(" ".join(map(str, span)) for span in spans_of(tags.split())) == spans


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("a O\nb\n", 2), ("a X O\nb O\n", 2), ("a O\n\n\xff O\n", 3),
        ("1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n3\tb\t_\t_\t_\t_\t1\tdep\t_\t_\n", 2),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path: Path, content: str, line: int) -> None:
    (tmp_path / "a").write_bytes(content.encode("latin-1"))
    with refuses(rf"/a:{line}: "):
        list(read_sentences(tmp_path / "a"))
