"""Lexicons of other tools: lines of two words and a probability, a file for each direction; or a table with counts."""

from collections.abc import Mapping, Sequence
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from corpora.link_counts import NULL, LinkCounts
from corpora.ragged import F64, I64

_LINES_AT_ONCE = 1 << 16


class LexiconFormat(NamedTuple):
    """The suffixes of a format's files, and how probabilities are computed and pruned.

    suffixes: of the file of target words given source words, and of the other direction's, if there is one.
    kind: the type of number in which counts are divided.  least: translations of a word with a smaller share of the
    count of its best one are left out.
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

    Those of NULL end the table with counts, which people read.
    best: how many of each word's translations to keep.  Lexicons that are pruned, by this or by their format, have no
    NULL.  The remaining lines keep their probabilities.
    """
    _, kind, least = LEXICON_FORMATS[to]
    ids = links.source, links.target
    probabilities = _probabilities(links.counts, ids[0], kind), _probabilities(links.counts, ids[1], kind)
    if to == "tsv":
        files[0].write(b"source\ttarget\tcount\tp(target|source)\tp(source|target)\n")
    for given, file in enumerate(files):
        every = _chosen(links, given, least, best)
        if to == "tsv":
            every = every[np.argsort(_of_null(links, every), kind="stable")]
        for start in range(0, len(every), _LINES_AT_ONCE):
            rows = every[start : start + _LINES_AT_ONCE]
            words = [[names[i] for i in side[rows].tolist()] for names, side in zip(links.words, ids, strict=True)]
            numbers = [array[rows].tolist() for array in (links.counts, *probabilities)]
            if to == "tsv":
                columns = zip(*words, *numbers, strict=True)
                lines = [f"{s}\t{t}\t{count:.10g}\t{there:.7g}\t{back:.7g}\n" for s, t, count, there, back in columns]
            else:
                columns = zip(words[1 - given], words[given], numbers[1 + given], strict=True)
                lines = [f"{word} {of} {p:.7f}\n" for word, of, p in columns]
            file.write("".join(lines).encode())


def _probabilities(counts: F64, given: I64, kind: npt.DTypeLike) -> F64:
    """The probabilities (C,) of the other word of each pair, given this one."""
    totals = np.bincount(given, counts).astype(kind)
    return np.asarray(counts.astype(kind) / totals[given], np.float64)


def _of_null(links: LinkCounts, rows: I64) -> npt.NDArray[np.bool_]:
    """Whether one of the words of each row is NULL."""
    null = [words.index(NULL) for words in links.words]
    return np.asarray((links.source[rows] == null[0]) | (links.target[rows] == null[1]))


def _chosen(links: LinkCounts, given: int, least: float, best: int | None) -> I64:
    """The rows to write, sorted by the given word, and for one word from the most to the least probable."""
    sides = (links.source, links.target)[:: 1 if given == 0 else -1]
    rows = np.lexsort((sides[1], -links.counts, sides[0]))
    if best is None and least == 0.0:
        return rows
    rows = rows[~_of_null(links, rows)]
    word = sides[0][rows]
    first = np.searchsorted(word, word)  # each word's best row
    kept = links.counts[rows] >= least * links.counts[rows[first]]
    if best is not None:
        kept &= np.arange(len(rows)) - first < best
    return rows[kept]
