"""``aligner align``."""

import hashlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from itertools import islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from aligner._version import __version__
from aligner.cli import options as opt
from aligner.cli.ahead import compiling_ahead
from aligner.cli.answers import refuse_idle, say
from aligner.cli.texts import check_texts, open_for_model, open_other_tokens, skipping_pairs, with_others
from aligner.progress import Progress, ignore, progress_bar
from corpora import SettingError
from corpora.errors import CorpusError

if TYPE_CHECKING:
    from aligner.model.decoding import Alignments
    from aligner.model.remapping import Retokenized
    from aligner.model.streaming import Normalizers
    from corpora.corpus import Corpus, TextLine
    from corpora.resuming import Blocks
    from corpora.skipping import Skipping
    from features.translation.model import TranslationModel


@dataclass(frozen=True)
class Answer:
    """Where the links go, in which format, with which messages.  began: when the work did.

    until_written: what ends when all links are written.  remap: the corpus in other tokens, whose links they are to be.
    before: pairs, links, words and linked words of what is written already.  part_ends: told of these after each part.
    """

    path: str
    file: AbstractContextManager[BinaryIO]
    format_: str
    quiet: bool
    skipping: "Skipping"
    began: float
    until_written: ExitStack
    remap: str | None = None
    before: "Sequence[int]" = ()
    part_ends: "Callable[[Sequence[int]], object]" = len

    def write(
        self, normalizers: "Normalizers", parts: "Iterable[tuple[Sequence[TextLine], Alignments]]", pairs: int | None,
        other: "Retokenized | None" = None,
    ) -> "Sequence[int]":  # fmt: skip
        """Write the links of texts as they are found; returns the pairs, links, words and linked words.

        pairs: how many there will be.  other: the text of `remap`.
        """
        from aligner.model.remapping import PLAIN
        from aligner.model.streaming import FORMATS

        if other is not None:
            parts, normalizers = other.remapped(parts), PLAIN
        on_terminal = self.path == "-" and sys.stdout.isatty()  # where the links themselves are, no bar is
        done, links, words, linked = [*self.before, 0, 0, 0, 0][:4]
        with progress_bar(self.quiet or on_terminal, "aligning", done) as show, self.file as file:
            for texts, found in parts:
                file.write(FORMATS[self.format_](normalizers, texts, found))
                file.flush()
                done, links = done + len(found), links + len(found.source)
                words, linked = words + int(found.shapes.sum()), linked + int(found.linked.sum())
                self.part_ends((done, links, words, linked))
                show(Progress("aligning", done, pairs, "pairs"))
        self.tell(done, links, words, linked)
        return done, links, words, linked

    def tell(self, done: int, links: int, words: int, linked: int) -> None:
        """Say what was written."""
        if not self.quiet:
            what = f"{done:,} pairs, {links:,} links, {words - linked:,} of {words:,} words without a link"
            where = "standard output" if self.path == "-" else self.path
            say(f"{what}, {time.monotonic() - self.began:.1f} s, written to {where}")


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
    high_recall: opt.HighRecall = False,
    candidates: opt.LookedAt = None,
    columns: opt.TextColumns = None,
    remap: opt.Remap = None,
    shard: opt.Shard = None,
    max_length: opt.MaxLength = None,
    long_pairs: opt.WhatOfLongPairs = "empty",
    skip_bad: opt.SkipBad = False,
    unsupervised: opt.Unsupervised = False,
    priors: opt.PriorsFile = None,
    sample: opt.Sample = None,
    seed: opt.Seed = 0,
    decoding: opt.DecodingName = None,
    directions: opt.Directions = None,
    threshold: opt.Threshold = None,
    null: opt.NullPrior = None,
    iterations: opt.Iterations = None,
    seconds: opt.Seconds = None,
    threads: opt.Threads = None,
    cluster: opt.Cluster = None,
    resume: opt.Resume = False,
    force: opt.Force = False,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Align text: one line of links for each pair of lines.

    With a trained model (-m), or by what the text itself says of who translates whom and the weights that come with
    the program, which were learnt from hand-aligned text of other languages.
    """
    from corpora.files import write_packed
    from corpora.resuming import Blocks

    settings = {
        "unsupervised": unsupervised or None, "decoding": decoding, "threshold": threshold, "null": null,
        "iterations": iterations, "seconds": seconds, "directions": directions, "priors": priors, "sample": sample,
    }  # fmt: skip
    given = {name: value for name, value in settings.items() if value is not None}
    if model is not None:
        for name in given:
            raise SettingError(f"--{name} is for text without a model (leave out --{name}, or -m)")
    elif shard or resume or cluster:
        raise SettingError("without a model all text is read before any is aligned (give one with -m)")
    if columns and target is not None:
        raise SettingError("--columns are of one file, which has source and target (leave out TGT)")
    if remap and (shard or resume):
        raise SettingError("--remap is for the whole text, in one run (leave out --shard and --resume)")
    if links and (max_length is not None or skip_bad or shard or resume):
        not_with = "--max-length, --skip-bad, --shard and --resume"
        raise SettingError(f"the pairs of --links are all aligned, in one run (leave out {not_with})")
    refuse_idle("without --sample", seed=seed and sample is None)
    refuse_idle("with --links, whose pairs are all aligned", long_pairs=links and long_pairs != "empty")
    refuse_idle("with --directions, which are of posteriors", sample=directions and sample)
    refuse_idle("with --offset, which it is itself", high_recall=offset and high_recall)
    for one in [name for name in ("unsupervised", "decoding", "threshold") if name in given]:
        of_weights = {"offset": offset, "high_recall": high_recall, "links": links, "candidates": candidates}
        refuse_idle(f"with --{one}, which leaves the default weights out", **of_weights, sample=sample)
    offset = opt.HIGH_RECALL if high_recall else offset
    for name in ("directions", "sample"):
        given.pop(name, None)
    if cluster and (shard or resume or remap or links or output == "-"):
        raise SettingError("--cluster divides the text, and joins a file (give -o; leave out --shard, --resume, ...)")
    paths = [output] if directions is None else [output, f"{directions}.fwd", f"{directions}.rev"]
    blocks = Blocks(output, force=force) if resume else None  # these complain now, if ever
    files, began = [write_packed(path, force=force or resume) for path in paths], time.monotonic()
    longest = sys.maxsize if links else max_length
    with skipping_pairs(longest, skip_bad, long_pairs) as skipping, ExitStack() as until_written:
        answers = [
            Answer(*to, format_, quiet, skipping, began, until_written, remap) for to in zip(paths, files, strict=True)
        ]
        if model is not None:
            options = {
                "format": format_, "columns": columns, "shard": shard, "max_length": longest, "long_pairs": long_pairs,
                "skip_bad": skip_bad, "offset": offset, "candidates": candidates,
            }  # fmt: skip
            if cluster is not None:
                from aligner.cli.cluster import align_on_cluster

                align_on_cluster(source, target, answers[0], model, options, cluster)
                return
            align_with_model(source, target, answers[0], model, links or [], blocks, options)
        else:
            given |= {"offset": offset} | ({} if candidates is None else {"candidates": candidates})
            align_without_model(
                source, target, columns, answers, given, sample=None if sample is None else (sample, seed),
                names=links or [],
            )  # fmt: skip


def align_with_model(
    source: str, target: str | None, answer: Answer, model: str, names: list[str], blocks: "Blocks | None",
    options: dict[str, Any],
) -> "Sequence[int]":  # fmt: skip
    """Align a text, or standard input as it arrives; returns what `Answer.write` does.

    names: of files of other aligners' links.  blocks: to write into, and to go on with.  options: all that the answers
    depend on.
    """
    with progress_bar(answer.quiet):
        answer.until_written.enter_context(compiling_ahead())
        from aligner.model.acquaintance import Acquaintance
        from aligner.model.model import load
        from aligner.model.streaming import LinksFile, align_arriving, align_lines, read_again
        from corpora.files import refuse_inputs

        loaded = load(model)
        if options["offset"]:
            loaded = loaded.with_offset(options["offset"])
        if options["candidates"] is not None:
            loaded = loaded.with_candidates(options["candidates"])
        loaded, names = with_others(loaded, model, names)
        corpus = open_for_model(loaded, model, source, target, options["columns"])
        if options["shard"]:
            corpus = corpus.shard(*options["shard"])
        watched = iter if answer.quiet else Acquaintance(loaded, lambda message: say(f"warning: {message}"))
        if target is None and source == "-" and blocks is None:
            refuse_inputs(answer.path, [model, *names])
            pairs = None
            streams = [LinksFile.open(name) for name in names]
            parts = align_arriving(loaded, corpus, sys.stdin.buffer, streams, watched, answer.skipping)
        else:
            corpus, digest = answer.skipping(corpus), hashlib.sha256()
            refuse_inputs(answer.path, [corpus.source_file, corpus.target_file, model, *names])
            pairs = check_texts(corpus, names, digest.update if blocks else len)
            if pairs == 0 and not options["shard"]:
                raise CorpusError(source, 0, "there are no lines to align", hint="check the file name")
            texts = read_again(corpus, pairs or 0)
            if blocks is not None:
                answer = _taken_up(answer, blocks, corpus, model, {"text": digest.hexdigest(), **options})
                texts = islice(texts, sum(answer.before[:1]), None)
            streams = [LinksFile.open(name, corpus.lengths() if pairs else None) for name in names]
            parts = align_lines(loaded, corpus, watched(texts), streams)
        other = open_other_tokens(answer.remap, corpus, loaded.normalizers, [answer.path])
    if not (answer.quiet or answer.remap or answer.format_ == "jsonl") and any(n.tokenize for n in loaded.normalizers):
        ways = "--remap with the text itself writes links of these; --tokenize of show, report and lexicon reads those"
        say(f"the links count the tokens of the model, which splits off punctuation, not those between spaces ({ways})")
    return answer.write(loaded.normalizers, parts, pairs, other)


def _taken_up(answer: Answer, blocks: "Blocks", corpus: "Corpus", model: str, made_of: dict[str, Any]) -> Answer:
    """The answer in blocks, with what there is of it."""
    if not corpus.can_be_read_twice:
        raise SettingError("--resume needs a text that can be read again (give a file, not a pipe)")
    with Path(model).open("rb") as file:
        head = {"version": __version__, "model": hashlib.file_digest(file, "sha256").hexdigest(), **made_of}
    blocks.begin({"command": "aligner align", **{name: str(value) for name, value in head.items()}})
    return replace(answer, file=blocks.written(), before=blocks.counts, part_ends=blocks.part_ends)


def align_without_model(
    source: str, target: str | None, columns: tuple[str, str] | None, answers: list[Answer], given: dict[str, Any],
    on_model: Callable[["TranslationModel"], None] = ignore, sample: tuple[int, int] | None = None,
    names: Sequence[str] = (),
) -> None:  # fmt: skip
    """Align a text by its own statistics.

    given: options of translation models and of their decoding.  on_model: told the translation models.
    sample: how many pairs to count, and a seed.  names: of files of other aligners' links, or KIND=FILE.
    """
    from corpora.files import refuse_inputs, spilling_beside

    with spilling_beside(answers[0].path), progress_bar(answers[0].quiet) as show:
        answers[0].until_written.enter_context(compiling_ahead())
        from aligner.model.streaming import LinksFile, align_lines, check_corpus, kept, read_again
        from aligner.model.unsupervised import Unsupervised
        from corpora.bitext import read_bitext
        from corpora.corpus import sample as draw
        from corpora.link_files import kind_of_links
        from corpora.normalize import Normalizer
        from corpora.readers import open_corpus, open_texts
        from features.translation.priors import read_priors

        if given.pop("unsupervised", False):
            given.setdefault("decoding", "soft")
        priors, normalizers = given.pop("priors", None), (Normalizer(), Normalizer())
        others = [kind_of_links(name) for name in names]
        settings = Unsupervised(
            **given, priors=read_priors(priors, normalizers), kinds=tuple(kind for kind, _ in others)
        )
        corpus = answers[0].skipping(
            open_corpus(source, columns=columns) if target is None else open_texts(source, target)
        )
        for answer in answers:
            refuse_inputs(answer.path, [corpus.source_file, corpus.target_file, priors, *(file for _, file in others)])
        with_text = answers[0].format_ == "jsonl" or answers[0].remap is not None or sample is not None
        corpus = kept(corpus) if with_text else corpus
        pairs, counted = None, [corpus]
        if sample is not None:
            pairs = check_corpus(corpus)
            counted = draw(counted, [pairs], *sample)
        bitext = read_bitext(counted, *normalizers, lambda pairs: show(Progress("reading", pairs, None, "pairs")))
        other = open_other_tokens(answers[0].remap, corpus, normalizers, [answer.path for answer in answers])
        links = [] if sample else settings.read_links([file for _, file in others], bitext)
        if not answers[0].quiet:
            say(corpus.description())

        def with_texts(parts: "Iterable[Alignments]") -> "Iterator[tuple[list[TextLine], Alignments]]":
            texts = read_again(corpus, len(bitext)) if with_text else repeat((0, b"", b""))
            return ((list(islice(texts, len(part))), part) for part in parts)

        if pairs is None:
            found = [with_texts(parts) for parts in settings.align_directions(bitext, show, on_model, links)]
        else:
            streams = [LinksFile.open(file, corpus.lengths()) for _, file in others]
            found = [align_lines(settings.weighted(bitext, show)[0], corpus, read_again(corpus, pairs), streams)]
            del bitext
    for answer, parts in zip(answers, found, strict=False):  # the directions where they are wanted
        answer.write(normalizers, parts, len(bitext) if pairs is None else pairs, other)
