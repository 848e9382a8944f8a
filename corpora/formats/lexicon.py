"""Lexicons of other tools: lines of two words and a probability, a file for each direction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from corpora.link_counts import NULL, LinkCounts
from corpora.ragged import F64, I64

_ROWS_AT_ONCE = 1 << 16


class LexiconFormat(NamedTuple):
    """What the files of a format are named and made of.

    suffixes: of the file of target words given source words, and of the other direction, if there is one.
    kind: of numbers, in which counts are divided.  least: share of a word's highest probability; what has less is left
    out.
    """

    suffixes: tuple[str, ...]
    kind: npt.DTypeLike = np.float64
    least: float = 0.0


LEXICON_FORMATS: Mapping[str, LexiconFormat] = {
    "tsv": LexiconFormat(("tsv",)),
    "moses": LexiconFormat(("f2e", "e2f")),  # f is the source
    "marian": LexiconFormat(("s2t", "t2s"), np.float32),  # as extract_lex divides
    "bicleaner": LexiconFormat(("s2t.gz", "t2s.gz"), least=0.1),
}


def write_lexicon(files: Sequence[BinaryIO], links: LinkCounts, to: str, best: int | None = None) -> None:
    """Write the files of one of LEXICON_FORMATS; each word's lines stand together, the most probable first.

    best: how many of each word's translations to keep.  Lexicons that are cut, by this or by their format, are without
    NULL.  What remains keeps its probabilities.
    """
    format_, words = LEXICON_FORMATS[to], links.words
    probabilities = [_probabilities(links, given, format_.kind) for given in (0, 1)]
    if to == "tsv":
        files[0].write(b"source\ttarget\tcount\tp(target|source)\tp(source|target)\n")
    for given, file in enumerate(files):
        other = 1 - given
        for rows in _chunks(_chosen(links, given, format_.least, best)):
            sides = links.source[rows].tolist(), links.target[rows].tolist()
            columns = [p[rows].tolist() for p in probabilities]
            if to == "tsv":
                lines = "".join(
                    f"{words[0][s]}\t{words[1][t]}\t{count:.10g}\t{forward:.7g}\t{reverse:.7g}\n"
                    for s, t, count, forward, reverse in zip(*sides, links.counts[rows].tolist(), *columns, strict=True)
                )
            else:
                lines = "".join(
                    f"{words[other][word]} {words[given][of]} {p:.7f}\n"
                    for word, of, p in zip(sides[other], sides[given], columns[given], strict=True)
                )
            file.write(lines.encode())


def _probabilities(links: LinkCounts, given: int, kind: npt.DTypeLike) -> F64:
    """(C,) of the word of the other side, given that of this side, 0 or 1."""
    side = (links.source, links.target)[given]
    totals = np.bincount(side, links.counts, len(links.words[given])).astype(kind)
    return np.asarray(links.counts.astype(kind) / totals[side], np.float64)


def _chosen(links: LinkCounts, given: int, least: float, best: int | None) -> I64:
    """Rows by the word that is given, and those of one word from the most to the least probable."""
    sides = (links.source, links.target)[:: 1 if given == 0 else -1]
    rows = np.lexsort((sides[1], -links.counts, sides[0]))
    if best is None and least == 0.0:
        return rows
    for words, ids in zip(links.words, (links.source, links.target), strict=True):
        rows = rows[ids[rows] != words.index(NULL)]
    word = sides[0][rows]
    first = np.searchsorted(word, word)  # each word's best row
    kept = links.counts[rows] >= least * links.counts[rows[first]]
    if best is not None:
        kept &= np.arange(len(rows)) - first < best
    return rows[kept]


def _chunks(rows: I64) -> Iterator[I64]:
    return (rows[start : start + _ROWS_AT_ONCE] for start in range(0, len(rows), _ROWS_AT_ONCE))
