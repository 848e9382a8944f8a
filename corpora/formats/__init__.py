"""Formats of links and of texts: parser, writer and, at the end of the file, the rows that others ask.

To add one: write its file, and name it in `corpora/recognize.py`.  The formats of ``aligner align`` are in
`aligner/model/output_formats.py` (FORMATS).
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Format:
    """A format of links, of text, or of texts with labels; what it does not have is None.  name: as files in it end.

    knows(lines, path): whether the first lines of a file, or its path, are of the format; the path is ``-`` where lines
    alone may tell.  line(line): whether a line is of it, as all lines of a file are then, but empty ones.

    links(lines, path, probable=, sentences=, lengths=): yields the `PairLinks` of a file, see `open_links` of
    `corpora.link_files`.  base: the number of a sentence's first word.  numbered: sentences have numbers, so that
    `links` itself checks them against the text.
    bare: whether files have links alone, or the text of one language.  objects: whether lines are JSON objects.
    corpus: what a file with text and links is called; then `links` yields pairs with ``links`` and ``text``.  shift:
    lines from a source sentence to its target sentence there.

    write(stream, pairs): writes `WordPair`, or links if it is `bare`.  languages: whether `write` takes those of the
    text, and (True) needs two.  sure_only: possible links cannot be written.
    unwritable: what a sentence cannot have, a pattern and a name.

    read(path): yields `Labelled` texts, or a `Sentence` for each.  only_spans: whether words cannot have labels.
    write_labels(stream, texts, source, path): writes them, unless they are rows of words; source: of this format, from
    which they come, or None.
    """

    name: str
    links: Any = None
    write: Any = None
    knows: Any = lambda *_: False
    line: Any = lambda _: False
    bare: bool = False
    objects: bool = False
    corpus: str = ""
    shift: int = 0
    base: int = 0
    numbered: bool = False
    languages: bool | None = None
    sure_only: bool = False
    unwritable: Any = None
    read: Any = None
    write_labels: Any = None
    only_spans: bool = False
