"""brat's standoff format: spans, attributes and relations in a file ``.ann``, beside the text, a ``.txt``.

Places are counted in code points of the text, line ends too. [nlplab/brat, wiki, Annotation Data Format]
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

from corpora.errors import CorpusError, quoted, utf8
from corpora.files import StrPath, read_lines, read_whole
from corpora.formats import Format
from corpora.formats.spans import Labelled, Mark, words_of
from corpora.left_out import warn_of_left_out

_SPAN = re.compile(r"(T[0-9]+[^\t]*)\t(\S+) ([0-9]{1,9} [0-9]{1,9}(?:;[0-9]{1,9} [0-9]{1,9})*)(?:\t(.*))?")
_OTHER = re.compile(r"([REAMN*#][^\t]*)\t([^\t]+)(?:\t.*)?")


def read_standoff(path: StrPath) -> Iterator[Labelled]:
    """Read the lines of the text beside a file ``.ann``, each with the parts of spans that are in it.

    Raises CorpusError on a line that is no annotation, and where the text is not the one that was annotated.
    """
    beside = Path(path).with_suffix(".txt")
    text, marks = utf8(read_whole(beside), beside, 0), list[Mark]()
    for number, line in _lines(path):
        found = _SPAN.fullmatch(line)
        if found is None:
            if not _OTHER.fullmatch(line):
                what = f"{quoted(line.encode())} is no line of a standoff file"
                raise CorpusError(path, number, what, hint="as brat writes it, with tabs after identifier and span")
            continue
        places = [(int(start), int(end)) for start, end in map(str.split, found[3].split(";"))]
        there = " ".join(text[start:end] for start, end in places)
        own = there if found[4] is None else found[4]
        if own.split() != there.split() or not all(start < end <= len(text) for start, end in places):
            what = f"{found[1]} is {quoted(own.encode())}, but at {found[3]} is {quoted(there.encode())}"
            raise CorpusError(path, number, what, hint=f"is {beside} the text that was annotated?")
        marks += (Mark(start, end, found[2], (found[1],)) for start, end in places)
    lines = text.removesuffix("\n").split("\n") if text else []
    starts = [*accumulate((len(line) + 1 for line in lines), initial=0)]
    inside: list[list[Mark]] = [[] for _ in lines]
    for mark in sorted(marks):
        for n in range(bisect_right(starts, mark.start) - 1, bisect_left(starts, mark.end)):
            start, end = max(mark.start - starts[n], 0), min(mark.end - starts[n], len(lines[n]))
            inside[n] += [mark._replace(start=start, end=end)] if start < end else []
    for number, (line, marks) in enumerate(zip(lines, inside, strict=True), 1):
        yield Labelled(number, line, words_of(line), marks)


def _lines(path: StrPath) -> Iterator[tuple[int, str]]:
    lines = enumerate(read_lines(path), 1)
    return ((number, utf8(line, path, number)) for number, line in lines if line.strip())


def write_standoff(stream: BinaryIO, texts: Iterable[Labelled], source: StrPath | None = None, *_: object) -> None:
    """Write the spans of texts, which stand on the lines of one text.

    source: the file ``.ann`` that they come from; spans keep their identifiers, and attributes, relations and other
    lines of it come along if all that they name does; how many do not is said.
    """
    parts, start = defaultdict[tuple[str, ...], list[tuple[int, Mark, str]]](list), 0
    for one in texts:
        for mark in one.marks or ():
            key = mark.key or (f"T{len(parts) + 1}",)
            parts[key].append((start, mark, one.text[mark.start : mark.end]))
        start += len(one.text) + 1
    written, there = list[str](), {key[0] for key in parts}
    for key, own in parts.items():
        places = ";".join(f"{first + mark.start} {first + mark.end}" for first, mark, _ in own)
        written.append(f"{key[0]}\t{own[0][1].column} {places}\t{' '.join(text for *_, text in own)}")
    if source is not None:
        left = [line for _, line in _lines(source) if not _SPAN.fullmatch(line)]
        kept = set[str]()
        while more := [line for line in left if line not in kept and there.issuperset(_named(line))]:
            kept.update(more)
            there.update(line.partition("\t")[0] for line in more)
        written += (line for line in left if line in kept)
        lost = sum(line not in kept for line in left)
        warn_of_left_out(source, {"lines of spans that are not carried": lost} if lost else {})
    stream.write("".join(f"{line}\n" for line in written).encode())


def _named(line: str) -> list[str]:
    """The identifiers that a relation, an event, or what belongs to one annotation, names."""
    parts = line.split("\t")[1].split(" ")
    of_kind = {"E": parts, "R": parts[1:], "*": parts[1:]}.get(line[0], parts[1:2])
    return [part.rpartition(":")[2] for part in of_kind if part]


FORMATS = [
    Format(
        "ann",
        knows=lambda _, path: Path(path).suffix == ".ann",
        read=read_standoff,
        write_labels=write_standoff,
        only_spans=True,
    )
]
