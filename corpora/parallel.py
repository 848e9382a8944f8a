"""Two texts side by side: line n of both is a pair."""

import os
from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest
from pathlib import Path

from corpora.corpus import TextLine
from corpora.errors import CorpusError
from corpora.files import StrPath, count_lines, read_lines
from corpora.formats.naacl import parse_sentence
from corpora.labelled import read_words
from corpora.left_out import warn_of_left_out
from corpora.recognize import form_of

Files = tuple[StrPath, StrPath]  # source and target


_RANGE = b"<range>"
"""A line of a text of verses, where its verse is in the line before: so SIL's programs write it."""


def lines_of(path: StrPath, start: int = 0) -> Iterator[bytes]:
    """The lines of a text, or the words of each text of a file with labels.  start: lines to pass over."""
    if has_labels(path):
        return islice(read_words(path), start, None)
    return read_lines(path, start)


def count_lines_of(path: StrPath) -> int:
    """Count what `lines_of` gives."""
    return sum(1 for _ in lines_of(path)) if has_labels(path) else count_lines(path)


def has_labels(path: StrPath) -> bool:
    """Whether a file has texts with labels: CoNLL-U, columns with tags of spans, Label Studio's tasks, a DocBin."""
    return Path(path).is_file() and form_of(path).read is not None


def side_by_side(files: Files, start: int = 0) -> Iterator[TextLine]:
    """The pairs of two texts, numbered from 1 on.  start: lines to pass over.  CorpusError if one text is shorter.

    Where a line is ``<range>`` the pair is empty, and what the other line has is joined with the line before.
    """
    verse, in_range, ranges = list[TextLine](), False, 0  # verse: a pair, and those in its range
    for pair in _lines_of_both(files, start):
        if pair is not None and _RANGE in (pair[1].strip(), pair[2].strip()):
            in_range, ranges = True, ranges + 1
        elif verse:
            yield from _joined(verse, start) if in_range else verse
            verse, in_range = [], False
        if pair is not None:
            verse.append(pair)
    if not start:
        warn_of_left_out(files[0], {"lines of <range>, whose verses are in the line before": ranges} if ranges else {})


def _joined(verse: list[TextLine], start: int) -> Iterator[TextLine]:
    lines, *both = zip(*verse, strict=True)
    sides = [b" ".join(side for side in sides if side.strip() not in (b"", _RANGE)) for sides in both]
    if start and _RANGE in (verse[0][1].strip(), verse[0][2].strip()):  # of what has been passed over
        sides = [b"", b""]
    yield lines[0], sides[0], sides[1]
    yield from ((line, b"", b"") for line in lines[1:])


def _lines_of_both(files: Files, start: int) -> Iterator[TextLine | None]:
    """The lines side by side; None at their end, before an error."""
    lines = [lines_of(file, start) for file in files]
    for line, (source, target) in enumerate(zip_longest(*lines), start + 1):
        if source is None or target is None:
            yield None
            shorter = 0 if source is None else 1
            raise ends_sooner(files, shorter, line - 1, 1 + sum(1 for _ in lines[1 - shorter]))
        yield line, source, target
    yield None


def ends_sooner(files: Files, shorter: int, lines: int, more: int) -> CorpusError:
    """The error for two texts of which one, 0 or 1, is shorter, with so many lines, and so many more of the other."""
    what = f"ends here, but {os.fspath(files[1 - shorter])} has {more} more line{'s' if more > 1 else ''}"
    return CorpusError(files[shorter], lines, what, hint="line n of both files must be one pair")


def without_markup(pairs: Iterable[TextLine], files: Files) -> Iterator[tuple[int, TextLine]]:
    """Pairs without the ``<s snum=1>`` around their sentences, and the numbers in it, which must be equal."""
    source_file, target_file = files
    for line, source_line, target_line in pairs:
        number, source = parse_sentence(source_line, source_file, line)
        other, target = parse_sentence(target_line, target_file, line)
        if number != other:
            what = f"sentence {other}, but {os.fspath(source_file)} has sentence {number} here"
            raise CorpusError(target_file, line, what, hint="line n of both files must be one pair")
        yield number, (line, source, target)
