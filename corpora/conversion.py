"""Convert links from one format to another, and combine files of two directions."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO

from corpora import SettingError, recognize
from corpora.alignment import PairLinks
from corpora.corpus import Corpus, Languages
from corpora.errors import CorpusError
from corpora.files import StrPath
from corpora.formats.comtrans import write_comtrans
from corpora.formats.giza import write_a3
from corpora.formats.naacl import write_naacl
from corpora.formats.pharaoh import write_pharaoh
from corpora.link_files import INDEX_BASES, LINK_FORMATS, WRITTEN_FORMATS, open_links
from corpora.readers import open_corpus
from corpora.symmetrize import symmetrize

_TEXT_FORMATS = ("giza", "comtrans")
"""Formats that contain the sentences, not only their links."""


def convert(
    source: StrPath,
    stream: BinaryIO,
    *,
    to: str,
    from_: str | None = None,
    text: StrPath | None = None,
    languages: Languages = (None, None),
    transpose: bool = False,
    watched: Callable[[Iterable[PairLinks]], Iterable[PairLinks]] = iter,
) -> None:
    """Write the links of a file, or of a corpus, in another format.

    source: a links file, or a corpus in any form of `open_corpus` that has links.  to: one of WRITTEN_FORMATS.
    from_: one of LINK_FORMATS, recognised if None.  text: the corpus of the links, which the formats with text need;
    links are checked against it.  languages: source and target of the corpus, as in `open_corpus`.  transpose: swap
    source and target, also in the text.  watched: yields the links unchanged, and reports progress.
    Raises CorpusError on a broken link, an unknown format, and a missing text.
    """
    for name, formats in ((to, WRITTEN_FORMATS), (from_, LINK_FORMATS)):
        if name is not None and name not in formats:
            known = ", ".join(formats)
            raise CorpusError(source, 0, f"unknown links format '{name}'", hint=f"known are {known}")
    corpus = _text_of(source, from_, text, languages)
    if corpus is None and any(languages):
        raise SettingError("`source` and `target` are languages of a text, which is not there (give `text`)")
    if to in _TEXT_FORMATS:
        if corpus is None:
            raise CorpusError(source, 0, f"holds links only, but {to} contains the text", hint="give it as `text`")
        corpus.rereadable()
    links: Iterable[PairLinks]
    if text is None and corpus is not None and from_ is None:
        links = corpus.links()
    else:
        links = open_links(source, format=from_, lengths=None if corpus is None else corpus.lengths())
    if transpose:
        links = map(transposed, links)
    links = watched(links)
    if to == "naacl":
        write_naacl(stream, links)
    elif to in _TEXT_FORMATS and corpus is not None:
        write = write_a3 if to == "giza" else write_comtrans
        write(stream, _with_words(corpus, links, transpose))
    elif to in ("pharaoh", "talp"):
        write_pharaoh(stream, links, base=INDEX_BASES[to])


def _text_of(source: StrPath, from_: str | None, text: StrPath | None, languages: Languages) -> Corpus | None:
    """The corpus with the words of these links, or None; a pipe has none, as it can be read only once."""
    if text is not None:
        return open_corpus(text, source=languages[0], target=languages[1])
    if recognize.is_stream(source):
        return None
    only_links = ("pharaoh", "naacl", "jsonl", "text")
    has_text = not Path(source).is_file() or recognize.file_form(recognize.head(source)) not in only_links
    if from_ in _TEXT_FORMATS or (from_ is None and has_text):
        return open_corpus(source, source=languages[0], target=languages[1])
    return None


def files_of(path: StrPath, languages: Languages) -> list[StrPath]:
    """The files that a path of links, or of a corpus, stands for."""
    corpus = _text_of(path, None, None, languages)
    return [path] if corpus is None else corpus.files


def _with_words(
    corpus: Corpus, links: Iterable[PairLinks], transpose: bool
) -> Iterator[tuple[list[str], list[str], PairLinks]]:
    for (line, source, target), pair in zip(corpus.texts(), links, strict=True):
        corpus.check_utf8([(line, source, target)])
        words = [token.decode() for token in source.split()], [token.decode() for token in target.split()]
        yield (words[1], words[0], pair) if transpose else (words[0], words[1], pair)


def transposed(links: PairLinks) -> PairLinks:
    sure, possible = (frozenset((k, j) for j, k in kind) for kind in (links.sure, links.possible))
    return PairLinks(sure, possible, {(k, j): probability for (j, k), probability in links.probabilities.items()})


def symmetrize_files(
    forward: StrPath, reverse: StrPath, method: str, *, transpose_reverse: bool = False
) -> Iterator[PairLinks]:
    """Combine two files of links pair by pair; possible links count as links.

    Links of both files are source-target, unless transpose_reverse.  Raises CorpusError if one file is shorter.
    """
    there = map(transposed, open_links(reverse)) if transpose_reverse else open_links(reverse)
    for one, other in side_by_side([forward, reverse], [open_links(forward), there]):
        combined = symmetrize(one.sure | one.possible, other.sure | other.possible, method)
        yield PairLinks(frozenset(combined), frozenset())


def side_by_side(files: Sequence[StrPath], streams: Sequence[Iterable[PairLinks]]) -> Iterator[tuple[PairLinks, ...]]:
    """For each pair, its links in every file.  Raises CorpusError if one file is shorter."""
    for number, row in enumerate(zip_longest(*streams)):
        ended = [links is None for links in row]
        if any(ended):
            shorter, longer = files[ended.index(True)], files[ended.index(False)]
            what = f"ends after {number} pairs, but {os.fspath(longer)} goes on"
            raise CorpusError(shorter, number, what, hint="line n of all files must be one pair")
        yield row
