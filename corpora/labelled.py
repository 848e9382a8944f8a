"""Files of labelled texts: what kind a file is, and reading and writing each."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from corpora.encodings import marked
from corpora.errors import CorpusError
from corpora.files import StrPath
from corpora.formats import Format
from corpora.formats.conll import Sentence, spans_of
from corpora.formats.spans import Labelled, Mark, joined
from corpora.paths import head, is_stream, plain_name
from corpora.recognize import FORMATS

_SPACE = re.compile("[ \t\n\r\v\f]+")  # what ends a word of a text


def kind_of_labels(path: StrPath) -> Format:
    """The format of a file with labels, by its first lines or its name; CoNLL of any other, as of a pipe."""
    lines, rows = head(path), () if is_stream(path) else FORMATS.values()
    return next((row for row in rows if row.read and row.knows(lines, path)), FORMATS["conll"])


def read_labelled(path: StrPath) -> Iterator[Labelled]:
    """Read the texts of a file with labels, of any kind.  Raises CorpusError on a broken one."""
    found = kind_of_labels(path).read(path)
    return (_of_sentence(one) if isinstance(one, Sentence) else one for one in found)


def read_words(path: StrPath) -> Iterator[bytes]:
    """The words of each text of such a file, with blanks between them; a blank in a word becomes a no-break space.

    Of CoNLL-U they are the syntactic words: ``a`` and ``o`` of Portuguese ``ao``; of spaCy its tokens.
    """
    for one in read_labelled(path):
        yield " ".join(_SPACE.sub("\u00a0", word) for word in one.tokens).encode()


def _of_sentence(sentence: Sentence) -> Labelled:
    """A sentence as a text, of its words with blanks between them."""
    text, words = joined(sentence.words)
    marks = None
    if sentence.has_spans:
        spans = spans_of(sentence.labels)
        marks = [Mark(words[start][0], words[end - 1][1], name) for start, end, name in spans]
    return Labelled(sentence.line, text, words, marks, sentence)


def write_labelled(stream: BinaryIO, texts: Iterable[Labelled], output: StrPath, source: StrPath) -> None:
    """Write texts as the name of the output says, or as the source is, from which their labels come.

    Raises CorpusError where that format has no such labels.
    """
    own = kind_of_labels(source)
    named = FORMATS.get(Path(plain_name(output)).suffix[1:])
    row = named if named and named.read else own
    if row.only_spans:
        texts = _with_spans(texts, output, keep=own is row)
    if row.write_labels:
        row.write_labels(stream, texts, source if own is row else None, output)
    else:
        stream.write(marked("".join(str(_sentence(one, output, row.name)) for one in texts).encode()))


def _with_spans(texts: Iterable[Labelled], output: StrPath, *, keep: bool) -> Iterator[Labelled]:
    """The texts, whose spans have no keys of another format.  CorpusError for labels of words."""
    for one in texts:
        if one.marks is None:
            hint = "name it .conllu or .spacy, or in columns .conll"
            raise CorpusError(output, 0, "cannot have labels of words, but spans alone", hint=hint)
        yield one if keep else one.without_keys()


def _sentence(text: Labelled, output: StrPath, kind: str) -> Sentence:
    if kind == "conllu":
        if text.sentence is None or not text.sentence.is_conllu:
            hint = "name it .conll, .json, .ann or .spacy"
            raise CorpusError(output, 0, "cannot have spans, but words of CoNLL-U alone", hint=hint)
        return text.sentence
    try:
        return text.rows
    except ValueError as error:
        hint = "labels that overlap can be .json or .ann"
        raise CorpusError(output, 0, f"cannot have this in text {text.line}: {error}", hint=hint) from error
