"""The one way of a text through a command: what aligns it, its parts, its writers; imported when one is at work."""

import hashlib
import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from aligner._version import __version__
from aligner.cli.inputs import check_texts, open_for_model, open_model, open_other_tokens
from aligner.cli.messages import say, tell_fit
from aligner.cli.options import skipping_pairs
from aligner.cli.outputs import Output, Writer
from aligner.model.acquaintance import Acquaintance
from aligner.model.aligning import Aligned, Aligner, LinksFile, parts_arriving, parts_of_text
from aligner.model.aligning import align as align_parts
from aligner.model.model import Scorer
from aligner.model.output_formats import WITH_WORDS
from aligner.model.remapping import Retokenized
from aligner.model.settings import AlignSettings
from aligner.model.unsupervised import OwnText
from aligner.progress import Progress, ignore, progress_bar
from corpora import SettingError
from corpora.apostrophes import as_option
from corpora.corpus import Corpus, Languages
from corpora.errors import EmptyCorpus
from corpora.files import open_bytes, refuse_inputs, spilling_beside
from corpora.left_out import OtherSpaces
from corpora.link_files import kind_of_links
from corpora.normalize import Normalizers, without_tokenizing
from corpora.readers import open_text
from corpora.rereading import read_again
from corpora.resuming import PartialOutput
from corpora.skipping import Skipping
from corpora.stemming import describe_stems
from corpora.symmetrize import DIRECTIONS
from features.statistics import CorpusStatistics

_PATIENCE = 30.0
"""Seconds until a lost worker, whose shard another one takes up, has ended at last."""


def align_text(
    source: str,
    target: str | None,
    settings: AlignSettings,
    writers: Sequence[Writer],
    *,
    skipping: Skipping | None = None,
    given: str | None = None,
    blocks: PartialOutput | None = None,
    on_statistics: Callable[[CorpusStatistics], object] = ignore,
) -> Sequence[int]:
    """Align a text, or standard input as it arrives, and write its links; return the counts of the last writer.

    With the model of the settings, or by the text's own statistics; then further writers get the links of either
    direction, and on_statistics is called.
    skipping: if pairs that are left empty are not to be told of.  given: links that the model scores, in place of the
    best ones.  blocks: the output to write into, or to go on with.
    """
    output = writers[0].output
    with ExitStack() as until_written:
        skipping = skipping or until_written.enter_context(skipping_pairs(settings))
        with spilling_beside(output.path), progress_bar(output.quiet) as show:
            if settings.model is None:
                text = _by_itself(source, target, settings, writers, skipping, on_statistics, show)
            else:
                text = _by_model(source, target, settings, writers[0], skipping, given, blocks, until_written)
        if blocks is not None and blocks.is_finished:
            with blocks.written():
                if not output.quiet:
                    say(f"{output.path}: finished already, {sum(blocks.counts[:1]):,} pairs")
                return blocks.counts
        if blocks is not None and blocks.counts and not output.quiet:
            say(f"{output.path}: goes on after {blocks.counts[0]:,} pairs")
        _tell_of_tokens(text.normalizers, output)
        for writer, found in zip(text.writers, text.found, strict=True):
            counts = writer.write(text.normalizers, found, text.pairs, text.other, text.languages)
        return counts


class _Text(NamedTuple):
    """A text that is found to be good, and aligned as it is written: `Writer.write` has the rest."""

    writers: Sequence[Writer]
    found: Sequence[Iterator[Aligned]]  # of each writer
    normalizers: Normalizers
    pairs: int | None
    other: Retokenized | None
    languages: Languages


def _by_model(
    source: str,
    target: str | None,
    settings: AlignSettings,
    writer: Writer,
    skipping: Skipping,
    given: str | None,
    blocks: PartialOutput | None,
    until_written: ExitStack,
) -> _Text:
    output, model = writer.output, str(settings.model)
    loaded, names = open_model(settings)
    corpus = open_for_model(loaded, model, source, target, settings.reading)
    aligner: Aligner = loaded
    found: Iterator[Aligned]
    if given is not None:
        corpus, names = corpus.in_tokens(loaded.normalizers), [given]
        loaded = replace(loaded, normalizers=without_tokenizing(loaded.normalizers))
        aligner = Scorer(loaded)
    if settings.shard:
        corpus = corpus.shard(*settings.shard)
    refuse_inputs(output.path, [corpus.source_file, corpus.target_file, model, *names])
    watched = iter if output.quiet else Acquaintance(loaded)
    if target is None and source == "-" and blocks is None and given is None:
        arriving, streams = until_written.enter_context(open_bytes("-")), [LinksFile.open(name) for name in names]
        parts = parts_arriving(corpus, loaded.builder, arriving, streams, watched=watched, skipping=skipping)
        pairs, found = None, (one for part in parts for one in align_parts([part], aligner))
    else:
        probable, digest = given is None, hashlib.sha256()
        corpus = skipping(corpus) if probable else corpus
        pairs = check_texts(corpus, names, digest.update if blocks else len, probable=probable)
        if pairs == 0 and not (settings.shard or blocks or given):
            raise EmptyCorpus(source)
        if blocks is not None:
            _take_up(blocks, corpus, model, digest.hexdigest(), settings, output)
            writer = replace(writer, file=blocks.written(), before=blocks.counts, part_ends=blocks.part_ends)
        streams = [LinksFile.open(name, corpus.lengths() if pairs else None, probable=probable) for name in names]
        texts = islice(read_again(corpus, pairs or 0), sum(writer.before[:1]), None)
        found = align_parts(parts_of_text(corpus, loaded.builder, watched(texts), streams), aligner)
    other = open_other_tokens(output.remap, corpus, loaded.normalizers, [output.path], settings.reading)
    return _Text([writer], [found], loaded.normalizers, pairs, other, corpus.languages)


def _by_itself(
    source: str,
    target: str | None,
    settings: AlignSettings,
    writers: Sequence[Writer],
    skipping: Skipping,
    on_statistics: Callable[[CorpusStatistics], object],
    show: Callable[[Progress], None],
) -> _Text:
    output = writers[0].output
    corpus = skipping(open_text(source, target, settings.reading))
    paths = [writer.output.path for writer in writers]
    others = [kind_of_links(name)[1] for name in settings.links]
    for path in paths:
        refuse_inputs(path, [corpus.source_file, corpus.target_file, settings.priors, *settings.dictionary, *others])
    keep = output.format in WITH_WORDS or output.remap is not None
    text = OwnText.of(corpus, settings, keep=keep, on_progress=show, on_dictionary=tell_fit(output.quiet))
    other = open_other_tokens(output.remap, text.corpus or corpus, text.normalizers, paths, settings.reading)
    if not output.quiet:
        say(corpus.description())
        if settings.stem:
            say(describe_stems(text.normalizers))
    statistics = text.estimate(show)
    on_statistics(statistics)
    directions = None, *DIRECTIONS[: len(paths) - 1]
    found = [align_parts(text.parts(), text.aligner(statistics, direction)) for direction in directions]
    return _Text(writers, found, text.normalizers, text.pairs, other, corpus.languages)


def _tell_of_tokens(normalizers: Normalizers, output: Output) -> None:
    if any(side.tokenize for side in normalizers) and not (output.quiet or output.remap or output.format in WITH_WORDS):
        kept = f' --keep "{as_option(normalizers)}"' if any(side.keep for side in normalizers) else ""
        say(f"links are of tokens with punctuation split off (show, report and lexicon need --tokenize{kept}, too)")


def align_shard(texts: Sequence[str | None], settings: AlignSettings, output: Output) -> Sequence[int]:
    """Align a shard of a text into a file, for another process; returns what `Writer.write` does.

    Goes on after the blocks that a lost worker has written.
    """
    blocks = PartialOutput(output.path, force=True, patience=_PATIENCE)
    writer = Writer(output, nullcontext(io.BytesIO()))
    with warnings.catch_warnings(category=OtherSpaces, action="ignore"):  # nobody joins those of shards
        return align_text(str(texts[0]), texts[1], settings, [writer], skipping=settings.skipping(), blocks=blocks)


def _take_up(
    blocks: PartialOutput, corpus: Corpus, model: str, text: str, settings: AlignSettings, output: Output
) -> None:
    """Begin the blocks, or go on with the blocks that are there.  text: a digest."""
    if not corpus.can_be_read_twice:
        raise SettingError("--resume needs a text that can be read again (give a file, not a pipe)")
    with Path(model).open("rb") as file:
        digests = {"model": hashlib.file_digest(file, "sha256").hexdigest(), "text": text}
    made_of = {"version": __version__, **asdict(settings), **digests, "format": output.format}
    blocks.begin({"command": "aligner align", **{name: str(value) for name, value in made_of.items()}})
