"""Pairs that are left empty, or left out, so that a single bad line does not end the work."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from math import isqrt

from corpora.corpus import BYTES_A_WORD_PAIR, Corpus, TextLine
from corpora.errors import BrokenLine, CorpusError

MAX_LENGTH = isqrt((1 << 30) // BYTES_A_WORD_PAIR)
"""The most words on either side with which every pair is aligned in 1 GiB."""


@dataclass(frozen=True)
class Skipping:
    """Rules for leaving pairs of a corpus empty, and the pairs that were left empty, by file and line.

    max_length: words that a side may have.  long_pairs: what becomes of longer pairs: ``empty`` leaves them empty,
    so that no line shifts, ``drop`` leaves them out, and ``error`` raises CorpusError for the first.
    on_broken: called with each line that is no pair or not UTF-8; None: such a line is an error.
    """

    max_length: int = MAX_LENGTH
    long_pairs: str = "empty"
    on_broken: Callable[[BrokenLine], object] | None = None
    too_long: set[tuple[str, int]] = field(default_factory=set)
    broken: set[tuple[str, int]] = field(default_factory=set)

    def __call__(self, corpus: Corpus) -> Corpus:
        """The corpus by these rules; a skipped pair is noted once, however often the text is read."""
        return replace(corpus, texts=lambda: self._texts(corpus))

    def _texts(self, corpus: Corpus) -> Iterator[TextLine]:
        texts = corpus.texts()
        while True:
            try:
                number, *sides = text = next(texts, (0, b"", b""))
                if not number:
                    return
                if self.on_broken is not None:
                    corpus.check_utf8([text])
                # Words are fewer than letters: they are seldom counted.
                if max(map(len, sides)) > self.max_length < max(len(side.split()) for side in sides):
                    if self.long_pairs == "error":
                        what = f"a side has more than {self.max_length:,} words"
                        hint = "raise `max_length`, or choose another way for `long_pairs`"
                        raise CorpusError(corpus.source_file, number, what, hint=hint)
                    self.too_long.add((corpus.source_file, number))
                    if self.long_pairs == "drop":
                        continue
                    text = number, b"", b""
            except BrokenLine as error:
                if self.on_broken is None:
                    raise
                if (error.path, error.line) not in self.broken:
                    self.on_broken(error)
                self.broken.add((error.path, error.line))
                text = error.line, b"", b""
            yield text

    def summary(self) -> str:
        """One line that says how many pairs were left empty, and why; "" if none was."""
        left = self.broken | self.too_long
        if not left:
            return ""
        why = f"`max_length`; with {MAX_LENGTH:,} no pair takes more than 1 GiB"
        long = f"{len(self.too_long):,} with a side of more than {self.max_length:,} words ({why})"
        kinds = [f"{len(self.broken):,} broken"] * bool(self.broken) + [long] * bool(self.too_long)
        what = "empty" if self.long_pairs == "empty" else "empty, or out if they are long"
        return "pairs left {}: {:,}, the first at {}:{}; ".format(what, len(left), *min(left)) + ", ".join(kinds)
