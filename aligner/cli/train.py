"""``aligner train``."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from aligner.cli import options as opt
from aligner.cli.answers import NOT_CONVERGED, refuse_options, say
from aligner.cli.signals import SIGNALLED, WORDS, ignore_signals, keep_what_there_is, noted_signal
from aligner.progress import progress_bar
from corpora.errors import CorpusError

if TYPE_CHECKING:
    from aligner.model.model import Model
    from aligner.solvers import TracePoint
    from aligner.training.path import Place
    from corpora.readers import Corpus


_ALWAYS = frozenset({"corpus", "memory", "model", "force", "quiet", "verbose", "debug"})
_OF_UPDATES = _ALWAYS | {"update"}
_WITHOUT_LABELS = _ALWAYS | {"source", "target", "case_fold", "tokenize", "stem", "seed", "strict"}


def train(
    context: typer.Context,
    corpus: opt.CorpusPaths,
    gold: opt.GoldPrefixes = None,
    source: opt.SourceLanguage = None,
    target: opt.TargetLanguage = None,
    max_labelled: opt.MaxLabelled = 50_000,
    links: opt.LinksFiles = None,
    features: opt.Families = None,
    words: opt.FrequentWords = None,
    update: opt.Update = None,
    case_fold: opt.CaseFold = True,
    tokenize: opt.Tokenize = False,
    stem: opt.Stem = False,
    memory: opt.Memory = "2G",
    loss: opt.LossName = None,
    regularization: opt.Regularization = None,
    path: opt.Path = None,
    cross_validate: opt.CrossValidate = None,
    fertility: opt.Fertility = None,
    miss_cost: opt.MissCost = None,
    false_cost: opt.FalseCost = 1.0,
    possible_cost: opt.PossibleCost = None,
    solver: opt.SolverName = None,
    oracle: opt.OracleName = None,
    tolerance: opt.Tolerance = 1e-3,
    max_passes: opt.MaxPasses = 200,
    max_seconds: opt.MaxSeconds = float("inf"),
    seed: opt.Seed = 0,
    order: opt.OrderName = None,
    step: opt.StepName = None,
    average: opt.AverageName = None,
    cache: opt.Cache = None,
    sample: opt.Sample = None,
    projection: opt.ProjectionName = None,
    radius: opt.Radius = None,
    restarts: opt.Restarts = None,
    kernel: opt.KernelName = None,
    degree: opt.Degree = None,
    bandwidth: opt.Bandwidth = None,
    model: opt.ModelFile = "aligner.model.model",
    trace: opt.TraceFile = None,
    strict: opt.Strict = False,
    force: opt.Force = False,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = False,
    debug: opt.Debug = False,
) -> None:
    """Learn a model from a corpus and labelled pairs.

    Labels come from --gold, else from the links that the corpus itself carries
    (train.giza beside train.de and train.en, comtrans, A3.final). Without any label the model has the statistics of
    the corpus and the weights that come with the program.
    """
    from aligner.model.default import train_unlabelled, update_model
    from aligner.model.model import load
    from aligner.report.text import format_audit, format_interruption, format_training, format_unlabelled
    from aligner.training.train import train as run
    from corpora.files import spilling_beside, write_atomically
    from corpora.normalize import Normalizer
    from corpora.readers import group_corpora, open_corpus

    if trace is not None and (trace == model or Path(trace).resolve() == Path(model).resolve()):
        raise typer.BadParameter("it is the file of the model", param_hint="'--trace'")
    write_atomically(model, force=force)  # complains now, not after the work
    trace_file = None if trace is None else write_atomically(trace, force=force)
    texts = [open_corpus(group, source=source, target=target) for group in group_corpora(corpus)]
    first = texts[0]
    languages = first.source_language, first.target_language
    if stem and None in languages:
        raise CorpusError(first.name, 0, "its languages are not known", hint="give --source and --target for --stem")
    normalizers = [Normalizer(case_fold, tokenize, language if stem else None) for language in languages]

    def describe(found: "Corpus") -> None:
        if not quiet:
            say(found.description())

    def audited(point: "TracePoint", place: "Place") -> None:
        keep_what_there_is()
        audits.append({**asdict(place), **asdict(point)})
        if verbose:
            say(f"{place}, {format_audit(point)}")

    def finish(made: "Model") -> None:
        made.save(model, force=force)
        if not quiet:
            report = format_training if "labelled_pairs" in made.record else format_unlabelled
            (say if "-" in (model, trace) else print)(report(made.record))
            say(f"model written to {model}")

    if update is not None:
        refuse_options(context, _OF_UPDATES, "with --update, which changes a model's statistics only")
        with spilling_beside(model), progress_bar(quiet) as show:
            finish(
                update_model(load(update), corpus, memory=opt.parse_size(memory), on_corpus=describe, on_progress=show)
            )
        return
    if not gold and not any(text.has_links for text in texts):
        refuse_options(context, _WITHOUT_LABELS, "without labelled pairs, which are not there (give --gold)")
        if not quiet:
            say("no labelled pairs: the model gets the default weights (--gold learns others)")
        with spilling_beside(model), progress_bar(quiet) as show:
            unlabelled = train_unlabelled(
                corpus, source=source, target=target, normalizers=(normalizers[0], normalizers[1]),
                memory=opt.parse_size(memory), on_corpus=describe, on_progress=show,
            )  # fmt: skip
        finish(unlabelled)
        return
    audits: list[dict[str, Any]] = []
    solver_options = {
        "order": order, "step": step, "average": average, "cache": cache, "sample": sample,
        "projection": projection, "radius": radius, "restarts": restarts, "kernel": kernel, "degree": degree,
        "bandwidth": bandwidth,
    }  # fmt: skip
    with spilling_beside(model), progress_bar(quiet) as show:
        training = run(
            corpus,
            gold=gold or (),
            source=source,
            target=target,
            source_normalizer=normalizers[0],
            target_normalizer=normalizers[1],
            families=None if features is None else features.split(","),
            words=words,
            links=links or (),
            max_labelled=max_labelled,
            loss=loss,
            solver=solver,
            solver_options=solver_options,
            oracle=oracle,
            regularization=regularization,
            path=None if path is None else opt.parse_path(path),
            cross_validate=cross_validate,
            fertility=fertility,
            miss_cost=miss_cost,
            false_cost=false_cost,
            possible_cost=possible_cost,
            tolerance=tolerance,
            max_passes=max_passes,
            max_seconds=max_seconds,
            seed=seed,
            memory=opt.parse_size(memory),
            on_corpus=describe,
            on_progress=show,
            callback=audited,
            interrupted=lambda: noted_signal() is not None,
        )
    finish(training.model)
    if trace_file is not None:
        with trace_file as file:
            file.writelines(f"{json.dumps(audit)}\n".encode() for audit in audits)
    signum = noted_signal()
    if signum is not None:
        ignore_signals()  # all is written
        kept = format_interruption(training.model.record) if training.interrupted else "the model is whole"
        say(f"{WORDS[signum]}: {kept}")
        raise typer.Exit(SIGNALLED + signum)
    if strict and not training.model.record["converged"]:
        say(f"not converged: {training.model.record['status']} (raise --max-passes or --tolerance)")
        raise typer.Exit(NOT_CONVERGED)
