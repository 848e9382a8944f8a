"""Files of labelled texts: what kind a file is, and reading and writing each."""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from corpora import recognize
from corpora.encodings import marked
from corpora.errors import CorpusError
from corpora.files import StrPath
from corpora.formats.conll import Sentence, read_sentences, spans_of
from corpora.formats.docbin import read_docbin, write_docbin
from corpora.formats.label_studio import read_tasks, write_tasks
from corpora.formats.spans import Labelled, Mark, joined
from corpora.formats.standoff import read_standoff, write_standoff

LABELLED = "conll", "tasks", "docbin"
"""Forms of files with labelled texts, see `recognize.file_form`."""

_SUFFIXES = {".spacy": "docbin", ".json": "tasks", ".ann": "standoff", ".conll": "conll", ".conllu": "conllu"}
_SPACE = re.compile("[ \t\n\r\v\f]+")  # what ends a word of a text


def kind_of_labels(path: StrPath) -> str:
    """The kind of a file with labels: 'tasks', 'docbin', 'standoff' by its name, or 'conll', as of a pipe."""
    if recognize.is_stream(path):
        return "conll"
    if Path(path).suffix == ".ann":
        return "standoff"
    form = recognize.file_form(recognize.head(path))
    return form if form in LABELLED else "conll"


def read_labelled(path: StrPath) -> Iterator[Labelled]:
    """Read the texts of a file with labels, of any kind.  Raises CorpusError on a broken one."""
    return _READERS[kind_of_labels(path)](path)


def read_words(path: StrPath) -> Iterator[bytes]:
    """The words of each text of such a file, with blanks between them; a blank in a word becomes a no-break space.

    Of CoNLL-U they are the syntactic words: ``a`` and ``o`` of Portuguese ``ao``; of spaCy its tokens.
    """
    for one in read_labelled(path):
        yield " ".join(_SPACE.sub("\u00a0", word) for word in one.tokens).encode()


def of_sentence(sentence: Sentence) -> Labelled:
    """A sentence as a text, of its words with blanks between them."""
    text, words = joined(sentence.words)
    marks = None
    if sentence.has_spans:
        spans = spans_of(sentence.labels)
        marks = [Mark(words[start][0], words[end - 1][1], name) for start, end, name in spans]
    return Labelled(sentence.line, text, words, marks, sentence)


_READERS: dict[str, Callable[[StrPath], Iterator[Labelled]]] = {
    "conll": lambda path: map(of_sentence, read_sentences(path)), "tasks": read_tasks, "docbin": read_docbin,
    "standoff": read_standoff,
}  # fmt: skip


def write_labelled(stream: BinaryIO, texts: Iterable[Labelled], output: StrPath, source: StrPath) -> None:
    """Write texts as the name of the output says, or as the source is, from which their labels come.

    Raises CorpusError where that format has no such labels.
    """
    own = kind_of_labels(source)
    kind = _SUFFIXES.get(Path(recognize.plain_name(output)).suffix, own)
    match kind:
        case "docbin":
            write_docbin(stream, texts, output)
        case "tasks":
            write_tasks(stream, _with_spans(texts, output, keep=own == kind))
        case "standoff":
            write_standoff(stream, _with_spans(texts, output, keep=own == kind), source if own == kind else None)
        case _:
            stream.write(marked("".join(str(_sentence(one, output, kind)) for one in texts).encode()))


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
