"""``aligner align``."""

import sys
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import islice, repeat
from typing import Annotated, Any, BinaryIO

import typer

from aligner.cli import options as opt
from aligner.cli.answers import say
from aligner.cli.texts import check_number_of_links, check_texts, open_for_model
from aligner.progress import Progress, progress_bar
from corpora import SettingError
from corpora.errors import CorpusError


@dataclass(frozen=True)
class _Answer:
    """Where the links go, in which format, with which messages."""

    path: str
    format_: str
    force: bool
    quiet: bool

    def open(self) -> AbstractContextManager[BinaryIO]:
        """The file; complains at once where it cannot be written."""
        from corpora.files import write_atomically

        return write_atomically(self.path, force=self.force)

    @property
    def without_bar(self) -> bool:
        """Whether a progress bar would disturb: the links themselves are on the terminal."""
        return self.quiet or (self.path == "-" and sys.stdout.isatty())


def align(
    source: Annotated[
        str, typer.Argument(metavar="SRC", help="Source text, or a whole corpus; - reads 'source ||| target' lines.")
    ],
    target: Annotated[
        str | None, typer.Argument(metavar="TGT", help="Target text, line by line the translation of SRC.")
    ] = None,
    model: opt.TrainedModel = None,
    output: opt.OutputFile = "-",
    format_: opt.OutputFormat = "pharaoh",
    links: opt.LinksFiles = None,
    offset: opt.Offset = 0.0,
    unsupervised: opt.Unsupervised = False,
    decoding: opt.DecodingName = None,
    threshold: opt.Threshold = None,
    null: opt.NullPrior = None,
    iterations: opt.Iterations = None,
    seconds: opt.Seconds = None,
    memory: opt.CellMemory = None,
    threads: opt.Threads = None,
    force: opt.Force = False,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Align text: one line of links for each pair of lines.

    With a trained model (-m), or by what the text itself says of who translates whom and the weights that come with
    the program, which were learnt from hand-aligned text of other languages.
    """
    settings = {
        "unsupervised": unsupervised or None, "decoding": decoding, "threshold": threshold, "null": null,
        "iterations": iterations, "seconds": seconds, "memory": memory,
    }  # fmt: skip
    given = {name: value for name, value in settings.items() if value is not None}
    answer = _Answer(output, format_, force, quiet)
    if model is None:
        if links:
            raise SettingError("--links are a feature of trained models (give the model that has them with -m)")
        _align_without_model(source, target, answer, offset, given)
    else:
        for name in given:
            raise SettingError(f"--{name} is for text without a model (leave out --{name}, or -m)")
        _align_with_model(source, target, answer, offset, model, links or [])


def _align_with_model(
    source: str, target: str | None, answer: _Answer, offset: float, model: str, names: list[str]
) -> None:
    """Align a text, or standard input as it arrives.  names: of files of other aligners' links."""
    from aligner.model.model import load
    from aligner.model.streaming import LinksFile, align_arriving, align_corpus

    loaded = load(model)
    if offset:
        loaded = loaded.with_offset(offset)
    writer = answer.open()
    check_number_of_links(loaded, model, names)
    if target is None and source == "-":
        with writer as file:
            streams = [LinksFile.open(name) for name in names]
            for lines in align_arriving(loaded, sys.stdin.buffer, answer.format_, streams):
                file.write(lines)
                file.flush()
        return
    corpus = open_for_model(loaded, model, source, target)
    pairs = check_texts(corpus, names)
    if pairs == 0:
        raise CorpusError(source, 0, "there are no lines to align", hint="check the file name")
    with progress_bar(answer.without_bar) as show, writer as file:
        streams = [LinksFile.open(name, corpus.lengths() if pairs else None) for name in names]
        done = 0
        for lines in align_corpus(loaded, corpus, answer.format_, streams, pairs):
            file.write(lines)
            done += lines.count(b"\n")
            show(Progress("aligning", done, pairs, "pairs"))


def _align_without_model(
    source: str, target: str | None, answer: _Answer, offset: float, given: dict[str, Any]
) -> None:
    """Align a text by its own statistics.  given: options of translation models and of their decoding."""
    if target is None and source == "-":
        raise SettingError("standard input is answered line by line, which needs a model (give files, or -m MODEL)")
    from aligner.model.decoding import PAIRS_AT_ONCE, Alignments
    from aligner.model.default import default_model
    from aligner.model.streaming import FORMATS, read_again
    from aligner.model.unsupervised import check_decoding, check_training, decode_texts, estimate
    from corpora.bitext import read_bitext
    from corpora.files import spilling_beside
    from corpora.normalize import Normalizer
    from corpora.readers import open_corpus, open_texts
    from features.statistics import CorpusStatistics
    from features.translation.lexicon import AGREEING, KINDS

    decoding, threshold = given.get("decoding", "soft"), given.get("threshold")
    unsupervised = any(name in given for name in ("unsupervised", "decoding", "threshold"))
    if unsupervised and offset:
        raise SettingError("--offset is of scores, which --unsupervised does not have (give --threshold)")
    settings = {name: given.get(name) for name in ("null", "iterations", "seconds")}
    check_decoding(decoding, threshold)  # complains now, not after the reading
    check_training(**settings)
    writer = answer.open()
    corpus = open_corpus(source) if target is None else open_texts(source, target)
    with_text = answer.format_ == "jsonl"
    if with_text and not corpus.can_be_read_twice:
        hint = "give files, or another --format"
        raise CorpusError(corpus.name, 0, "jsonl repeats the text, and a pipe can be read only once", hint=hint)
    normalizers = Normalizer(), Normalizer()
    with spilling_beside(answer.path), progress_bar(answer.quiet) as show:
        bitext = read_bitext([corpus], *normalizers, lambda pairs: show(Progress("reading", pairs, None, "pairs")))
        if not answer.quiet:
            say(corpus.description())
        lexicons = AGREEING if unsupervised else tuple(KINDS)
        translation = estimate(bitext, **settings, memory=given.get("memory"), lexicons=lexicons, on_progress=show)
        if unsupervised:
            found = decode_texts(translation, bitext, decoding=decoding, threshold=threshold)
        else:
            counted = CorpusStatistics.from_bitext(bitext, lexicons=())
            found = default_model(replace(counted, translation=translation)).with_offset(offset).align_text(bitext)
    texts = read_again(corpus, len(bitext)) if with_text else repeat((0, b"", b""))
    alignments = iter(found)
    done = 0
    with progress_bar(answer.without_bar) as show, writer as file:
        while some := list(islice(alignments, PAIRS_AT_ONCE)):
            file.write(FORMATS[answer.format_](normalizers, list(islice(texts, len(some))), Alignments.pack(some)))
            done += len(some)
            show(Progress("aligning", done, len(bitext), "pairs"))
