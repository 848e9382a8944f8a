"""Readers of label sequences: generated files of the shapes of the real ones, and the real ones where given."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sequences import TEMPLATES, Sequences, index_chunks, read_chunks, read_letters

from aligner.errors import AlignerError
from aligner.solvers import Stop, check_problem, make_solver, solve


def letter_lines(words: list[str], pixels: np.ndarray, folds: list[int]) -> list[str]:
    lines, number = [], 0
    for w, word in enumerate(words):
        for t, letter in enumerate(word):
            following = -1 if t + 1 == len(word) else number + 2
            values = "\t".join(map(str, pixels[number]))
            lines.append(f"{number + 1}\t{letter}\t{following}\t{w + 1}\t{t + 1}\t{folds[w]}\t{values}\t")
            number += 1
    return lines


WORDS = ["ommanding", "a", "mbraces"]
PIXELS = np.random.default_rng(0).integers(2, size=(17, 128))
LETTERS = letter_lines(WORDS, PIXELS, [0, 9, 3])


@pytest.mark.parametrize("name", ["letter.data", "letter.data.gz"])
def test_words_are_read_as_they_are(name: str, tmp_path: Path) -> None:
    content = "\n".join([*LETTERS, ""]).encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    found = read_letters(tmp_path / name)
    assert found.lengths.tolist() == [9, 1, 7]
    assert "".join(found.label_names[y] for y in found.labels) == "".join(WORDS)
    assert found.label_names == tuple(sorted({*"".join(WORDS)}))
    assert found.folds.tolist() == [0, 9, 3]
    np.testing.assert_array_equal(found.features.toarray(), PIXELS)
    part = found.take(np.flatnonzero(found.folds != 9))
    assert (part.lengths.tolist(), part.folds.tolist()) == ([9, 7], [0, 3])
    np.testing.assert_array_equal(part.features.toarray(), np.delete(PIXELS, 9, axis=0))
    problem = part.problem(0.1)
    assert problem.n_features == len(found.label_names) * (128 + len(found.label_names))
    check_problem(problem)


@pytest.mark.parametrize(
    ("line", "change"),
    [
        (3, lambda text: "x" + text),
        (4, lambda text: text.rstrip() + "\t1\t"),
        (4, lambda text: text[:-2] + "nan"),
        (5, lambda text: "7" + text[1:]),
        (17, lambda text: text.replace("\t-1\t", "\t18\t")),
        (1, lambda text: "\xff"),
    ],
)
def test_a_broken_letter_is_told(line: int, change: Callable[[str], str], tmp_path: Path) -> None:
    lines = [*LETTERS]
    lines[line - 1] = change(lines[line - 1])
    path = tmp_path / "2"
    path.write_text("\n".join([*lines, ""]))
    with pytest.raises(AlignerError, match=rf"^{path}:{line}: .* \(.*\)$"):
        read_letters(path)


@pytest.mark.parametrize("read", [read_letters, read_chunks])
def test_files_that_are_none_are_told(read: Callable[[Path], Sequences], tmp_path: Path) -> None:
    contents = {
        "empty": b"",
        "latin": b"\xe9 NN B-NP\n",
        "cut.gz": gzip.compress(b"a b c\n" * 999)[:-9],
        "no.gz": b"a b c\n",
        "columns": b"\na b c d\n",
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(AlignerError, match=rf"{name}:([12]:)? .* \(.*\)$"):
            read(tmp_path / name)


SENTENCES = [
    [("He", "PRP", "B-NP"), ("reckons", "VBZ", "B-VP"), ("the", "DT", "B-NP"), ("deficit", "NN", "I-NP")],
    [("Yes", "UH", "O")],
]


def names_of(found: Sequences, token: int) -> set[str]:
    names = {number: name for name, number in found.names.items()}
    return {names[c] for c in found.features[[token]].indices.tolist()}


def test_tokens_have_the_features_of_the_templates() -> None:
    found = index_chunks(SENTENCES)
    assert len(TEMPLATES) == 19
    assert names_of(found, 4) >= {"U0(0,)Yes", "U0(-1, 0)_B-1|Yes", "U1(-2, -1, 0)_B-2|_B-1|UH", "U1(0, 1)UH|_B+1"}
    assert names_of(found, 2) >= {"U0(-2,)He", "U0(2,)_B+1", "U0(0, 1)the|deficit", "U1(-1, 0, 1)VBZ|DT|NN"}
    assert (np.diff(found.features.indptr) == 19).all()
    assert (found.features.data == 1.0).all()
    assert [found.label_names[y] for y in found.labels] == ["B-NP", "B-VP", "B-NP", "I-NP", "O"]


def test_rare_features_are_left_out() -> None:
    found, all_ = index_chunks(SENTENCES, least=2), index_chunks(SENTENCES)
    counts = all_.features.sum(axis=0)
    assert found.names.keys() == {name for name, number in all_.names.items() if counts[number] >= 2}
    for token in range(5):
        assert names_of(found, token) == names_of(all_, token) & found.names.keys()


words = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=4)
texts = st.lists(st.lists(st.tuples(words, words, words), min_size=1, max_size=5), min_size=1, max_size=5)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sentences=texts, other=texts)
def test_files_are_what_was_written(
    sentences: list[list[tuple[str, ...]]], other: list[list[tuple[str, ...]]], tmp_path: Path
) -> None:
    """And features that training has not met are left out, the others are numbered as there."""
    path = tmp_path / "train.txt"
    path.write_text("\n\n".join("\n".join(map(" ".join, sentence)) for sentence in sentences) + "\n", "utf-8")
    read, expected = read_chunks(path), index_chunks(sentences)
    assert (read.features != expected.features).nnz == 0
    assert read.names == expected.names
    np.testing.assert_array_equal(read.labels, expected.labels)
    np.testing.assert_array_equal(read.lengths, expected.lengths)
    again = [[(word, tag, sentences[0][0][2]) for word, tag, _ in sentence] for sentence in other]
    test, alone = index_chunks(again, read), index_chunks(again)
    assert test.features.shape[1] == len(read.names)
    for token in range(len(test.labels)):
        assert names_of(test, token) == names_of(alone, token) & {*read.names}


def test_a_chunk_that_the_training_text_lacks_is_always_wrong(tmp_path: Path) -> None:
    (tmp_path / "test.txt").write_text("He PRP B-NP\nin IN B-PP\n")
    train = index_chunks(SENTENCES)
    test = read_chunks(tmp_path / "test.txt", train)
    assert test.labels.tolist() == [train.label_names.index("B-NP"), -1]
    assert test.problem(1.0).n_features == train.problem(1.0).n_features


def test_real_letters_are_learnt() -> None:
    path = os.environ.get("ALIGNER_LETTERS")
    if path is None:
        pytest.skip("no letter.data (set ALIGNER_LETTERS)")
    found = read_letters(path)
    assert (len(found), len(found.labels), found.features.shape[1]) == (6877, 52152, 128)
    train, test = (found.take(np.flatnonzero((found.folds == 0) == held_out)) for held_out in (False, True))
    problem = train.problem(1.0 / len(train))
    assert problem.n_features == 4004
    result = solve(problem, make_solver("bcfw", average="weighted"), stop=Stop(gap=0.0, passes=10))
    assert test.problem(1.0).error(result.w) < 0.2


def test_real_chunks_are_learnt() -> None:
    path = os.environ.get("ALIGNER_CONLL")
    if path is None:
        pytest.skip("no folder with train.txt and test.txt of CoNLL-2000 (set ALIGNER_CONLL)")
    train = read_chunks(Path(path, "train.txt"))
    test = read_chunks(Path(path, "test.txt"), train)
    assert (len(train), len(test)) == (8936, 2012)
    result = solve(train.problem(1.0 / len(train)), make_solver("bcfw"), stop=Stop(gap=0.0, passes=5))
    assert test.problem(1.0).error(result.w) < 0.06
