"""Label sequences from files: the letters of handwritten words [TGK03], and chunks of sentences [TKSB00].

[TKSB00] Tjong Kim Sang and Buchholz 2000, Introduction to the CoNLL-2000 shared task: chunking.
"""

from __future__ import annotations

import gzip
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from aligner.errors import AlignerError
from aligner.losses.chain import ChainProblem
from corpora.ragged import I64

_OF_LETTERS = "a line holds id, letter, next_id, word_id, position, fold and pixels, separated by tabs"
_OF_CHUNKS = "a line holds word, part of speech and chunk; an empty line ends a sentence"

_BEFORE, _AFTER = ("_B-2", "_B-1"), ("_B+1", "_B+2")
"""What stands beyond the ends of a sentence, as CRF++ names it."""

_WINDOWS = {
    0: [(-2,), (-1,), (0,), (1,), (2,), (-1, 0), (0, 1)],
    1: [(-2,), (-1,), (0,), (1,), (2,), (-2, -1), (-1, 0), (0, 1), (1, 2), (-2, -1, 0), (-1, 0, 1), (0, 1, 2)],
}
TEMPLATES = [(f"U{k}{window}", k, [2 + at for at in window]) for k, windows in _WINDOWS.items() for window in windows]
"""What is indexed of a token: its name, the column (words 0, parts of speech 1), the places in a padded sentence: the
templates that CRF++ and CRFsuite come with for chunking."""


@dataclass(frozen=True, eq=False)
class Sequences:
    """Tokens of n sequences, one sequence after the other, with their labels.

    features: (N, p).  labels: (N,) indices of label_names, or -1 of a label that the training text lacks.
    lengths: (n,).  folds: (n,) of each sequence.
    names: the columns of the features, by name, where they have any.
    """

    features: csr_array
    labels: I64
    lengths: I64
    label_names: tuple[str, ...]
    folds: I64
    names: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.lengths)

    def take(self, chosen: I64) -> Sequences:
        """These sequences alone, (m,) indices, in their order."""
        begins = np.append(0, np.cumsum(self.lengths))
        tokens = np.concatenate([np.arange(0), *(np.arange(*begins[i : i + 2]) for i in chosen.tolist())])
        parts = self.features[tokens], self.labels[tokens], self.lengths[chosen]
        return Sequences(*parts, self.label_names, self.folds[chosen], self.names)

    def problem(self, regularization: float, *, biases: bool = False) -> ChainProblem:
        """The structured SVM of these sequences; labels that the training text lacks are the first one there."""
        return ChainProblem.of(
            self.features,
            np.maximum(self.labels, 0),
            self.lengths,
            regularization=regularization,
            biases=biases,
            n_labels=len(self.label_names),
        )


def read_letters(path: str | Path) -> Sequences:
    """The words of ``letter.data``, or ``letter.data.gz``, each a sequence of letters of so many pixels.

    A word ends with the letter whose next_id is -1. Raises AlignerError, with one line, where the file is broken.
    """
    letters: list[str] = []
    pixels: list[Any] = []
    lengths, folds, awaited, line = [0], [], -1, 0
    for line, text in _lines(path):
        fields = text.rstrip().split("\t")
        try:
            number, following, fold = int(fields[0]), int(fields[2]), int(fields[5])
            values = np.array(fields[6:], np.float32)
            alike = 0 < len(values) == len(pixels[0] if pixels else values) and np.isfinite(values).all()
            if not alike or awaited not in (-1, number):
                raise ValueError
        except (ValueError, IndexError):
            raise _broken(path, line, "not the columns of the next letter", _OF_LETTERS) from None
        letters.append(fields[1])
        pixels.append(values)
        lengths[-1] += 1
        awaited = following
        if following == -1:
            folds.append(fold)
            lengths.append(0)
    if not letters or awaited != -1:
        raise _broken(path, line, "the last word does not end", "its last letter has the next_id -1")
    names = tuple(sorted(set(letters)))
    labels = np.searchsorted(names, letters)
    return Sequences(csr_array(np.stack(pixels)), labels, np.array(lengths[:-1]), names, np.array(folds))


def read_chunks(path: str | Path, known: Sequences | None = None, *, least: int = 1) -> Sequences:
    """The sentences of a file in the columns of CoNLL-2000, or such a file in .gz, with the features of `index_chunks`.

    known, least: see there.  Raises AlignerError, with one line, where the file is broken.
    """

    def sentences() -> Iterator[list[tuple[str, ...]]]:
        sentence: list[tuple[str, ...]] = []
        for line, text in _lines(path):
            token = tuple(text.split())
            if token:
                if len(token) != 3:
                    raise _broken(path, line, f"{len(token)} columns", _OF_CHUNKS)
                sentence.append(token)
            elif sentence:
                yield sentence
                sentence = []
        if sentence:
            yield sentence

    found = index_chunks(sentences(), known, least=least)
    if len(found) == 0:
        raise _broken(path, 0, "no sentences", _OF_CHUNKS)
    return found


def index_chunks(
    sentences: Iterable[Iterable[tuple[str, ...]]], known: Sequences | None = None, *, least: int = 1
) -> Sequences:
    """Sentences of (word, part of speech, chunk), such as ``nltk.corpus.conll2000.iob_sents("train.txt")``.

    The features of a token are the TEMPLATES, each with the words or parts of speech that it meets, 0 or 1.
    known: the training text, whose features have the numbers; others are left out.
    least: of a training text, how many tokens must have a feature; rarer ones are left out.
    """
    names: dict[str, int] = {} if known is None else dict(known.names)
    chunks: dict[str, int] = {} if known is None else {name: k for k, name in enumerate(known.label_names)}
    columns, starts, labels, lengths = array("i"), array("q", [0]), array("q"), array("q")
    for sentence in sentences:
        *given, of_sentence = zip(*sentence, strict=True)
        padded = [(*_BEFORE, *column, *_AFTER) for column in given]
        for t, chunk in enumerate(of_sentence):
            for template, column, places in TEMPLATES:
                name = template + "|".join([padded[column][t + place] for place in places])
                number = names.setdefault(name, len(names)) if known is None else names.get(name)
                if number is not None:
                    columns.append(number)
            starts.append(len(columns))
            labels.append(chunks.setdefault(chunk, len(chunks)) if known is None else chunks.get(chunk, -1))
        lengths.append(len(of_sentence))
    shape = len(labels), len(names)
    features = csr_array((np.ones(len(columns), np.float32), np.array(columns), np.array(starts)), shape)
    if known is None and least > 1:
        kept = np.flatnonzero(np.bincount(features.indices, minlength=len(names)) >= least)
        in_order = list(names)
        names, features = {in_order[old]: new for new, old in enumerate(kept.tolist())}, features[:, kept]
    sizes = np.array(lengths, np.int64)
    return Sequences(features, np.array(labels, np.int64), sizes, tuple(chunks), np.zeros_like(sizes), names)


def _lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """The lines of a file, from 1 on."""
    with gzip.open(path) if Path(path).suffix == ".gz" else Path(path).open("rb") as file:
        line = 0
        try:
            for line, content in enumerate(file, 1):
                yield line, content.decode()
        except (EOFError, gzip.BadGzipFile):
            raise _broken(path, 0, "not a whole gzip file", "fetch it again") from None
        except UnicodeDecodeError:
            raise _broken(path, line, "not UTF-8", "convert it with iconv") from None


def _broken(path: str | Path, line: int, what: str, hint: str) -> AlignerError:
    return AlignerError(f"{path}:{f'{line}:' if line else ''} {what} ({hint})")
