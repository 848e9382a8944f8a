"""``aligner train``."""

import json
from dataclasses import asdict, fields
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from aligner.cli import options as opt
from aligner.cli.ahead import compiling_ahead
from aligner.cli.answers import BAD_DATA, NOT_CONVERGED, refuse_options, say
from aligner.cli.cluster import counting_on
from aligner.cli.signals import SIGNALLED, WORDS, ignore_signals, keep_what_there_is, noted_signal
from aligner.cli.texts import skipping_pairs
from aligner.progress import Hooks, progress_bar
from corpora.errors import CorpusError

if TYPE_CHECKING:
    from aligner.model.model import Model
    from aligner.solvers import TracePoint
    from corpora.corpus import Corpus


_ALWAYS = frozenset("corpus max_length skip_bad memory threads model force quiet verbose debug".split())
_OF_UPDATES = _ALWAYS | {"update"}
_OF_TEXT = "source target case_fold tokenize stem candidates priors sample seed strict"
_WITHOUT_LABELS = _ALWAYS | {"cluster"} | frozenset(_OF_TEXT.split())


def train(
    context: typer.Context,
    corpus: opt.CorpusPaths,
    gold: opt.GoldPrefixes = None,
    source: opt.SourceLanguage = None,
    target: opt.TargetLanguage = None,
    sample: opt.Sample = None,
    max_labelled: opt.MaxLabelled = 50_000,
    max_length: opt.MaxLength = None,
    skip_bad: opt.SkipBad = False,
    links: opt.LinksFiles = None,
    features: opt.Families = None,
    candidates: opt.Candidates = "likely",
    words: opt.FrequentWords = None,
    priors: opt.PriorsFile = None,
    update: opt.Update = None,
    case_fold: opt.CaseFold = True,
    tokenize: opt.Tokenize = False,
    stem: opt.Stem = False,
    memory: opt.Memory = 2 << 30,
    threads: opt.Threads = None,
    cluster: opt.Cluster = None,
    loss: opt.LossName = None,
    regularization: opt.Regularization = None,
    center: opt.Center = None,
    cross_validate: opt.CrossValidate = None,
    fertility: opt.Fertility = None,
    miss_cost: opt.MissCost = None,
    false_cost: opt.FalseCost = None,
    possible_cost: opt.PossibleCost = None,
    solver: opt.SolverName = None,
    solver_option: opt.SolverOptions = None,
    oracle: opt.OracleName = None,
    tolerance: opt.Tolerance = 1e-3,
    max_passes: opt.MaxPasses = 200,
    max_seconds: opt.MaxSeconds = float("inf"),
    seed: opt.Seed = 0,
    model: opt.ModelFile = "aligner.model",
    trace: opt.TraceFile = None,
    strict: opt.Strict = False,
    force: opt.Force = False,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = False,
    debug: opt.Debug = False,
    help_all: opt.HelpAll = False,
) -> None:
    """Learn a model from a corpus and labelled pairs.

    Labels come from --gold, else from the links that the corpus itself carries
    (train.giza beside train.de and train.en, comtrans, A3.final). Without any label the model has the statistics of
    the corpus and the weights that come with the program.
    """
    from aligner.report.text import format_audit, format_interruption, format_training, summarize_training
    from aligner.training.inputs import open_in_order
    from corpora.files import refuse_inputs, spilling_beside, write_atomically, write_packed
    from corpora.link_files import kind_of_links
    from corpora.normalize import Normalizer
    from corpora.readers import group_corpora, open_corpus

    if trace is not None and (trace == model or Path(trace).resolve() == Path(model).resolve()):
        raise typer.BadParameter("it is the file of the model", param_hint="'--trace'")
    write_atomically(model, force=force)  # complains now, not after the work
    trace_file = None if trace is None else write_packed(trace, force=force)
    texts = [open_corpus(group, source=source, target=target) for group in group_corpora(corpus)]
    first = texts[0]
    languages = first.source_language, first.target_language
    if stem and None in languages:
        raise CorpusError(first.name, 0, "its languages are not known", hint="give --source and --target for --stem")
    stems = languages if stem else (None, None)
    normalizers = Normalizer(case_fold, tokenize, stems[0]), Normalizer(case_fold, tokenize, stems[1])
    audits: list[dict[str, Any]] = []

    def describe(found: "Corpus") -> None:
        if not quiet:
            say(found.description())

    def audited(point: "TracePoint", fold: int | None) -> None:
        keep_what_there_is()
        audits.append({"fold": fold, **asdict(point)})
        if verbose:
            say(f"{'' if fold is None else f'without fold {fold}, '}{format_audit(point)}")

    labelled = bool(gold) or any(text.has_labels for text in texts)
    if update is not None:
        refuse_options(context, _OF_UPDATES, "with --update, which changes a model's statistics only")
    elif not labelled:
        refuse_options(context, _WITHOUT_LABELS, "without labelled pairs, which are not there (give --gold)")
    gold_texts = [open_in_order(group, (source, target), texts) for group in group_corpora(gold or [])]
    others = [kind_of_links(one)[1] for one in links or []]
    inputs = [update, priors, *others, *(file for text in (*texts, *gold_texts) for file in text.files)]
    for name in filter(None, (model, trace)):
        refuse_inputs(name, inputs)
    training = None
    with (
        spilling_beside(model), skipping_pairs(max_length, skip_bad) as skipping, progress_bar(quiet) as show,
        compiling_ahead(), counting_on(cluster) as engine,
    ):  # fmt: skip
        from aligner.model.model import load
        from aligner.training.settings import TrainingSettings
        from aligner.training.train import train as run
        from aligner.training.train import update_model

        hooks = Hooks(describe, show, audited, lambda: noted_signal() is not None, skipping)
        if update is not None:
            made = update_model(load(update), corpus, hooks=hooks)
        else:
            named = {field.name for field in fields(TrainingSettings)}
            settings = {name: value for name, value in context.params.items() if name in named} | {
                "languages": (source, target),
                "normalizers": normalizers,
                "families": None if features is None else features.split(","),
                "solver_options": opt.parse_solver_options(solver_option or []),
            }
            training = run(corpus, gold or (), links=links or (), hooks=hooks, engine=engine, **settings)
            made = training.model
    written = _save(made, model, force=force)
    if verbose and training is not None and "labelled_pairs" in made.record:
        for line in format_training(made.record).split("\n"):
            say(line)
    if not quiet:
        say(f"{summarize_training(made.record)}{f' Model written to {model}' if written == model else ''}")
    if written != model:
        say(f"{model}: a file of this name has appeared during training (the model is in {written})")
    if trace_file is not None:
        with trace_file as file:
            file.writelines(f"{json.dumps(audit)}\n".encode() for audit in audits)
    signum = noted_signal()
    if signum is not None:
        ignore_signals()  # all is written
        kept = "the model is whole"
        if training is not None and training.interrupted:
            kept = format_interruption(made.record)
        say(f"{WORDS[signum]}: {kept}")
        raise typer.Exit(SIGNALLED + signum)
    if written != model:
        raise typer.Exit(BAD_DATA)
    if strict and training is not None and not made.record.get("converged", True):
        say(f"not converged: {made.record['status']} (raise --max-passes or --tolerance)")
        raise typer.Exit(NOT_CONVERGED)


def _save(made: "Model", path: str, *, force: bool) -> str:
    """Write the model to a path, or beside a file that has appeared there during the work; return where it is."""
    written = path
    if not force and Path(path).is_file():
        written = next(name for number in count(1) if not Path(name := f"{path}.{number}").exists())
    made.save(written, force=force)
    return written
