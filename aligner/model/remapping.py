"""Links put on another tokenisation of the text: by the characters that tokens of both share."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, chain, islice, pairwise, product, tee

import numpy as np

from aligner.model.decoding import Alignment, Alignments
from aligner.model.streaming import Normalizers
from corpora.alignment import Link, Links
from corpora.errors import CorpusError, quoted
from corpora.normalize import Normalizer
from corpora.readers import Corpus, TextLine

PLAIN: Normalizers = Normalizer(), Normalizer()
"""What makes tokens by spaces."""

Shared = list[list[int]]
"""The tokens of the other tokenisation with which each token has a character in common."""

_SPACE = "\u2581"
"""What SentencePiece and others write for a space."""

_SAME = "each line must be the same text as the line that is aligned, in other tokens"


@lru_cache(1 << 16)
def visible(token: str) -> str:
    """The characters that count: those one can see, decomposed (NFKD) and case folded, as tokenisers change such."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", token).casefold())
    return "".join(c for c in folded if c.isprintable() and c not in (" ", _SPACE))


def shared(tokens: Iterable[str], others: Iterable[str]) -> Shared:
    """Which tokens of another tokenisation of a sentence each token shares characters with.

    Raises ValueError, with what differs first, where they are not of the same text.

    >>> shared(["don't", "go"], ["do", "n't", "go"])
    [[0, 1], [2]]
    """
    ours, theirs = list(map(visible, tokens)), list(map(visible, others))
    texts = "".join(ours), "".join(theirs)
    if texts[0] != texts[1]:
        first = len(os.path.commonprefix(texts))
        shown = [quoted(text[first : first + 20].encode()) for text in texts]
        raise ValueError(f"{shown[1]} in place of {shown[0]}")
    owners = [i for i, token in enumerate(theirs) for _ in token]
    ends = accumulate(map(len, ours), initial=0)
    return [list(dict.fromkeys(owners[start:end])) for start, end in pairwise(ends)]


@dataclass(frozen=True)
class Retokenized:
    """A corpus and the same text in other tokens, which spaces divide.  normalizers: that make tokens of the corpus."""

    corpus: Corpus
    normalizers: Normalizers
    other: Corpus

    def check(self) -> None:
        """Raise CorpusError for the first line whose text is not the same, if both can be read twice."""
        if self.corpus.can_be_read_twice and self.other.can_be_read_twice:
            for _ in self._shared(self.corpus.texts()):
                pass

    def remapped(
        self, parts: Iterable[tuple[Sequence[TextLine], Alignments]]
    ) -> Iterator[tuple[list[TextLine], Alignments]]:
        """Texts of the corpus and their alignments, as those of the other tokens.

        Where tokens are linked, all that they share characters with are, at the highest of the scores.  A pair that was
        left empty stays empty.  Raises CorpusError where the text is not the same.
        """
        one, two = tee(parts)
        every = self._shared(chain.from_iterable(texts for texts, _ in one))
        for _, found in two:
            pairs = list(islice(every, len(found)))
            scores = [_on_others(alignment, *both) for alignment, (_, both) in zip(found, pairs, strict=True)]
            shapes = np.array([[len(side.split()) for side in text[1:]] for text, _ in pairs], np.int64).reshape(-1, 2)
            values = np.array([of_pair[link] for of_pair in scores for link in sorted(of_pair)], np.float64)
            alignments = Alignments.of(Links.from_sets(scores), values, shapes)
            yield [text for text, _ in pairs], replace(alignments, fit=found.fit)
        next(every, None)  # there is none, or a complaint

    def _shared(self, texts: Iterable[TextLine]) -> Iterator[tuple[TextLine, list[Shared]]]:
        """The other text of each line, and what the tokens of both sides share."""
        others, line = self.other.texts(), 0
        for _, *ours in texts:
            if (other := next(others, None)) is None:
                raise CorpusError(self.other.source_file, line, "ends here, but the text goes on", hint=_SAME)
            line = other[0]
            if not any(ours):
                other = line, b"", b""
            self.other.check_utf8([other])
            files = self.other.source_file, self.other.target_file
            both = []
            for file, normalizer, our, its in zip(files, self.normalizers, ours, other[1:], strict=True):
                try:
                    both.append(shared(normalizer.tokens(our), PLAIN[0].tokens(its)))
                except ValueError as error:
                    raise CorpusError(file, line, f"is not the text that is aligned: {error}", hint=_SAME) from error
            yield other, both
        if (other := next(others, None)) is not None:
            raise CorpusError(self.other.source_file, other[0], "goes on, but the text has ended", hint=_SAME)


def _on_others(alignment: Alignment, source: Shared, target: Shared) -> dict[Link, float]:
    scores: dict[Link, float] = {}
    for (j, k), score in zip(alignment.links, alignment.scores, strict=True):
        for link in product(source[j], target[k]):
            scores[link] = max(score, scores.get(link, score))
    return scores
