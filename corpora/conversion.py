"""Convert links from one format to another, write the text of corpora, and combine files of two directions."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO

from corpora.corpus import Corpus, TextLine
from corpora.encodings import marked
from corpora.errors import CorpusError, counted
from corpora.files import StrPath
from corpora.formats import Format
from corpora.link_files import LINK_FORMATS, WRITTEN_FORMATS, LinkStream, known_format, open_links
from corpora.links import PairLinks, WordPair
from corpora.paths import LINK_SUFFIXES, is_stream, plain_name
from corpora.readers import open_corpus, open_pairs
from corpora.reading import AS_IT_IS, Reading
from corpora.recognize import FORMATS, form_of, links_format
from corpora.symmetrize import symmetrize


def format_of(output: StrPath) -> str | None:
    """The format that the suffix of a file names, one of WRITTEN_FORMATS; None if it names none."""
    suffix = Path(plain_name(output)).suffix[1:]
    return suffix if suffix in WRITTEN_FORMATS else "pharaoh" if suffix in LINK_SUFFIXES else None


def convert(
    source: StrPath,
    stream: BinaryIO,
    *,
    to: str,
    from_: str | None = None,
    text: StrPath | None = None,
    reading: Reading = AS_IT_IS,
    transpose: bool = False,
    watched: Callable[[Iterable[PairLinks]], Iterable[PairLinks]] = iter,
) -> None:
    """Write the links of a file, or of a corpus, in another format.

    source: a links file, or a corpus in any form of `open_corpus` that has links.  to: one of WRITTEN_FORMATS.
    from_: one of LINK_FORMATS, recognised if None.  text: the corpus of the links, which the formats with text need;
    links are checked against it.  reading: of the corpus.  transpose: swap source and target, also in the text.
    watched: yields the links unchanged, and reports progress.
    Raises CorpusError on a broken link, an unknown format, a missing text, and words that the format cannot hold.
    """
    row = known_format(source, to, WRITTEN_FORMATS)
    given = None if from_ is None else known_format(source, from_, LINK_FORMATS)
    corpus = _text_of(source, given, text, reading, with_words=not row.bare)
    if corpus is None:
        reading.refuse("is of a text, which is not there", "give `text`")
    if not row.bare:
        if corpus is None:
            if not is_stream(source) and form_of(source).name == "text":
                raise CorpusError(source, 0, "is text without links", hint="align it first, and give it as `text`")
            raise CorpusError(source, 0, f"holds links only, but {to} contains the text", hint="give it as `text`")
        corpus.refuse_pipes()
    links: Iterable[PairLinks]
    if text is None and corpus is not None and given is None and _own_text(source) is None:
        links = opened = corpus.links()
    else:
        links = opened = open_links(source, format=from_, lengths=None if corpus is None else corpus.lengths())
    if row.sure_only:
        links = _sure(opened, source if text is not None or corpus is None else corpus.files[-1], to)
    if transpose:
        links = map(transposed, links)
    links, write = watched(links), row.write
    if corpus is not None and not row.bare:
        if row.languages is not None:
            names = corpus.languages
            if row.languages and (None in names or names[0] == names[1]):
                names = "x-source", "x-target"  # of private use
            write = partial(write, languages=names[::-1] if transpose else names)
        write(stream, word_pairs(corpus, links, row, transpose))
    else:
        write(stream, links)


def _sure(opened: LinkStream, path: StrPath, to: str) -> Iterator[PairLinks]:
    """Yield the links of each pair.  Raises CorpusError for one that is only possible."""
    for number, pair in enumerate(opened, 1):
        if pair.possible:
            line = opened.text()[0] + 2 if opened.text else 0 if opened.format in ("naacl", "tmx") else number
            what = f"pair {number} has a link that is only possible, {{}}?{{}}, which {to} cannot have"
            raise CorpusError(path, line, what.format(*min(pair.possible)), hint="delete it, or choose another format")
        yield pair


def write_texts(corpus: Corpus, texts: Iterable[TextLine], source: BinaryIO, target: BinaryIO) -> None:
    """Write the texts of a corpus as two plain texts, a sentence a line.  CorpusError on text that is not UTF-8."""
    for number, text in enumerate(texts):
        corpus.check_utf8([text])
        for stream, side in zip((source, target), text[1:], strict=True):
            _write_line(stream, side, number)


def write_text(lines: Iterable[bytes], stream: BinaryIO) -> None:
    """Write a plain text, a sentence a line."""
    for number, line in enumerate(lines):
        _write_line(stream, line, number)


def _write_line(stream: BinaryIO, text: bytes, number: int) -> None:
    line = text.replace(b"\r", b" ").strip() + b"\n"  # \r is the end of a line for some
    stream.write(line if number else marked(line))


def _text_of(
    source: StrPath, given: Format | None, text: StrPath | None, reading: Reading, *, with_words: bool = False
) -> Corpus | None:
    """The corpus with the words of these links, or None, also where a file of links has words that are not asked for.

    A pipe has none, as it can be read only once.
    """
    if text is not None:
        return open_corpus(text, **vars(reading))
    if is_stream(source):
        return None
    own = given or _own_text(source)
    if own and not own.bare and not own.corpus:
        if own.objects:
            reading = replace(reading, columns=reading.columns or ("source", "target"))
        else:
            what = f"chooses nothing: links of {own.name.upper()} are between its languages as they come"
            reading.refuse(what, "leave it out")
        return open_corpus(source, **vars(reading)) if with_words else None
    if own:
        return open_pairs(own, source, reading.source, reading.target) if own.corpus else None
    has_text = not Path(source).is_file() or not form_of(source).bare
    return open_corpus(source, **vars(reading)) if has_text else None


def _own_text(source: StrPath) -> Format | None:
    """The format of a file of links that has words beside them, but is no corpus with links; None for any other."""
    found = links_format(source) if Path(source).is_file() else None
    return found if found and not found.bare and not found.corpus else None


def files_of(path: StrPath, reading: Reading) -> list[StrPath]:
    """The files that a path of links, or of a corpus, stands for."""
    corpus = _text_of(path, None, None, reading)
    return [path] if corpus is None else corpus.files


def word_pairs(
    corpus: Corpus, links: Iterable[PairLinks], to: Format = FORMATS["jsonl"], transpose: bool = False
) -> Iterator[WordPair]:
    """The words of each pair of a corpus, and its links.  CorpusError on words that the format `to` cannot have."""
    for (line, *texts), pair in zip(corpus.texts(), links, strict=True):
        corpus.check_utf8([(line, texts[0], texts[1])])
        words = [[token.decode() for token in text.split()] for text in texts]
        for place, side in zip(corpus.places(line), words, strict=True):
            if to.unwritable is not None and to.unwritable[0].search(" ".join(side)):
                what = f"has {to.unwritable[1]}, which {to.name} cannot have"
                raise CorpusError(*place, what, hint="change the line, or choose another format")
        yield (words[1], words[0], pair) if transpose else (words[0], words[1], pair)


def transposed(links: PairLinks) -> PairLinks:
    sure, possible = (frozenset((k, j) for j, k in kind) for kind in (links.sure, links.possible))
    return PairLinks(sure, possible, {(k, j): score for (j, k), score in links.scores.items()})


def symmetrize_files(
    forward: StrPath, reverse: StrPath, method: str, *, transpose_reverse: bool = False, as_atools: bool = False
) -> Iterator[PairLinks]:
    """Combine two files of links pair by pair; possible links count as links.

    Links of both files are source-target, unless transpose_reverse.  as_atools: see `symmetrize`.
    Raises CorpusError if one file is shorter, or their words contradict each other.
    """
    files, streams = [forward, reverse], [open_links(forward), open_links(reverse)]
    there = map(transposed, streams[1]) if transpose_reverse else streams[1]
    for one, other in side_by_side(files, [streams[0], there]):
        if streams[0].text is not None and streams[1].text is not None:
            (line, *words), (other_line, *others) = streams[0].text(), streams[1].text()
            wanted = words[::-1] if transpose_reverse else words
            if any(words) and any(others) and others != wanted:  # a pair that one file lacks has no words there
                what = f"is not the pair at line {line} of {os.fspath(forward)}"
                what += " with its sides swapped" if transpose_reverse else ""
                hint = "give the two directions of one run"
                if others == wanted[::-1]:
                    hint = "leave `transpose_reverse` out" if transpose_reverse else "give `transpose_reverse`"
                raise CorpusError(reverse, other_line, what, hint=hint)
        combined = symmetrize(one.sure | one.possible, other.sure | other.possible, method, as_atools=as_atools)
        yield PairLinks(frozenset(combined))


def side_by_side(files: Sequence[StrPath], streams: Sequence[Iterable[PairLinks]]) -> Iterator[tuple[PairLinks, ...]]:
    """For each pair, its links in every file.  Raises CorpusError if one file is shorter."""
    for number, row in enumerate(zip_longest(*streams)):
        ended = [links is None for links in row]
        if any(ended):
            shorter, longer = files[ended.index(True)], files[ended.index(False)]
            what = f"ends after {counted(number, 'pair')}, but {os.fspath(longer)} goes on"
            raise CorpusError(shorter, number, what, hint="line n of all files must be one pair")
        yield row
