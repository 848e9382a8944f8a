"""An opened corpus, whose text and links are read as they are iterated over."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from random import Random

import numpy as np

from corpora.errors import NO_UTF8, BrokenLine, CorpusError, EmptyCorpus
from corpora.files import StrPath
from corpora.formats.joint import Parser, parse_joints
from corpora.link_files import LinkStream
from corpora.normalize import Normalizers
from corpora.paths import OF_ALIGNERS, is_stream, plain_name, refuse_stream
from corpora.threads import usable_memory

BYTES_A_WORD_PAIR = 185  # about, of a source word with a target word, while their sentences are aligned by weights

_MOST_PAIRS = 10**9
"""NumPy draws how many pairs to take of each corpus only from fewer pairs in all."""

TextLine = tuple[int, bytes, bytes]  # line number, source line, target line
Languages = tuple[str | None, str | None]


@dataclass(frozen=True)
class Corpus:
    """A recognised corpus; nothing is read before ``texts`` or ``links`` is called."""

    name: str  # as the user wrote it
    form: str  # what was recognised, in words
    source_language: str | None
    target_language: str | None
    source_file: str
    target_file: str
    texts: Callable[..., Iterator[TextLine]] = field(repr=False)
    _links: Callable[[], LinkStream] | None = field(repr=False)
    _links_file: StrPath | None = None  # beside the text, or of the other direction
    _target_shift: int = 0  # lines from a source sentence to its target sentence in the same file
    parse: Parser = parse_joints  # of lines, where source and target are on one
    is_kept: bool = False  # in a spill file, see `corpora.rereading`
    _count: Callable[[], int] | None = None  # its pairs unseen; then `texts` takes a number of them to pass over unseen

    @property
    def languages(self) -> Languages:
        return self.source_language, self.target_language

    @property
    def has_links(self) -> bool:
        return self._links is not None

    def links(self) -> LinkStream:
        """The links of each pair, checked against the text.

        Raises CorpusError if there are none, if their number differs from the text's, and on a broken
        link or one that leaves its sentences.
        """
        if self._links is None:
            raise CorpusError(self.name, 0, "has no links", hint="put them beside the text, like train.wa")
        return self._links()

    @property
    def has_labels(self) -> bool:
        """Whether it has links that count as hand-made: their file is not named as aligners' links are."""
        suffix = plain_name(self._links_file or "").rpartition(".")[2]
        return self.has_links and suffix not in OF_ALIGNERS

    @property
    def can_be_read_twice(self) -> bool:
        """Whether its text is in files, not in standard input or pipes, or was kept."""
        return self.is_kept or not (is_stream(self.source_file) or is_stream(self.target_file))

    def refuse_pipes(self) -> "Corpus":
        """Return this corpus, which is to be read more than once.  Raises CorpusError if it comes from a pipe."""
        if not self.is_kept:
            refuse_stream(self.source_file)
            refuse_stream(self.target_file)
        return self

    def lengths(self) -> Iterator[tuple[int, int]]:
        """The numbers of source and target tokens of each pair, split at ASCII whitespace as links count them."""
        return word_counts(self.texts())

    def in_tokens(self, normalizers: Normalizers) -> "Corpus":
        """The corpus with each line split into tokens by its normalizer and joined by spaces, if one of them tokenises.

        The positions in links are then those of these tokens. Reading raises CorpusError on a line that is not UTF-8.
        """
        if not any(normalizer.tokenize for normalizer in normalizers):
            return self

        def texts() -> Iterator[TextLine]:
            for text in self.texts():
                self.check_utf8([text])
                source, target = (" ".join(n.tokens(s)).encode() for n, s in zip(normalizers, text[1:], strict=True))
                yield text[0], source, target

        return replace(self, texts=texts, _count=None)

    def shard(self, number: int, shards: int) -> "Corpus":
        """Shard `number`, from 1 on, of `shards` with equally many pairs; lines keep their numbers.

        Raises CorpusError if the corpus can be read only once, or has no pair.
        """
        self.refuse_pipes()
        pairs = sum(1 for _ in self.texts()) if self._count is None else self._count()
        if pairs == 0:
            raise EmptyCorpus(self.source_file)
        first, last = pairs * (number - 1) // shards, pairs * number // shards

        def texts() -> Iterator[TextLine]:
            rest = islice(self.texts(), first, None) if self._count is None else self.texts(first)
            return map(lambda _, text: text, range(last - first), rest)  # goes on after a broken line, unlike islice

        return replace(self, texts=texts, _count=None)

    def description(self) -> str:
        """One line for the user: what was recognised, and which side is the source."""
        return f"{self.name}: {self.form}"

    @property
    def files(self) -> list[StrPath]:
        return [file for file in (self.source_file, self.target_file, self._links_file) if file is not None]

    def check_lengths(self, texts: Sequence[TextLine]) -> None:
        """Raise CorpusError for the first of these pairs whose word pairs do not fit into memory."""
        most = min(usable_memory() // BYTES_A_WORD_PAIR, (1 << 31) - 1)  # edges are numbered by int32
        for number, source, target in texts:
            if len(source) * len(target) > most:  # seldom, and words are fewer than letters
                words = len(source.split()), len(target.split())
                if words[0] * words[1] > most:
                    what = f"{words[0]} source and {words[1]} target words need more memory than there is"
                    raise CorpusError(self.source_file, number, what, hint="split the pair, or empty both lines")

    def places(self, number: int) -> tuple[tuple[str, int], tuple[str, int]]:
        """The file and line of the source and the target of the pair with this number."""
        return (self.source_file, number), (self.target_file, number + self._target_shift)

    def check_utf8(self, texts: Sequence[TextLine]) -> None:
        """Raise BrokenLine for the first of these pairs with a side that is not UTF-8."""
        with suppress(UnicodeDecodeError):
            b"\n".join([line for _, *sides in texts for line in sides]).decode()  # faster than one by one
            return
        for number, *lines in texts:
            for (file, place), line in zip(self.places(number), lines, strict=True):
                try:
                    line.decode()
                except UnicodeDecodeError as error:
                    raise BrokenLine(file, place, "not valid UTF-8", hint=NO_UTF8) from error


def sample(corpora: Sequence[Corpus], counts: Sequence[int], pairs: int, seed: int) -> list[Corpus]:
    """Corpora with a random sample of `pairs` of their pairs, in order, with their line numbers; or all, if not more.

    counts: how many pairs each corpus has.
    """
    if sum(counts) <= pairs:
        return [*corpora]
    rng, whole = np.random.default_rng(seed), sum(counts)
    if whole < _MOST_PAIRS:
        shares = rng.multivariate_hypergeometric(counts, pairs, method="marginals").tolist()
    else:
        drawn = np.sort(rng.choice(whole, pairs, replace=False, shuffle=False))
        shares = np.diff(np.searchsorted(drawn, np.cumsum([0, *counts]))).tolist()
    return [
        replace(corpus, texts=partial(_sample, corpus, count, share, f"{seed} {number}"))
        for number, (corpus, count, share) in enumerate(zip(corpora, counts, shares, strict=True))
    ]


def _sample(corpus: Corpus, count: int, wanted: int, seed: str) -> Iterator[TextLine]:
    """`wanted` of the pairs, all as likely  [Knuth, The Art of Computer Programming 2, algorithm 3.4.2 S]."""
    draw = Random(seed).random
    for left, text in zip(range(count, 0, -1), corpus.texts(), strict=False):
        if left * draw() < wanted:
            wanted -= 1
            yield text


def word_counts(texts: Iterable[TextLine]) -> Iterator[tuple[int, int]]:
    return ((len(source.split()), len(target.split())) for _, source, target in texts)
