"""Move links to another tokenisation of the text, by the characters that tokens of both share."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, product, tee

import numpy as np

from aligner.model.decoding import Alignment, Alignments
from corpora.corpus import Corpus, TextLine
from corpora.errors import CorpusError
from corpora.links import Link, Links
from corpora.normalize import PLAIN, Normalizers
from corpora.same_text import Sides, compare, shared

_SAME = "each line must be the same text as the line that is aligned, in other tokens"


@dataclass(frozen=True)
class Retokenized:
    """A corpus, tokenised by normalizers, and the same text in other tokens, divided by spaces."""

    corpus: Corpus
    normalizers: Normalizers
    other: Corpus

    def check(self) -> None:
        """Raise CorpusError for the first line whose text is not the same, if both can be read twice."""
        if self.corpus.can_be_read_twice and self.other.can_be_read_twice:
            for _ in self._compared(self.corpus.texts()):
                pass

    def remapped(
        self, parts: Iterable[tuple[Sequence[TextLine], Alignments]]
    ) -> Iterator[tuple[list[TextLine], Alignments]]:
        """Turn texts of the corpus and their alignments into the other tokens and their alignments.

        If tokens are linked, all other tokens that share characters with them are, with the highest of the scores.  A
        pair that was left empty stays empty.  Raises CorpusError if the text is not the same.
        """
        one, two = tee(parts)
        every = self._compared(chain.from_iterable(texts for texts, _ in one))
        for _, found in two:
            pairs = list(islice(every, len(found)))
            scores = [_on_others(alignment, *sides) for alignment, (_, sides) in zip(found, pairs, strict=True)]
            shapes = np.array([[len(side.split()) for side in text[1:]] for text, _ in pairs], np.int64).reshape(-1, 2)
            values = np.array([of_pair[link] for of_pair in scores for link in sorted(of_pair)], np.float64)
            alignments = Alignments.of(Links.from_sets(scores), values, shapes)
            yield [text for text, _ in pairs], replace(alignments, fit=found.fit)
        next(every, None)  # there is none, or a complaint

    def _compared(self, texts: Iterable[TextLine]) -> Iterator[tuple[TextLine, list[Sides]]]:
        """For each line, the other text, and where both texts' tokens are in it, for both sides."""
        others, line = self.other.texts(), 0
        for _, *ours in texts:
            if (other := next(others, None)) is None:
                raise CorpusError(self.other.source_file, line, "ends here, but the text goes on", hint=_SAME)
            line = other[0]
            if not any(ours):
                other = line, b"", b""
            self.other.check_utf8([other])
            files = self.other.source_file, self.other.target_file
            sides = []
            for file, normalizer, our, its in zip(files, self.normalizers, ours, other[1:], strict=True):
                try:
                    sides.append(compare(normalizer.tokens(our), PLAIN[0].tokens(its)))
                except ValueError as error:
                    raise CorpusError(file, line, f"is not the text that is aligned: {error}", hint=_SAME) from error
            yield other, sides
        if (other := next(others, None)) is not None:
            raise CorpusError(self.other.source_file, other[0], "goes on, but the text has ended", hint=_SAME)


def _on_others(alignment: Alignment, *sides: Sides) -> dict[Link, float]:
    scores: dict[Link, float] = {}
    sources, targets = (shared(*side) for side in sides)
    for (j, k), score in zip(alignment.links, alignment.scores, strict=True):
        for link in product(sources[j], targets[k]):
            scores[link] = max(score, scores.get(link, score))
    return scores
