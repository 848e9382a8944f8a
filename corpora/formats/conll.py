"""CoNLL files: sentences with labels, in columns of any kind or the ten of CoNLL-U; and links, as CoNLL-U.

Of links both sentences of a pair are written, one after the other. ``Align=2,3`` in MISC of a word are the words of the
other sentence that it is linked to; ``AlignPossible=`` are those of links that are only possible. Udapi names linked
words so (``util.MarkDiff``), and the sentences of one pair, ``# sent_id = 1/en`` and ``1/fr``.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import BinaryIO

from corpora.errors import CorpusError, quoted, utf8
from corpora.files import StrPath, read_lines
from corpora.formats import Format
from corpora.left_out import warn_of_left_out
from corpora.links import WordPair

FORM, UPOS, FEATS, HEAD, DEPREL = 1, 3, 5, 6, 7
"""Columns of CoNLL-U."""

_WIDTH = 10  # of CoNLL-U
_LONGEST_RANGE = 20  # characters
_PASSED_OVER = re.compile(
    r"([0-9]+)-([0-9]+)|[0-9]+\.[0-9]+"
)  # tokens of several words, and words that are not in the text
_COMMENT = re.compile(r"#\s*(\S+\s*=|newdoc|newpar)[^\t]*$")
"""In columns, others that begin like one are rows: # is a word. In CoNLL-U all are comments."""

_TAG = re.compile(r"([BIESLU])-(\S+)|O")
_TEXT = re.compile(r"# ?text ?=")
_OF_SENTENCE = re.compile(r"# ?(text|sent_id) ?=")
_ROW = re.compile(rb"[0-9]+([-.][0-9]+)?(\t[^\t]*){5}\t([0-9]+|_)?(\t[^\t]*){3}")


@dataclass(frozen=True)
class Sentence:
    """The words of a sentence, as rows of columns.  line: of its first row.  comments: lines before it, with the #.

    ranges: by the first word of a token of several words, in the order of the rows from 0 on, its end and form.
    """

    line: int
    rows: list[list[str]]
    comments: tuple[str, ...] = ()
    ranges: Mapping[int, tuple[int, str]] = field(default_factory=dict)

    @property
    def tokens(self) -> list[tuple[int, int, str]]:
        """The first word, end and form of each token of the text, of one or several words."""
        found, start, words = list[tuple[int, int, str]](), 0, self.words
        while start < len(words):
            end, form = self.ranges.get(start, (start + 1, words[start]))
            found.append((start, min(end, len(words)), form))
            start = end
        return found

    @property
    def text_tokens(self) -> int | None:
        """How many tokens the comment with the text has, divided at spaces; None without such a comment."""
        texts = (len(line.partition("=")[2].encode().split()) for line in self.comments if _TEXT.match(line))
        return next(texts, None)

    @property
    def by_tokens(self) -> "Sentence":
        """The sentence of CoNLL-U with a row for each token: that of its word nearest to the root, the first of equals.

        The head of a token is the token of that word's head, so that heads make a tree again.
        """
        heads = [int(row[HEAD]) - 1 if row[HEAD].isdecimal() else -1 for row in self.rows]
        rows, tokens = list[list[str]](), self.tokens
        of_word = {word: str(n) for n, (start, end, _) in enumerate(tokens, 1) for word in range(start, end)}

        def depth(word: int) -> int:
            steps = 0
            while (word := heads[word]) >= 0:
                steps += 1
            return steps

        for number, (start, end, form) in enumerate(tokens, 1):
            word = min(range(start, end), key=depth)
            row = [*self.rows[word]]
            row[0], row[FORM], row[HEAD] = str(number), form, of_word.get(heads[word], row[HEAD])
            rows.append(row)
        return replace(self, rows=rows, ranges={})

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
        found = replace(self, rows=rows, ranges={})
        text = f"# text = {' '.join(found.words)}"
        return replace(found, comments=tuple(text if _TEXT.match(line) else line for line in self.comments))

    def __str__(self) -> str:
        between = " " if all(cell.split() == [cell] for row in self.rows for cell in row) else "\t"
        between = "\t" if self.is_conllu else between
        return "".join(f"{line}\n" for line in (*self.comments, *map(between.join, self.rows), ""))


def read_sentences(path: StrPath) -> Iterator[Sentence]:
    """Read the sentences of a file, divided by blank lines; lines of ``-DOCSTART-`` are left out.

    So are comments that name a sentence without words, but they are counted. Raises CorpusError on a row without a
    word or a label, and of CoNLL-U one whose words are not numbered from 1 on.
    """
    comments, rows, first, without = list[str](), list[list[str]](), 0, 0
    ranges = dict[int, tuple[int, str]]()
    lines, head = read_lines(path), list[bytes]()  # head: up to the first row, which has the form of all
    while not head or not head[-1].strip() or head[-1].startswith(b"#"):
        if (line := next(lines, None)) is None:
            break
        head.append(line)
    is_conllu = bool(head) and head[-1][:1].isdigit() and head[-1].count(b"\t") == _WIDTH - 1
    comment = re.compile("#") if is_conllu else _COMMENT
    for number, line in enumerate(chain(head, lines, [b""]), 1):
        text = utf8(line, path, number).strip("\r\n")
        if not line.strip() or text.startswith("-DOCSTART-"):
            if rows:
                yield Sentence(first, rows, (*comments,), ranges)
            elif any(map(_OF_SENTENCE.match, comments)):
                without += 1
            comments, rows, ranges = [], [], {}
        elif comment.match(text) and not rows:
            comments.append(text)
        else:
            cells = text.split("\t") if "\t" in text else [cell.decode() for cell in line.split()]
            if len(cells) < 2 or (rows and len(cells) != len(rows[0])):
                hint = "a row has a word, perhaps more columns, and a label, as all rows of the sentence"
                raise CorpusError(path, number, f"{quoted(line)} is no row of a CoNLL file", hint=hint)
            if len(cells) == _WIDTH and _PASSED_OVER.fullmatch(cells[0]):
                if len(cells[0]) > _LONGEST_RANGE:
                    what = f"{quoted(line)} has a number of more than {_LONGEST_RANGE // 2} digits"
                    raise CorpusError(path, number, what, hint="number the words of a sentence from 1 on")
                begin, _, end = cells[0].partition("-")
                if end and int(begin) == len(rows) + 1 < int(end):
                    ranges[len(rows)] = int(end), cells[FORM]
                continue
            first = first if rows else number
            rows.append(cells)
            in_conllu = len(cells) == _WIDTH and Sentence(first, rows).is_conllu
            if not cells[FORM if in_conllu else 0]:
                raise CorpusError(path, number, f"{quoted(line)} has no word", hint="a word has a letter, if only _")
            if in_conllu and cells[0] != str(len(rows)):
                hint = f"number the words of a sentence from 1 on: here is word {len(rows)}"
                raise CorpusError(path, number, f"{quoted(line)} has the number {cells[0]}", hint=hint)
    warn_of_left_out(path, {"comments of sentences without words": without} if without else {})


def _is_conll(lines: Sequence[bytes], _: StrPath) -> bool:
    """Whether the first lines of a file are CoNLL-U, or columns of which the last has tags of spans, also O."""
    rows = [line for line in lines if line.strip() and not line.startswith((b"#", b"-DOCSTART-"))]
    if rows and all(map(_ROW.fullmatch, rows)):
        return True
    cells = [[cell.decode(errors="replace") for cell in line.split()] for line in rows]
    widths, labels = {*map(len, cells)}, [row[-1] for row in cells]
    return len(cells) > 1 and len(widths) == 1 < max(widths) and "O" in labels and all(map(_TAG.fullmatch, labels))


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


FORMATS = [
    Format("conll", knows=_is_conll, read=read_sentences),
    Format("conllu", None, write_conllu, languages=True, read=read_sentences),
]
