"""Counts of linked words, from which lexicons for other tools are made."""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from corpora.corpus import Corpus
from corpora.links import PairLinks
from corpora.ragged import F64, I64

NULL = "NULL"
"""A word without a link is linked to this; a word of this spelling is taken for the same, as Moses does."""

_LINKS_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class LinkCounts:
    """Counts of the links between source and target words; a word without a link counts as linked to NULL.

    words: spellings of source and target words, NULL on both sides.  source, target: (C,) the two words of each pair of
    words that are linked, in ascending order.  counts: (C,) above 0.
    """

    words: tuple[list[str], list[str]]
    source: I64
    target: I64
    counts: F64

    @classmethod
    def of(cls, words: tuple[list[str], list[str]], keys: I64, counts: F64) -> "LinkCounts":
        """Keys (m,) are source << 32 | target; several may be the same."""
        keys, counts = _merged(keys[counts > 0], counts[counts > 0])
        return cls(words, keys >> 32, keys & 0xFFFFFFFF, counts)


def count_links(corpus: Corpus, links: Iterable[PairLinks]) -> LinkCounts:
    """Count the links of a corpus, sure and possible; words are raw tokens.  links: checked against the text.

    Raises CorpusError on text that is not UTF-8.
    """
    ids: tuple[dict[bytes, int], ...] = {NULL.encode(): 0}, {NULL.encode(): 0}
    latest, keys, counts = array("q"), np.empty(0, np.int64), np.empty(0)
    for text, pair in zip(corpus.texts(), links, strict=True):
        corpus.check_utf8([text])
        source, target = (
            [index.setdefault(token, len(index)) for token in side.split()]
            for index, side in zip(ids, text[1:], strict=True)
        )
        linked = pair.sure | pair.possible
        latest.extend([source[j] << 32 | target[k] for j, k in linked])
        rows, columns = {j for j, _ in linked}, {k for _, k in linked}
        latest.extend([word << 32 for j, word in enumerate(source) if j not in rows])
        latest.extend([word for k, word in enumerate(target) if k not in columns])
        if len(latest) > max(_LINKS_AT_ONCE, len(keys)):  # seldom enough that merging takes little time
            keys, counts = _merged(np.append(keys, latest), np.append(counts, np.ones(len(latest))))
            latest = array("q")
    words = [token.decode() for token in ids[0]], [token.decode() for token in ids[1]]
    return LinkCounts.of(words, np.append(keys, latest), np.append(counts, np.ones(len(latest))))


def _merged(keys: I64, counts: F64) -> tuple[I64, F64]:
    """Each key once, in ascending order, and the sum of its counts."""
    found, places = np.unique(keys, return_inverse=True)
    return found, np.bincount(places, counts, len(found)).astype(np.float64)
