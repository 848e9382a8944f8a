"""CoNLL files: sentences with labels, in columns of any kind or the ten of CoNLL-U; and links, as CoNLL-U.

Of links both sentences of a pair are written, one after the other. ``Align=2,3`` in MISC of a word are the words of the
other sentence that it is linked to; ``AlignPossible=`` are those of links that are only possible. Udapi names linked
words so (``util.MarkDiff``), and the sentences of one pair, ``# sent_id = 1/en`` and ``1/fr``.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import BinaryIO

from corpora.alignment import WordPair
from corpora.errors import NO_UTF8, CorpusError, quoted
from corpora.files import StrPath, read_lines

FORM, UPOS, FEATS, HEAD, DEPREL = 1, 3, 5, 6, 7
"""Columns of CoNLL-U."""

_WIDTH = 10  # of CoNLL-U
_PASSED_OVER = re.compile(r"[0-9]+[-.][0-9]+")  # tokens of several words, and words that are not in the text
_COMMENT = re.compile(r"#\s*(\S+\s*=|newdoc|newpar)[^\t]*$")
"""In columns, others that begin like one are rows: # is a word. In CoNLL-U all are comments."""

_TAG = re.compile(r"([BIESLU])-(\S+)|O")
_TEXT = re.compile(r"# ?text ?=")


@dataclass(frozen=True)
class Sentence:
    """The words of a sentence, as rows of columns.  line: of its first row.  comments: lines before it, with the #."""

    line: int
    rows: list[list[str]]
    comments: tuple[str, ...] = ()

    @property
    def is_conllu(self) -> bool:
        return bool(self.rows) and len(self.rows[0]) == _WIDTH and self.rows[0][0].isdecimal()

    @property
    def words(self) -> list[str]:
        return [row[FORM if self.is_conllu else 0] for row in self.rows]

    @property
    def labels(self) -> list[str]:
        """Of each word: the part of speech in CoNLL-U, else what is in the last column."""
        return [row[UPOS if self.is_conllu else -1] for row in self.rows]

    @property
    def has_spans(self) -> bool:
        """Whether all labels are tags of spans."""
        return not self.is_conllu and all(map(_TAG.fullmatch, self.labels))

    def with_rows(self, rows: list[list[str]]) -> "Sentence":
        """The sentence with other words; a comment with its text has theirs."""
        found = replace(self, rows=rows)
        text = f"# text = {' '.join(found.words)}"
        return replace(found, comments=tuple(text if _TEXT.match(line) else line for line in self.comments))

    def __str__(self) -> str:
        between = " " if all(cell.split() == [cell] for row in self.rows for cell in row) else "\t"
        between = "\t" if self.is_conllu else between
        return "".join(f"{line}\n" for line in (*self.comments, *map(between.join, self.rows), ""))


def read_sentences(path: StrPath) -> Iterator[Sentence]:
    """Read the sentences of a file, divided by blank lines; lines of ``-DOCSTART-`` are left out.

    Raises CorpusError on a row without a label, and of CoNLL-U one whose words are not numbered from 1 on.
    """
    comments, rows, first = list[str](), list[list[str]](), 0
    lines, head = read_lines(path), list[bytes]()  # head: up to the first row, which has the form of all
    while not head or not head[-1].strip() or head[-1].startswith(b"#"):
        if (line := next(lines, None)) is None:
            break
        head.append(line)
    is_conllu = bool(head) and head[-1][:1].isdigit() and head[-1].count(b"\t") == _WIDTH - 1
    comment = re.compile("#") if is_conllu else _COMMENT
    for number, line in enumerate(chain(head, lines, [b""]), 1):
        try:
            text = line.decode().strip("\r\n")
        except UnicodeDecodeError as error:
            raise CorpusError(path, number, "not valid UTF-8", hint=NO_UTF8) from error
        if not line.strip() or text.startswith("-DOCSTART-"):
            if rows:
                yield Sentence(first, rows, (*comments,))
            comments, rows = [], []
        elif comment.match(text) and not rows:
            comments.append(text)
        else:
            cells = text.split("\t") if "\t" in text else [cell.decode() for cell in line.split()]
            if len(cells) < 2 or (rows and len(cells) != len(rows[0])):
                hint = "a row has a word, perhaps more columns, and a label, as all rows of the sentence"
                raise CorpusError(path, number, f"{quoted(line)} is no row of a CoNLL file", hint=hint)
            if len(cells) == _WIDTH and _PASSED_OVER.fullmatch(cells[0]):
                continue
            first = first if rows else number
            rows.append(cells)
            if len(cells) == _WIDTH and Sentence(first, rows).is_conllu and cells[0] != str(len(rows)):
                hint = f"number the words of a sentence from 1 on: here is word {len(rows)}"
                raise CorpusError(path, number, f"{quoted(line)} has the number {cells[0]}", hint=hint)


def spans_of(labels: Sequence[str]) -> list[tuple[int, int, str]]:
    """First word, end and type of each span, of tags BIO, IOB or BIOES; [] where no label is such a tag.

    As conlleval reads them: a span begins at B, S or U, and where the type changes.
    """
    spans: list[tuple[int, int, str]] = []
    before = ("", "")
    for place, label in enumerate(labels):
        tag = _TAG.fullmatch(label)
        kind, name = (tag[1] or "", tag[2] or "") if tag else ("", "")
        if name and kind not in ("B", "S", "U") and before[1] == name and before[0] not in ("E", "L", "S", "U"):
            spans[-1] = spans[-1][0], place + 1, name
        elif name:
            spans.append((place, place + 1, name))
        before = kind, name
    return spans


def tags_of(spans: Sequence[tuple[int, int, str]], words: int) -> list[str]:
    """The tags of spans, BIO."""
    tags = ["O"] * words
    for start, end, name in spans:
        tags[start:end] = [f"B-{name}", *[f"I-{name}"] * (end - start - 1)]
    return tags


def write_conllu(stream: BinaryIO, pairs: Iterable[WordPair], languages: tuple[str, str]) -> None:
    """Write source and target sentence of each pair, with words and links only; a side without words is left out."""
    blank = "\t_" * 7  # LEMMA to DEPS
    for number, (source, target, links) in enumerate(pairs, 1):
        for side, words in enumerate((source, target)):
            partners: list[dict[str, list[int]]] = [{} for _ in words]
            for name, kind in (("Align", links.sure), ("AlignPossible", links.possible)):
                for link in sorted(kind):
                    partners[link[side]].setdefault(name, []).append(link[1 - side] + 1)
            misc = ["|".join(f"{name}={','.join(map(str, to))}" for name, to in of.items()) or "_" for of in partners]
            rows = [f"{n}\t{word}{blank}\t{of}\n" for n, (word, of) in enumerate(zip(words, misc, strict=True), 1)]
            head = f"# sent_id = {number}/{languages[side]}\n# text = {' '.join(words)}\n"
            stream.write("".join([head, *rows, "\n"] if rows else []).encode())
