"""Links put on another tokenisation of the text: by the characters that tokens of both share."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, pairwise, product, tee

import numpy as np

from aligner.model.decoding import Alignment, Alignments
from aligner.model.streaming import Normalizers
from corpora.alignment import Link, Links
from corpora.errors import CorpusError, quoted
from corpora.normalize import Normalizer
from corpora.readers import Corpus, TextLine

Shared = list[list[int]]
"""The tokens of the other tokenisation with which each token has a character in common."""

_SPACE = "\u2581"
"""What SentencePiece and others write for a space."""

_SHOWN = 20
_SAME = "each line must be the same text as the line that is aligned, in other tokens"


@lru_cache(1 << 16)
def visible(token: str) -> str:
    """The characters that count: those one can see, decomposed (NFKD) and case folded, as tokenisers change such."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", token).casefold())
    return "".join(c for c in folded if c.isprintable() and c not in (" ", _SPACE))


def shared(tokens: Sequence[str], others: Sequence[str]) -> Shared:
    """Which tokens of another tokenisation of a sentence each token shares characters with.

    Raises ValueError, with the number of characters before the first that differs, where the texts do.

    >>> shared(["don't", "go"], ["do", "n't", "go"])
    [[0, 1], [2]]
    """
    ours, theirs = list(map(visible, tokens)), list(map(visible, others))
    texts = "".join(ours), "".join(theirs)
    if texts[0] != texts[1]:
        raise ValueError(len(os.path.commonprefix(texts)))
    owners = [i for i, token in enumerate(theirs) for _ in token]
    ends = accumulate(map(len, ours), initial=0)
    return [list(dict.fromkeys(owners[start:end])) for start, end in pairwise(ends)]


@dataclass(frozen=True)
class Retokenized:
    """A corpus and the same text in other tokens, which spaces divide.  normalizers: that make tokens of the corpus."""

    corpus: Corpus
    normalizers: Normalizers
    other: Corpus

    @property
    def others(self) -> Normalizers:
        """What makes tokens of the other text."""
        return Normalizer(), Normalizer()

    def check(self) -> None:
        """Raise CorpusError for the first line whose text is not the same, if both can be read twice."""
        if self.corpus.can_be_read_twice and self.other.can_be_read_twice:
            for _ in self._shared([text] for text in self.corpus.texts()):
                pass

    def remapped(
        self, parts: Iterable[tuple[Sequence[TextLine], Alignments]]
    ) -> Iterator[tuple[list[TextLine], Alignments]]:
        """Texts of the corpus and their alignments, as those of the other tokens.

        Where tokens are linked, all that they share characters with are, at the highest of the scores.  A pair that was
        left empty stays empty.  Raises CorpusError where the text is not the same.
        """
        one, two = tee(parts)
        for pairs, (_, found) in zip(self._shared(texts for texts, _ in one), two, strict=True):
            scores = [_on_others(alignment, *sides) for alignment, (_, *sides) in zip(found, pairs, strict=True)]
            shapes = np.array([[len(side.split()) for side in text[1:]] for text, *_ in pairs], np.int64).reshape(-1, 2)
            values = np.array([of_pair[link] for of_pair in scores for link in sorted(of_pair)], np.float64)
            alignments = Alignments.of(Links.from_sets(scores), values, shapes)
            yield [text for text, *_ in pairs], replace(alignments, fit=found.fit)

    def _shared(self, parts: Iterable[Sequence[TextLine]]) -> Iterator[list[tuple[TextLine, Shared, Shared]]]:
        others, line = self.other.texts(), 0
        for texts in parts:
            found = []
            for text in texts:
                if (other := next(others, None)) is None:
                    raise CorpusError(self.other.source_file, line, "ends here, but the text goes on", hint=_SAME)
                line = other[0]
                if not (text[1] or text[2]):
                    other = line, b"", b""
                self.other.check_utf8([other])
                found.append((other, self._side(0, text[1], other), self._side(1, text[2], other)))
            yield found
        if (other := next(others, None)) is not None:
            raise CorpusError(self.other.source_file, other[0], "goes on, but the text has ended", hint=_SAME)

    def _side(self, side: int, line: bytes, other: TextLine) -> Shared:
        tokens, others = self.normalizers[side].tokens(line), self.others[side].tokens(other[1:][side])
        try:
            return shared(tokens, others)
        except ValueError as error:
            shown = ("".join(map(visible, words))[error.args[0] :][:_SHOWN].encode() for words in (others, tokens))
            what = "is not the text that is aligned: {} in place of {}".format(*map(quoted, shown))
            path = self.other.target_file if side else self.other.source_file
            raise CorpusError(path, other[0], what, hint=_SAME) from error


def _on_others(alignment: Alignment, source: Shared, target: Shared) -> dict[Link, float]:
    scores: dict[Link, float] = {}
    for (j, k), score in zip(alignment.links, alignment.scores, strict=True):
        for link in product(source[j], target[k]):
            scores[link] = max(score, scores.get(link, score))
    return scores
