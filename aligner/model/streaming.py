"""Aligning text as it comes: lines in, as many lines out, in bounded memory."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from mmap import ACCESS_READ, mmap
from typing import BinaryIO, NamedTuple

import numpy as np

from aligner.model.decoding import Alignments
from aligner.model.model import PAIRS_AT_ONCE, Model, Task
from corpora.alignment import Links, PairLinks, check_range
from corpora.bitext import Bitext
from corpora.corpus import Corpus, Languages, TextLine
from corpora.errors import CorpusError, counted
from corpora.files import arriving_lines, spill_file
from corpora.formats.jsonl import pair_object, with_languages
from corpora.formats.tsv import ROW
from corpora.link_files import kind_of_links, open_links, read_links
from corpora.normalize import Normalizer
from corpora.skipping import Skipping
from corpora.threads import map_threads

Normalizers = tuple[Normalizer, Normalizer]
Watch = Callable[[Iterable[TextLine]], Iterator[TextLine]]


def _scored(normalizers: Normalizers, texts: Sequence[TextLine], found: Alignments) -> bytes:
    lines = (" ".join(f"{j}-{k}:{score:.4f}" for (j, k), score in zip(a.links, a.scores, strict=True)) for a in found)
    return "".join(f"{line}\n" for line in lines).encode()


def _jsonl(
    normalizers: Normalizers, texts: Sequence[TextLine], found: Alignments, languages: Languages = (None, None)
) -> bytes:
    objects = [
        pair_object(normalizers[0].tokens(source), normalizers[1].tokens(target), alignment.links, alignment.scores)
        for (_, source, target), alignment in zip(texts, found, strict=True)
    ]
    named = (with_languages(pair, languages) for pair in objects)
    return "".join(f"{json.dumps(pair, ensure_ascii=False)}\n" for pair in named).encode()


def _tsv(normalizers: Normalizers, texts: Sequence[TextLine], found: Alignments) -> bytes:
    numbers = np.column_stack([found.fit, found.unlinked, [alignment.score for alignment in found]]).tolist()
    links = found.lines().split(b"\n")
    return b"".join(ROW % (*row, line) for row, line in zip(numbers, links, strict=False))


FORMATS: dict[str, Callable[..., bytes]] = {
    "pharaoh": lambda normalizers, texts, found: found.lines(),
    "scored": _scored,
    "jsonl": _jsonl,
    "tsv": _tsv,
}
"""Formats of ``align``: ``i-j``; ``i-j:score``; a `pair_object`; and the columns of `corpora.formats.tsv`.

One line for each pair.  Only jsonl contains the text, and its languages, which its function takes as a last argument.
"""


class LinksFile(NamedTuple):
    """Another aligner's links as they are read.  path: for errors.  pairs: a stream, one item for each pair."""

    path: str
    pairs: Iterator[PairLinks]

    @classmethod
    def open(cls, path: str, lengths: Iterable[tuple[int, int]] | None = None, *, probable: bool = True) -> "LinksFile":
        """Open a file of links.  lengths: of the sentences, if they can be read beforehand, as NAACL links need.

        probable: scores of links are probabilities.
        """
        return cls(path, open_links(path, lengths=lengths, probable=probable).pairs)

    def take(self, lines: list[TextLine]) -> Links:
        """Read the links of these lines.  Raises CorpusError if they end, or leave the sentences."""
        pairs = list(islice(self.pairs, len(lines)))
        if len(pairs) < len(lines):
            line = lines[len(pairs)][0] - 1
            raise CorpusError(self.path, line, "the links end here, but the text goes on", hint=_ONE_EACH)
        for (number, source, target), links in zip(lines, pairs, strict=True):
            check_range(links, len(source.split()), len(target.split()), self.path, number)
        return Links.from_pairs(pairs)

    def check_end(self, lines: int) -> None:
        """Raise CorpusError if there are links after those of the last line."""
        if next(self.pairs, None) is not None:
            raise CorpusError(self.path, lines + 1, "the links go on, but the text has ended", hint=_ONE_EACH)


_ONE_EACH = "give one line for each pair, empty ones too"


def read_others(given: Iterable[str], bitext: Bitext) -> tuple[Links, ...]:
    """Read other aligners' links of a bitext, whose scores are probabilities.  given: files, see `kind_of_links`."""
    lengths = list(zip(bitext.source.lengths.tolist(), bitext.target.lengths.tolist(), strict=True))
    return tuple(read_links(kind_of_links(one)[1], lengths=lengths, probable=True) for one in given)


def align_lines(
    model: Model, corpus: Corpus, texts: Iterator[TextLine], links: Sequence[LinksFile] = (), *, given: bool = False
) -> Iterator[tuple[list[TextLine], Alignments]]:
    """Align lines of a corpus; yields many lines and their alignments at a time; batches run on all cores, in order.

    links: other aligners' links, a stream for each file the model was trained with; or, with `given`, a single stream
    of links to be scored.
    Raises CorpusError on text that is not UTF-8.
    """

    def jobs() -> Iterator[tuple[list[TextLine], Task]]:
        while lines := list(islice(texts, PAIRS_AT_ONCE)):
            others = [file.take(lines) for file in links]
            builder = model.builder()
            builder.add_texts(corpus, lines)
            bitext = builder.bitext()
            tasks = model.tasks(bitext, given=others[0]) if given else model.tasks(bitext, others)
            yield from ((lines[slice(*run)], task) for run, task in tasks.items())

    return map_threads(lambda job: (job[0], job[1]()), jobs())


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

    return replace(corpus, texts=texts)


def read_again(corpus: Corpus, pairs: int) -> Iterator[TextLine]:
    """Read the text of a corpus again, which had this many pairs before.  Raises CorpusError if it has fewer now."""
    number = line = 0
    for text in corpus.texts():
        yield text
        number, line = number + 1, text[0]
    if number < pairs:
        what = f"ends here, but had {counted(pairs, 'pair')}, not {number}, when the run began"
        raise CorpusError(corpus.source_file, line, what, hint="the file was changed meanwhile: run it again")


def align_arriving(
    model: Model, corpus: Corpus, stream: BinaryIO, links: Sequence[LinksFile], watched: Watch, skipping: Skipping
) -> Iterator[tuple[list[TextLine], Alignments]]:
    """Align lines of standard input as they arrive, in parts like those of `align_lines`.

    A process that waits for the links of the line it has written gets them: nothing is held back to fill a batch.
    corpus: parses the lines.  watched: passes the texts on unchanged, see `acquaintance.Acquaintance`.
    Raises CorpusError on a line that is no pair, or not UTF-8, after the links of all lines before it.
    """
    number = 0
    for arrived in arriving_lines(stream, "-"):
        for texts in _sound(corpus, arrived, number + 1, skipping):
            yield from align_lines(model, corpus, watched(texts), links)
        number += len(arrived)
    for file in links:
        file.check_end(number)


def _sound(corpus: Corpus, lines: Sequence[bytes], first: int, skipping: Skipping) -> Iterator[list[TextLine]]:
    """Yield the texts of lines, up to a broken line, which raises its CorpusError.  first: number of the first line."""
    try:
        texts = list(skipping(replace(corpus, texts=lambda: corpus.parse(lines, "-", first))).texts())
        corpus.check_utf8(texts)
        corpus.check_lengths(texts)
    except CorpusError as error:
        yield from _sound(corpus, lines[: error.line - first], first, skipping)
        raise
    if texts:
        yield texts


def check_corpus(corpus: Corpus, told: Callable[[bytes], object] = len) -> int:
    """Read a corpus once, so that bad text is found before anything is written; returns the number of pairs.

    told: called with all text, part by part, for a digest.
    Raises CorpusError on sides of unequal length, text that is not UTF-8, and pairs that are too long.
    """
    texts, pairs = corpus.texts(), 0
    while lines := list(islice(texts, PAIRS_AT_ONCE)):
        corpus.check_utf8(lines)
        corpus.check_lengths(lines)
        told(b"".join([b"%b\n" % side for _, *sides in lines for side in sides]))
        pairs += len(lines)
    return pairs
