"""Carry the inline markup of documents to their translations, by a model, the text itself, or given links."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import NamedTuple

from aligner.model.acquaintance import Acquaintance
from aligner.model.aligning import align as align_parts
from aligner.model.aligning import parts_of_text
from aligner.model.decoding import Alignment
from aligner.model.model import Model, load
from aligner.model.settings import AlignSettings
from aligner.model.unsupervised import OwnText, align
from aligner.progress import Progress, ignore
from corpora.errors import CorpusError
from corpora.files import StrPath
from corpora.inline.carrying import Placed, carry, write
from corpora.inline.corrections import NO_CORRECTIONS, Corrections
from corpora.inline.documents import Document, Piece, Segment, corpus_of, segments_of
from corpora.inline.examples import Examples
from corpora.inline.kinds import Marked, check_kind, read_marked, read_plain
from corpora.inline.units import read_examples
from corpora.link_files import open_links
from corpora.links import Link, PairLinks
from corpora.normalize import without_tokenizing
from corpora.rereading import spilled
from corpora.same_text import compare, shared
from corpora.skipping import Skipping
from features.translation.dictionary import Fit

LinkProbabilities = Mapping[Link, float]
"""Links of the tokens of a pair, with their probabilities."""


class ProjectedTag(NamedTuple):
    """A tag in the target text: as it opens, and its characters; start = end for a code.  sure: see `Placed`."""

    tag: str
    start: int
    end: int
    sure: bool


class Projected(NamedTuple):
    """A target with the markup of its source.  tags: in the order of the source; places in the target without them."""

    target: str
    tags: list[ProjectedTag]


def project(
    pairs: Iterable[tuple[str, str]],
    markup: str = "html",
    *,
    model: Model | None = None,
    settings: AlignSettings = AlignSettings(),
    examples: StrPath | None = None,
) -> list[Projected]:
    """Carry the inline markup of sources to their targets, as the command ``aligner project`` does.

        >>> [found] = aligner.project([("A <b>red</b> house", "Une maison rouge")], model=model)   # doctest: +SKIP
        >>> found.target                                                                           # doctest: +SKIP
        'Une maison <b>rouge</b>'

    pairs: a source with markup of a kind, one of `corpora.inline.kinds.KINDS`, and its target without.  model: by which
    they are aligned; without one by what all pairs say, as the settings say.
    examples: a memory, TMX or XLIFF, with tags on both sides.
    Raises SettingError for an unknown kind, CorpusError for examples that cannot be read.
    """
    check_kind(markup)
    known = read_examples(examples, settings.reading)
    marked = ((read_marked(source, markup), target) for source, target in pairs)
    sides = [(source, read_plain(target, markup, source)) for source, target in marked]
    words = [(source.words, target.words) for source, target in sides]
    found: Iterable[Alignment] = align(words, settings=settings) if model is None else model.align_many(words)
    return [projected(*both, one, known) for both, one in zip(sides, found, strict=True)]


def projected(source: Marked, target: Marked, found: Alignment, examples: Examples | None = None) -> Projected:
    """The target with the tags of its source.  found: of their words.  examples: see `carry`."""
    placed = carry(source, target, dict(zip(found.links, found.scores, strict=True)), examples=examples)
    tags = [ProjectedTag(one.tag.opening, one.start, one.end, one.sure) for one in placed]
    return Projected(write(target, placed), tags)


def carried(
    document: Document,
    links: Iterator[LinkProbabilities],
    corrections: Corrections = NO_CORRECTIONS,
    examples: Examples | None = None,
) -> Iterator[tuple[Piece, list[Placed]]]:
    """Each piece of a document, and the tags in its target.

    links: of each segment.  corrections: of tags.  examples: what words of tags are elsewhere.
    Raises CorpusError for corrections that are of other text, or cannot be.
    """
    pair = 0
    for piece in document.pieces():
        placed = list[Placed]()
        if piece.segment is not None:
            pair += 1
            placed = corrections.carry(pair, piece.segment, next(links, {}), examples)
        yield piece, placed
    corrections.check_ended(pair)


def align_document(
    document: Document,
    settings: AlignSettings = AlignSettings(),
    skipping: Skipping | None = None,
    *,
    on_progress: Callable[[Progress], None] = ignore,
    on_dictionary: Callable[[Fit], None] = ignore,
) -> Iterator[LinkProbabilities]:
    """Align the segments of a document, with the model of the settings, or by the text itself.

    Raises CorpusError on a broken document, or a model that cannot be used.
    """
    corpus = spilled((skipping or Skipping())(corpus_of(document)).refuse_pipes())  # markup is slow to read
    if next(corpus.texts(), None) is None:
        return
    if settings.model is not None:
        model = load(settings.model)
        model = replace(model, normalizers=without_tokenizing(model.normalizers))
        found = align_parts(parts_of_text(corpus, model.builder, Acquaintance(model)(corpus.texts())), model)
    else:
        text = OwnText.of(corpus, settings, on_progress=on_progress, on_dictionary=on_dictionary)
        found = align_parts(text.parts(), text.aligner(text.estimate(on_progress)))
    for _, part in found:
        for one in part:
            yield dict(zip(one.links, one.scores, strict=True))


def read_links(document: Document, path: StrPath) -> Iterator[LinkProbabilities]:
    """The links of a file, which count the words of each text without its tags, split at spaces, or has other tokens.

    Raises CorpusError where it has links of other text, or of another number of segments.
    """
    texts = ((segment.source.text.split(), segment.target.text.split()) for segment in segments_of(document))
    lengths = ((len(source), len(target)) for source, target in texts)
    found = open_links(path, lengths=lengths, own_words=True).pairs
    for number, (segment, pair) in enumerate(zip(segments_of(document), found, strict=True), 1):
        try:
            yield _of_own_tokens(segment, pair)
        except ValueError as error:
            what = f"has links of other words: {error}"
            raise CorpusError(path, number, what, hint="do the files belong together?") from error


def _of_own_tokens(segment: Segment, pair: PairLinks) -> LinkProbabilities:
    """The links of the tokens of linked words, in their order.  ValueError where the words are of another text."""
    sides = segment.source, segment.target
    words = pair.words or (sides[0].text.split(), sides[1].text.split())
    own = ([side.text[start:end] for start, end in side.tokens] for side in sides)
    sources, targets = (shared(*compare(*both)[::-1]) for both in zip(own, words, strict=True))
    found = dict[Link, float]()
    for J, K in pair.sure or pair.possible:
        n, m = len(sources[J]), len(targets[K])
        for (a, j), (b, k) in product(enumerate(sources[J]), enumerate(targets[K])):
            if a * m < (b + 1) * n and b * n < (a + 1) * m:  # at the same share of both words
                found[j, k] = pair.scores.get((J, K), 1.0)
    return found
