"""Texts that are read more than once: checked first, kept if they come from a pipe, and read again."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from mmap import ACCESS_READ, mmap

from corpora.corpus import Corpus, TextLine
from corpora.errors import CorpusError, counted
from corpora.files import spill_file

_PAIRS_AT_ONCE = 1 << 15


def check_corpus(corpus: Corpus, told: Callable[[bytes], object] = len) -> int:
    """Read a corpus once, so that bad text is found before anything is written; returns the number of pairs.

    told: called with all text, part by part, for a digest.
    Raises CorpusError on sides of unequal length, text that is not UTF-8, and pairs that are too long.
    """
    texts, pairs = corpus.texts(), 0
    while lines := list(islice(texts, _PAIRS_AT_ONCE)):
        corpus.check_utf8(lines)
        corpus.check_lengths(lines)
        told(b"".join([b"%b\n" % side for _, *sides in lines for side in sides]))
        pairs += len(lines)
    return pairs


def rereadable(corpus: Corpus) -> Corpus:
    """The corpus, if it can be read twice; else one that can, see `spilled`."""
    return corpus if corpus.can_be_read_twice else spilled(corpus)


def spilled(corpus: Corpus) -> Corpus:
    """The corpus with its lines in a spill file, from where reading them again costs next to nothing."""
    with spill_file("text") as copy:
        copy.write(b"\n")  # a file of nothing cannot be mapped
        copy.writelines(b"%d\n%b\n%b\n" % text for text in corpus.texts())
        copy.flush()
        mapped = mmap(copy.fileno(), 0, access=ACCESS_READ)

    def read() -> Iterator[bytes]:
        start = 1  # each iterator has its own place, the map has but one
        while (end := mapped.find(b"\n", start)) >= 0:
            yield mapped[start:end]
            start = end + 1

    def texts() -> Iterator[TextLine]:
        lines = read()
        return zip(map(int, lines), lines, lines, strict=True)

    return replace(corpus, texts=texts, is_kept=True)


def read_again(corpus: Corpus, pairs: int) -> Iterator[TextLine]:
    """Read the text of a corpus again, which had this many pairs before.  Raises CorpusError if it has fewer now."""
    number = line = 0
    for text in corpus.texts():
        yield text
        number, line = number + 1, text[0]
    if number < pairs:
        what = f"ends here, but had {counted(pairs, 'pair')}, not {number}, when the run began"
        raise CorpusError(corpus.source_file, line, what, hint="the file was changed meanwhile: run it again")
