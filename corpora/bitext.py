"""Bitexts: two texts with the same number of sentences, as arrays of word ids."""

import json
import re
import warnings
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple

import numpy as np

from corpora.corpus import Corpus, TextLine
from corpora.errors import CorpusError, EmptyCorpus
from corpora.inline.tokens import UNSPACED
from corpora.normalize import SPACE, Normalizer
from corpora.ragged import I32, I64
from corpora.spaces import warn_of_spaces

_CHUNK = 1 << 16
PAIRS_AT_ONCE = 1000
"""Pairs that are read at once; if they are not UTF-8, the line at fault is searched for among them."""
FEWEST_LINES = 20
"""Texts with fewer lines are not checked for oddities."""

_STOPPED = re.compile(r"\w+[.!?…。।؟]")


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The distinct words of a text; the id of a word is its place in the list."""

    words: list[str]
    index: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "index", {word: id_ for id_, word in enumerate(self.words)})

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True, eq=False)
class Text:
    """n sentences of T words in all: sentence i is ids[offsets[i]:offsets[i + 1]], possibly empty."""

    ids: I32  # (T,)
    offsets: I64  # (n + 1,)
    vocabulary: Vocabulary
    language: str | None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> I64:
        """The number of words in each sentence, (n,)."""
        return np.diff(self.offsets)

    @property
    def occurrences(self) -> I64:
        """How often each word of the vocabulary is in the text, (V,)."""
        return count_ids(self.ids, len(self.vocabulary))

    def take(self, sentences: I64) -> "Text":
        """The text of these sentences alone, (m,) indices, in their order, with the whole vocabulary."""
        offsets = np.concatenate([[0], np.cumsum(np.diff(self.offsets)[sentences])])
        blocks = np.split(sentences, np.flatnonzero(np.diff(sentences) != 1) + 1) if len(sentences) else []
        parts = [self.ids[self.offsets[block[0]] : self.offsets[block[-1] + 1]] for block in blocks]
        return replace(self, ids=np.concatenate([self.ids[:0], *parts]), offsets=offsets)

    def cut(self, first: int, last: int) -> tuple[I32, I64]:
        """The word ids of sentences first .. last, and where among them each begins and the last one ends."""
        offsets = self.offsets[first : last + 1]
        return self.ids[offsets[0] : offsets[-1]], offsets - offsets[0] if first else offsets  # of a whole text no copy

    def sentence(self, index: int) -> I32:
        """The word ids of one sentence, a view; negative counts from the end, IndexError beyond the last."""
        sentence = range(len(self))[index]
        return self.cut(sentence, sentence + 1)[0]

    def without_other_words(self) -> "Text":
        """The text with a vocabulary of the words that are in it alone."""
        used, ids = np.unique(self.ids, return_inverse=True)
        vocabulary = Vocabulary([self.vocabulary.words[word] for word in used.tolist()])
        return Text(ids.astype(np.int32), self.offsets, vocabulary, self.language)


def count_ids(ids: I32, n: int) -> I64:
    """How often each of the numbers below n is among some, (n,)."""
    counts = np.zeros(n, np.int64)
    for first in range(0, len(ids), _CHUNK):  # NumPy copies what it counts
        counts += np.bincount(ids[first : first + _CHUNK], minlength=n)
    return counts


class SentencePair(NamedTuple):
    """One pair of a bitext: views of its ids, and its words as normalised."""

    source: I32  # (J,)
    target: I32  # (K,)
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Bitext:
    """Two texts whose sentences translate each other, one to one.  ValueError on unequal numbers."""

    source: Text
    target: Text

    def __post_init__(self) -> None:
        if len(self.source) != len(self.target):
            raise ValueError(f"{len(self.source)} source and {len(self.target)} target sentences")

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, index: int) -> SentencePair:
        sides = (self.source, self.target)
        ids = [text.sentence(index) for text in sides]
        words = [tuple(text.vocabulary.words[i] for i in of.tolist()) for text, of in zip(sides, ids, strict=True)]
        return SentencePair(ids[0], ids[1], words[0], words[1])

    def take(self, pairs: I64) -> "Bitext":
        """The bitext of these pairs alone, (m,) indices, in their order."""
        return Bitext(self.source.take(pairs), self.target.take(pairs))

    def __iter__(self) -> Iterator[SentencePair]:
        return (self[index] for index in range(len(self)))

    def fingerprint(self) -> str:
        """A hexadecimal digest of languages, words and sentence boundaries, whatever the ids."""
        digest = blake2b(digest_size=16)
        for text in (self.source, self.target):
            digest.update(json.dumps([text.language, len(text), len(text.ids)]).encode())
            digest.update(text.offsets.astype("<i8").tobytes())
            hashes = b"".join(blake2b(w.encode(), digest_size=8).digest() for w in text.vocabulary.words)
            table = np.frombuffer(hashes, dtype=np.uint64)
            for start in range(0, len(text.ids), _CHUNK):
                digest.update(table[text.ids[start : start + _CHUNK]].tobytes())
        return digest.hexdigest()


class WordIds(dict[bytes | str, int]):
    """Word ids by raw token; a new token is normalised, and its word gets the next id if it is new too."""

    def __init__(self, normalizer: Normalizer) -> None:
        self.normalizer = normalizer
        self.index: dict[str, int] = {}

    def __missing__(self, token: bytes | str) -> int:
        if not isinstance(token, str | bytes):
            raise TypeError(f"a token is a string, not {token!r} (use str() of it)")
        word = self.normalizer.word(token if isinstance(token, str) else token.decode())
        self[token] = id_ = self.index.setdefault(word, len(self.index))
        return id_


class _TextBuilder:
    """A growing text."""

    def __init__(self, normalizer: Normalizer) -> None:
        self._normalizer = normalizer
        self._ids = array("i")
        self._ends = array("q", [0])
        self._word_ids = WordIds(normalizer)

    @property
    def tokenizes(self) -> bool:
        return self._normalizer.tokenize

    def add_lines(self, lines: Iterable[bytes]) -> None:
        """Append sentences.  UnicodeDecodeError if one is not UTF-8."""
        for line in lines:  # bytes are split at ASCII whitespace
            self.add_tokens(self._normalizer.tokens(line) if self._normalizer.tokenize else line.split())

    def add_tokens(self, tokens: Iterable[bytes | str]) -> None:
        self._ids.extend(map(self._word_ids.__getitem__, tokens))
        self._ends.append(len(self._ids))

    def text(self, language: str | None) -> Text:
        ids, offsets = np.frombuffer(self._ids, dtype=np.int32), np.frombuffer(self._ends, dtype=np.int64)
        return Text(ids, offsets, Vocabulary(list(self._word_ids.index)), language)


class BitextBuilder:
    """A growing bitext, normalised as it grows."""

    def __init__(
        self,
        source: Normalizer,
        target: Normalizer,
        source_language: str | None = None,
        target_language: str | None = None,
    ) -> None:
        self._languages = source_language, target_language
        self._source, self._target = _TextBuilder(source), _TextBuilder(target)

    def add_lines(self, source: Sequence[bytes], target: Sequence[bytes]) -> None:
        """Append source lines and their target lines.  UnicodeDecodeError if one is not UTF-8."""
        self._source.add_lines(source)
        self._target.add_lines(target)

    def add_texts(self, corpus: Corpus, texts: Sequence[TextLine]) -> None:
        """Append pairs of lines of a corpus.  CorpusError if one is not UTF-8, or too long."""
        corpus.check_lengths(texts)
        if not (self._source.tokenizes and self._target.tokenizes):
            warn_of_spaces(corpus, texts)
        _, source, target = zip(*texts, strict=True) if texts else ((), (), ())
        try:
            self.add_lines(source, target)
        except UnicodeDecodeError:
            corpus.check_utf8(texts)
            raise

    def add_tokens(self, source: Iterable[str], target: Iterable[str]) -> None:
        """Append a pair of tokenised sentences."""
        self._source.add_tokens(source)
        self._target.add_tokens(target)

    def add_pairs(self, pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> "BitextBuilder":
        """Append pairs of tokenised sentences and return the builder.  TypeError unless tokens are strings."""
        for pair in pairs:
            if str in map(type, (pair, *pair)):
                raise TypeError("a sentence is a sequence of tokens, not a string (use .split())")
            self.add_tokens(*pair)
        return self

    def bitext(self) -> Bitext:
        """The pairs so far.  Adding more after that raises BufferError: the arrays are not copied."""
        return Bitext(self._source.text(self._languages[0]), self._target.text(self._languages[1]))


def read_bitext(
    corpora: Sequence[Corpus],
    source_normalizer: Normalizer,
    target_normalizer: Normalizer,
    on_progress: Callable[[int], None] | None = None,
) -> Bitext:
    """Read corpora one after the other into one bitext; each line is a pair, empty ones too.

    on_progress is called with the number of pairs so far, at least every PAIRS_AT_ONCE pairs.

    Warns of what looks wrong, see `oddities`.
    Raises CorpusError on a corpus without lines, text that is not UTF-8, sides of unequal length, and
    corpora whose languages stand in opposite order.
    """
    builder = BitextBuilder(source_normalizer, target_normalizer, *_common_languages(corpora))
    n_pairs = 0
    for corpus in corpora:
        before = n_pairs
        texts = corpus.texts()
        while lines := list(islice(texts, PAIRS_AT_ONCE)):
            builder.add_texts(corpus, lines)
            n_pairs += len(lines)
            if on_progress is not None:
                on_progress(n_pairs)
        if n_pairs == before:
            raise EmptyCorpus(corpus.source_file)
    bitext = builder.bitext()
    for message in oddities(bitext):
        warnings.warn(f"{corpora[0].name}: {message}", stacklevel=2)
    return bitext


def _common_languages(corpora: Sequence[Corpus]) -> tuple[str | None, str | None]:
    source = next((c.source_language for c in corpora if c.source_language is not None), None)
    target = next((c.target_language for c in corpora if c.target_language is not None), None)
    for corpus in corpora:
        crossed = corpus.source_language == target or corpus.target_language == source
        if crossed and source is not None and target is not None and source != target:
            what = f"is {corpus.source_language}-{corpus.target_language}, but before it is {source}-{target}"
            raise CorpusError(corpus.name, 0, what, hint="choose the source and target language of all")
    return source, target


def oddities(bitext: Bitext) -> Iterator[str]:
    """Yield a message if many lines are empty, of one word, of hundreds, not tokenised, or the same on both sides."""
    full = (bitext.source.lengths > 0) & (bitext.target.lengths > 0)
    if len(full) >= FEWEST_LINES and full.mean() < 0.5:
        yield f"{1 - full.mean():.0%} of the lines are empty on a side (are these the right files?)"
    if full.sum() < FEWEST_LINES:
        return
    for name, text in (("source", bitext.source), ("target", bitext.target)):
        words = text.lengths[full].mean()
        if words < 2:
            unspaced = UNSPACED.search("".join(text.vocabulary.words[:200]))
            hint = "training with `tokenize` takes its characters for words" if unspaced else "put spaces between words"
            yield f"the {name} has {words:.1f} words a line ({hint})"
        elif words > 300:
            yield f"the {name} has {words:.0f} words a line (put one sentence on a line)"
        if np.count_nonzero(text.ids == text.vocabulary.index.get(SPACE, -1)) >= full.sum():
            yield f"the {name} has {SPACE} for spaces, as words (align text without, and give this one as `remap`)"
    pairs = [bitext[pair] for pair in np.flatnonzero(full)[:200].tolist()]
    for name, last in (
        ("source", [pair.source_words[-1] for pair in pairs]),
        ("target", [pair.target_words[-1] for pair in pairs]),
    ):
        stopped = [word for word in last if _STOPPED.fullmatch(word)]
        if len(stopped) > len(last) / 3:
            yield f"the {name} has words with their full stops, like '{stopped[0]}' (`tokenize` splits them off)"
    same = np.mean([pair.source_words == pair.target_words for pair in pairs])
    if same > 0.5:
        yield f"{same:.0%} of the lines are the same in source and target (is one text given twice?)"
