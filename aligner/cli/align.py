"""``aligner align``."""

import hashlib
import io
import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from aligner._version import __version__
from aligner.cli.messages import in_options, say, tell_fit
from aligner.cli.options import argument, command, skipping_pairs
from aligner.cli.outputs import Output, Writer
from aligner.model.settings import AlignSettings
from aligner.progress import ignore, progress_bar
from corpora import SettingError
from corpora.errors import EmptyCorpus
from corpora.left_out import OtherSpaces

if TYPE_CHECKING:
    from aligner.model.streaming import Normalizers
    from corpora.corpus import Corpus
    from corpora.resuming import PartialOutput
    from corpora.skipping import Skipping
    from features.statistics import CorpusStatistics

_PATIENCE = 30.0
"""Seconds until a lost worker, whose shard another one takes up, has ended at last."""


@command(threads=True, hidden="columns source target")
def align(
    source: str = argument("SRC", "Source text, or a whole corpus; - reads 'source ||| target' lines."),
    target: str | None = argument("TGT", "Target text, line by line the translation of SRC.", None),
    *,
    settings: AlignSettings,
    output: Output,
) -> None:
    """Align text: one line of links for each pair of lines.

    With a trained model (-m), or by what the text itself says of who translates whom and the weights that come with
    the program, which were learnt from hand-aligned text of several languages.
    """
    output.check(settings)
    from corpora.resuming import PartialOutput

    blocks = PartialOutput(output.path, force=output.force) if output.resume else None  # these raise now, if ever
    writers = output.open()
    try:
        with skipping_pairs(settings) as skipping:
            if output.cluster is not None:
                from aligner.cli.cluster import align_on_cluster

                align_on_cluster(source, target, settings, skipping, writers[0], align_shard)
            elif settings.model is not None:
                align_with_model(source, target, settings, skipping, writers[0], blocks)
            else:
                align_without_model(source, target, settings, skipping, writers)
    except EmptyCorpus as error:
        if output.resume or error.path == output.remap:
            raise
        for writer in writers:
            with writer.file:
                pass
        if not output.quiet:
            say(f"{error.path}: has no lines to align")


def align_alone(source: str, target: str | None, settings: AlignSettings, writer: Writer) -> None:
    """Align a text with a model or without, for other commands."""
    with skipping_pairs(settings) as skipping:
        if settings.model is None:
            align_without_model(source, target, settings, skipping, [writer])
        else:
            align_with_model(source, target, settings, skipping, writer)


def align_with_model(
    source: str,
    target: str | None,
    settings: AlignSettings,
    skipping: "Skipping",
    writer: Writer,
    blocks: "PartialOutput | None" = None,
) -> Sequence[int]:
    """Align a text, or standard input as it arrives; returns what `Writer.write` does.

    blocks: the output to write into, or to go on with.
    """
    output, model = writer.output, str(settings.model)
    with ExitStack() as until_written:
        with progress_bar(output.quiet):
            from aligner.cli.inputs import check_texts, open_for_model, open_other_tokens, with_others
            from aligner.model.acquaintance import Acquaintance
            from aligner.model.model import load
            from aligner.model.streaming import LinksFile, align_arriving, align_lines, read_again
            from corpora.files import open_bytes, refuse_inputs

            loaded = load(model)
            if settings.offset:
                loaded = loaded.with_offset(settings.offset)
            if settings.candidates is not None:
                loaded = loaded.with_candidates(settings.candidates)
            loaded, names = with_others(loaded, model, settings.links)
            corpus = open_for_model(loaded, model, source, target, settings.reading)
            if settings.shard:
                corpus = corpus.shard(*settings.shard)
            watched = (
                iter if output.quiet else Acquaintance(loaded, lambda message: say(in_options(f"warning: {message}")))
            )
            if target is None and source == "-" and blocks is None:
                refuse_inputs(output.path, [model, *names])
                arriving = until_written.enter_context(open_bytes("-"))
                pairs = None
                streams = [LinksFile.open(name) for name in names]
                parts = align_arriving(loaded, corpus, arriving, streams, watched, skipping)
            else:
                corpus, digest = skipping(corpus), hashlib.sha256()
                refuse_inputs(output.path, [corpus.source_file, corpus.target_file, model, *names])
                pairs = check_texts(corpus, names, digest.update if blocks else len)
                if pairs == 0 and not (settings.shard or blocks):
                    raise EmptyCorpus(source)
                texts = read_again(corpus, pairs or 0)
                if blocks is not None:
                    _take_up(blocks, corpus, model, digest.hexdigest(), settings, output)
                    if blocks.is_finished:
                        with blocks.written():
                            if not output.quiet:
                                say(f"{output.path}: finished already, {sum(blocks.counts[:1]):,} pairs")
                            return blocks.counts
                    writer = replace(writer, file=blocks.written(), before=blocks.counts, part_ends=blocks.part_ends)
                    texts = islice(texts, sum(writer.before[:1]), None)
                streams = [LinksFile.open(name, corpus.lengths() if pairs else None) for name in names]
                parts = align_lines(loaded, corpus, watched(texts), streams)
            other = open_other_tokens(output.remap, corpus, loaded.normalizers, [output.path], settings.reading)
        _tell_of_tokens(loaded.normalizers, output)
        languages = corpus.source_language or loaded.languages[0], corpus.target_language or loaded.languages[1]
        return writer.write(loaded.normalizers, parts, pairs, other, languages)


def _tell_of_tokens(normalizers: "Normalizers", output: Output) -> None:
    if any(side.tokenize for side in normalizers) and not (output.quiet or output.remap or output.format == "jsonl"):
        from corpora.apostrophes import as_option

        kept = f' --keep "{as_option(normalizers)}"' if any(side.keep for side in normalizers) else ""
        say(f"links are of tokens with punctuation split off (show, report and lexicon need --tokenize{kept}, too)")


def align_shard(texts: Sequence[str | None], settings: AlignSettings, output: Output) -> Sequence[int]:
    """Align a shard of a text into a file, for another process; returns what `Writer.write` does.

    Goes on after the blocks that a lost worker has written.
    """
    from corpora.resuming import PartialOutput
    from corpora.skipping import MAX_LENGTH, Skipping

    longest = MAX_LENGTH if settings.longest is None else settings.longest
    skipping = Skipping(longest, settings.long_pairs, ignore if settings.skip_bad else None)
    blocks = PartialOutput(output.path, force=True, patience=_PATIENCE)
    writer = Writer(output, nullcontext(io.BytesIO()))
    with warnings.catch_warnings(category=OtherSpaces, action="ignore"):  # nobody joins those of shards
        return align_with_model(str(texts[0]), texts[1], settings, skipping, writer, blocks)


def _take_up(
    blocks: "PartialOutput", corpus: "Corpus", model: str, text: str, settings: AlignSettings, output: Output
) -> None:
    """Begin the blocks, or go on with the blocks that are there.  text: a digest."""
    if not corpus.can_be_read_twice:
        raise SettingError("--resume needs a text that can be read again (give a file, not a pipe)")
    with Path(model).open("rb") as file:
        digests = {"model": hashlib.file_digest(file, "sha256").hexdigest(), "text": text}
    made_of = {"version": __version__, **asdict(settings), **digests, "format": output.format}
    blocks.begin({"command": "aligner align", **{name: str(value) for name, value in made_of.items()}})


def align_without_model(
    source: str,
    target: str | None,
    settings: AlignSettings,
    skipping: "Skipping",
    writers: Sequence[Writer],
    on_statistics: "Callable[[CorpusStatistics], object]" = ignore,
) -> None:
    """Align a text by its own statistics and write its links; further writers get the links of either direction.

    on_statistics: called with those of the text.
    """
    output = writers[0].output
    from corpora.files import refuse_inputs, spilling_beside

    with spilling_beside(output.path), progress_bar(output.quiet) as show:
        from aligner.cli.inputs import open_other_tokens
        from aligner.model.unsupervised import OwnText
        from corpora.link_files import kind_of_links
        from corpora.readers import open_text
        from corpora.stemming import describe_stems
        from corpora.symmetrize import DIRECTIONS

        corpus = skipping(open_text(source, target, settings.reading))
        paths = [writer.output.path for writer in writers]
        others = [kind_of_links(name)[1] for name in settings.links]
        for path in paths:
            refuse_inputs(
                path, [corpus.source_file, corpus.target_file, settings.priors, *settings.dictionary, *others]
            )
        keep = output.format == "jsonl" or output.remap is not None
        tell = tell_fit(output.quiet)
        text = OwnText.of(corpus, settings, keep=keep, on_progress=show, on_dictionary=tell)
        other = open_other_tokens(output.remap, text.corpus or corpus, text.normalizers, paths, settings.reading)
        if not output.quiet:
            say(corpus.description())
            if settings.stem:
                say(describe_stems(text.normalizers))
        statistics, pairs = text.estimate(show), text.pairs
        on_statistics(statistics)
        normalizers = text.normalizers
        parts = [text.align(statistics), *(text.decode(statistics, one) for one in DIRECTIONS[: len(paths) - 1])]
        del text, statistics
        _tell_of_tokens(normalizers, output)
        languages = corpus.source_language, corpus.target_language
    for writer, found in zip(writers, parts, strict=True):
        writer.write(normalizers, found, pairs, other, languages)
