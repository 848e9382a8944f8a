"""The ``aligner`` command: the only module that prints or exits.

Libraries that are slow to import are imported by the command that needs them, so that ``--help`` answers at once.
"""

from __future__ import annotations

import functools
import json
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, ParamSpec

import typer

from aligner import __version__
from aligner import options as opt
from aligner.progress import Progress, progress_bar
from corpora.errors import AlignerError, CorpusError, SettingError

if TYPE_CHECKING:
    from aligner.solvers import TracePoint
    from corpora.readers import Corpus

BAD_DATA = 1
BAD_SETTING = 2
NOT_CONVERGED = 3
SIGNALLED = 128
"""Added to the number of a signal, as shells do."""

app = typer.Typer(
    help="Find which words of a sentence translate which words of its translation.",
    epilog="Start with: aligner train CORPUS --gold GOLD -m MODEL, then aligner align SRC TGT -m MODEL.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Parameters = ParamSpec("Parameters")


terminations: list[int] = []
"""Signals other than Ctrl-C that have asked the program to end, and end it as gently."""


def say(message: str) -> None:
    """A line for the user, on standard error."""
    print(message, file=sys.stderr, flush=True)


def explain(error: AlignerError | OSError | MemoryError, options: Mapping[str, Any]) -> str:
    """The line for the user."""
    match error:
        case OSError():
            path = error.filename or options.get("output") or options.get("model") or "-"
            return f"{path}:0: {error.strerror or error} (check the disk)"
        case MemoryError():
            return f"not enough memory: {error} (are there very long lines?)"
    return str(error)


def answers_for_errors(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Turn the errors a user can mend into one line and an exit code."""

    @functools.wraps(command)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except (AlignerError, OSError, MemoryError) as error:
            if kwargs.get("debug"):
                raise
            say(explain(error, kwargs))
            raise typer.Exit(BAD_SETTING if isinstance(error, SettingError) else BAD_DATA) from None
        except KeyboardInterrupt:
            word, code = ended_by()
            say(f"{word}: no unfinished file is left")
            raise typer.Exit(code) from None

    return run


def ended_by() -> tuple[str, int]:
    """How the user, or the system, has ended the work: in a word and as an exit code."""
    if terminations:
        return "terminated", SIGNALLED + terminations[-1]
    return "interrupted", SIGNALLED + signal.SIGINT


def print_version(wanted: bool) -> None:
    if wanted:
        print(f"aligner {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=print_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    pass


@app.command()
@answers_for_errors
def train(
    corpus: opt.CorpusPaths,
    gold: opt.GoldPrefixes = None,
    source: opt.SourceLanguage = None,
    target: opt.TargetLanguage = None,
    model: opt.ModelFile = "aligner.model",
    links: opt.LinksFiles = None,
    features: opt.Families = None,
    max_labelled: opt.MaxLabelled = 50_000,
    case_fold: Annotated[bool, typer.Option(help="Count words whatever their case.")] = True,
    tokenize: Annotated[bool, typer.Option("--tokenize", help="Tokenise text that is not split by spaces.")] = False,
    stem: Annotated[bool, typer.Option("--stem", help="Count Snowball stems of the two languages.")] = False,
    solver: Annotated[opt.Solver, typer.Option(help="How to solve for the weights.")] = "bcfw",
    oracle: Annotated[opt.Oracle, typer.Option(help="How to find best matchings in training.")] = "assignment",
    order: Annotated[opt.Order | None, typer.Option(help="Order of the pairs in a pass of bcfw: permuted.")] = None,
    step: Annotated[opt.Step | None, typer.Option(help="Step size: line-search, exact, or 2n/(k+2n).")] = None,
    average: Annotated[opt.Average | None, typer.Option(help="Which average of the iterates to return: none.")] = None,
    regularization: Annotated[float, typer.Option(metavar="λ", help="Strength of the regularisation.")] = 0.1,
    miss_cost: Annotated[float, typer.Option(metavar="c⁺", help="Cost of a sure link left out.")] = 3.0,
    false_cost: Annotated[float, typer.Option(metavar="c⁻", help="Cost of a link outside gold.")] = 1.0,
    tolerance: Annotated[float, typer.Option(help="Relative duality gap to stop at.", min=0.0)] = 1e-3,
    max_passes: Annotated[int, typer.Option(metavar="N", help="Passes over the labelled pairs.", min=0)] = 200,
    max_seconds: Annotated[float, typer.Option(metavar="S", help="Seconds of solving.", min=0.0)] = float("inf"),
    memory: opt.Memory = "2G",
    trace: Annotated[str | None, typer.Option(metavar="FILE.jsonl", help="Write every audit of the solver.")] = None,
    seed: opt.Seed = 0,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 3 if the gap was not reached.")] = False,
    force: opt.Force = False,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = False,
    debug: opt.Debug = False,
) -> None:
    """Learn a model from a corpus and labelled pairs.

    Labels come from --gold, else from the links that the corpus itself carries
    (train.giza beside train.de and train.en, comtrans, A3.final).
    """
    from aligner.report import format_training
    from aligner.training import train as run
    from corpora.normalize import Normalizer
    from corpora.readers import group_corpora, open_corpus
    from corpora.streams import write_atomically

    if trace is not None and (trace == model or Path(trace).resolve() == Path(model).resolve()):
        raise typer.BadParameter("it is the file of the model", param_hint="'--trace'")
    write_atomically(model, force=force)  # complains now, not after the work
    trace_file = None if trace is None else write_atomically(trace, force=force)
    first = open_corpus(group_corpora(corpus)[0], source=source, target=target)
    languages = first.source_language, first.target_language
    if stem and None in languages:
        raise CorpusError(first.name, 0, "its languages are not known", hint="give --source and --target for --stem")
    normalizers = [Normalizer(case_fold, tokenize, language if stem else None) for language in languages]

    def describe(found: Corpus) -> None:
        if not quiet:
            say(found.description())

    def audited(point: TracePoint) -> None:
        audits.append(point)
        if verbose:
            say(
                f"pass {point.passes:g}: primal {point.primal:.6g}, dual {point.dual:.6g}, "
                f"relative gap {point.relative_gap:.2e}, {point.oracle_calls} oracle calls"
            )

    audits: list[TracePoint] = []
    with progress_bar(quiet) as show:
        training = run(
            corpus,
            gold=gold or (),
            source=source,
            target=target,
            source_normalizer=normalizers[0],
            target_normalizer=normalizers[1],
            families=None if features is None else features.split(","),
            links=links or (),
            max_labelled=max_labelled,
            solver=solver,
            solver_options={"order": order, "step": step, "average": average},
            oracle=oracle,
            regularization=regularization,
            miss_cost=miss_cost,
            false_cost=false_cost,
            tolerance=tolerance,
            max_passes=max_passes,
            max_seconds=max_seconds,
            seed=seed,
            memory=opt.parse_size(memory),
            on_corpus=describe,
            on_progress=show,
            callback=audited,
        )
    training.model.save(model, force=force)
    if trace_file is not None:
        with trace_file as file:
            file.writelines(f"{json.dumps(asdict(point))}\n".encode() for point in audits)
    if not quiet:
        report = format_training(training.model.record)
        if "-" in (model, trace):
            say(report)
        else:
            print(report)
        say(f"model written to {model}")
    if training.interrupted:
        word, code = ended_by()
        say(f"{word}: the model is that of the solver's last audit")
        raise typer.Exit(code)
    if strict and not training.model.record["converged"]:
        say(f"not converged: {training.model.record['status']} (raise --max-passes or --tolerance)")
        raise typer.Exit(NOT_CONVERGED)


@app.command()
@answers_for_errors
def align(
    source: Annotated[
        str, typer.Argument(metavar="SRC", help="Source text, or a whole corpus; - reads 'source ||| target' lines.")
    ],
    target: Annotated[
        str | None, typer.Argument(metavar="TGT", help="Target text, line by line the translation of SRC.")
    ] = None,
    model: opt.ModelFile = "aligner.model",
    output: opt.OutputFile = "-",
    format_: opt.OutputFormat = "pharaoh",
    links: opt.LinksFiles = None,
    force: opt.Force = False,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Align text with a trained model: one line of links for each pair of lines."""
    from aligner.model import load
    from aligner.streaming import LinksFile, align_arriving, align_corpus, check_corpus, check_links
    from corpora.readers import open_corpus, open_texts
    from corpora.streams import write_atomically

    loaded = load(model)
    writer = write_atomically(output, force=force)
    names = links or []
    wanted = len(loaded.features.links)
    if len(names) != wanted:
        what = f"was trained with {wanted} --links, but here there are {len(names)}"
        raise CorpusError(model, 0, what, hint="give as many, in the same order")
    if target is None and source == "-":
        with writer as file:
            streams = [LinksFile.open(name) for name in names]
            for lines in align_arriving(loaded, sys.stdin.buffer, format_, streams):
                file.write("".join(f"{line}\n" for line in lines).encode())
                file.flush()
        return
    direction = loaded.source_language, loaded.target_language
    if target is None:
        corpus = open_corpus(source, source=direction[0], target=direction[1])
    else:
        corpus = open_texts(source, target)
        if None not in direction and direction == (corpus.target_language, corpus.source_language):
            what = f"is {'-'.join(map(str, reversed(direction)))}, but {model} is for {'-'.join(map(str, direction))}"
            raise CorpusError(corpus.name, 0, what, hint="give the two files in the other order")
    pairs = None
    if corpus.can_be_read_twice:  # else errors are found on the way
        pairs = check_corpus(corpus)
        for name in names:
            check_links(name, corpus)
    if pairs == 0:
        raise CorpusError(source, 0, "there are no lines to align", hint="check the file name")
    with progress_bar(quiet or (output == "-" and sys.stdout.isatty())) as show, writer as file:
        streams = [LinksFile.open(name, corpus.lengths() if pairs else None) for name in names]
        for number, line in enumerate(align_corpus(loaded, corpus, format_, streams), 1):
            file.write(f"{line}\n".encode())
            if number % 1000 == 0:
                show(Progress("aligning", number, pairs, "pairs"))


@app.command()
@answers_for_errors
def evaluate(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="Gold links, or the PREFIX of gold texts and links.")],
    hypotheses: Annotated[list[str], typer.Argument(metavar="HYP", help="Links to judge, line by line as GOLD.")],
    source: opt.SourceLanguage = None,
    target: opt.TargetLanguage = None,
    format_: Annotated[opt.Report, typer.Option("--format", help="A table, or a JSON list.")] = "text",
    confidence: Annotated[
        float, typer.Option(metavar="N", help="Per cent of the bootstrap intervals.", min=1.0, max=99.9)
    ] = 95.0,
    resamples: Annotated[int, typer.Option(metavar="N", help="Bootstrap resamples.", min=1)] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.", min=0)] = 12345,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Report AER, precision, recall and F1 of links against gold, with intervals; a paired test for two HYPs."""
    from aligner.evaluation import evaluate as judge
    from aligner.report import format_json, format_text
    from corpora.alignment import Links
    from corpora.link_files import read_links
    from corpora.readers import open_corpus
    from corpora.recognize import is_stream

    lengths = None
    if Path(gold).is_file() or is_stream(gold):
        gold_links = read_links(gold)
    else:
        corpus = open_corpus(gold, source=source, target=target)
        gold_links = Links.from_pairs(corpus.links())
        lengths = [len(line.split()) for _, line, _ in corpus.texts()]
    sentences = range(1, len(gold_links) + 1)  # the NAACL format does not say how many pairs there are
    found = [read_links(name, sentences=sentences) for name in hypotheses]
    results = judge(
        gold_links,
        found,
        gold_name=gold,
        hypothesis_names=hypotheses,
        source_lengths=lengths,
        resamples=resamples,
        confidence=confidence / 100,
        seed=seed,
    )
    print(format_json(results) if format_ == "json" else format_text(results))


@app.command()
@answers_for_errors
def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="Links, or a corpus with links; - is standard input.")],
    output: Annotated[str, typer.Argument(metavar="OUT", help="File to write; - is standard output.")],
    to: opt.ToFormat,
    from_: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="The same; recognised if left out.")
    ] = None,
    text: opt.TextPrefix = None,
    source_language: opt.SourceLanguage = None,
    target_language: opt.TargetLanguage = None,
    transpose: Annotated[bool, typer.Option("--transpose", help="Swap source and target.")] = False,
    force: opt.Force = False,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Convert links from one format to another."""
    from corpora.conversion import convert as run
    from corpora.streams import write_atomically

    languages = source_language, target_language
    with write_atomically(output, force=force) as file:
        run(source, file, to=to, from_=from_, text=text, languages=languages, transpose=transpose)


@app.command()
@answers_for_errors
def symmetrize(
    forward: Annotated[str, typer.Argument(metavar="FWD", help="Links of one direction.")],
    reverse: Annotated[str, typer.Argument(metavar="REV", help="Links of the other, also written source-target.")],
    method: Annotated[opt.Symmetrization, typer.Option(help="How to combine them.")] = "grow-diag-final-and",
    transpose_reverse: Annotated[
        bool, typer.Option("--transpose-reverse", help="REV is written target-source.")
    ] = False,
    output: opt.OutputFile = "-",
    force: opt.Force = False,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Combine the links of two directions, as fast_align, eflomal or GIZA++ give them, into one."""
    from corpora.conversion import symmetrize_files
    from corpora.pharaoh import write_pharaoh
    from corpora.streams import write_atomically

    with write_atomically(output, force=force) as file:
        write_pharaoh(file, symmetrize_files(forward, reverse, method, transpose_reverse=transpose_reverse))


def terminate(signum: int, frame: object) -> NoReturn:
    terminations.append(signum)
    raise KeyboardInterrupt


def main() -> None:
    """Entry point of the ``aligner`` command."""
    signal.signal(signal.SIGTERM, terminate)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # ends quietly when a reader such as head has had enough
    app()


if __name__ == "__main__":
    main()
