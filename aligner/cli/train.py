"""``aligner train``."""

import json
from contextlib import ExitStack
from dataclasses import asdict, replace
from itertools import count as count_up
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aligner.cli.messages import BAD_DATA, NOT_CONVERGED, in_options, refuse_idle, say, tell_fit
from aligner.cli.options import argument, command, data_option, output_option, skipping_pairs
from aligner.cli.outputs import Output
from aligner.cli.signals import SIGNALLED, WORDS, ignore_signals, keep_what_there_is, noted_signal
from aligner.model.settings import AlignSettings
from aligner.progress import Hooks, progress_bar
from corpora.reading import Reading
from corpora.settings import changed

if TYPE_CHECKING:
    from aligner.model.model import Model
    from aligner.solvers import TracePoint
    from aligner.training.settings import CountSettings, LearnSettings
    from corpora.corpus import Corpus


@command(threads=True, hidden="columns")
def train(
    corpus: list[str] = argument(
        "CORPUS",
        "PREFIX of PREFIX.en and PREFIX.fr (.gz, .xz, .bz2 too), a folder with one, two text files, a file of "
        "'source ||| target' lines, CSV, XLSX, TMX, XLIFF, flextext, eaf, zip, comtrans or GIZA++ A3.final.",
    ),
    gold: list[str] | None = data_option(None, "Labelled pairs: texts and links; repeatable.", metavar="PREFIX"),
    *,
    reading: Reading,
    others: Annotated[AlignSettings, "links"],
    text: Annotated[AlignSettings, "tokenize keep stem sample priors dictionary"],
    skip: Annotated[AlignSettings, "max_length skip_bad"],
    fine: bool = data_option(False, "With `tokenize`: split as finely as markup needs.", hidden=True),
    case_fold: bool = data_option(True, "Count words whatever their case.", hidden=True),
    update: str | None = data_option(None, "Add the text to this model, whose weights stay.", metavar="MODEL"),
    statistics: str | None = data_option(
        None, "Learn from the labelled pairs by what this model has counted.", metavar="MODEL", hidden=True
    ),
    count: "CountSettings",
    learn: "LearnSettings",
    trace: str | None = output_option(None, "Write every audit of the solver.", metavar="FILE.jsonl", hidden=True),
    strict: bool = output_option(False, "Exit with 3 if the gap was not reached.", hidden=True),
    model: str = output_option("aligner.model", "Model file.", "m", metavar="MODEL"),
    to: Annotated[Output, "cluster force quiet"],
    verbose: bool = output_option(False, "More messages.", "v", hidden=True),
) -> None:
    """Learn a model from a corpus and labelled pairs.

    Labels come from --gold, else from the links that the corpus itself carries
    (train.giza beside train.de and train.en, comtrans, A3.final). Without any label the model has the statistics of
    the corpus and the weights that come with the program.
    """
    from corpora.files import refuse_inputs, spilling_beside, write_atomically, write_packed

    if trace is not None and (trace == model or Path(trace).resolve() == Path(model).resolve()):
        raise typer.BadParameter("it is the file of the model", param_hint="'--trace'")
    write_atomically(model, force=to.force)  # raises now, not after the work
    trace_file = None if trace is None else write_packed(trace, force=to.force)
    audits: list[dict[str, Any]] = []

    def describe(found: "Corpus") -> None:
        if not to.quiet:
            say(found.description())

    def audited(point: "TracePoint", fold: int | None) -> None:
        keep_what_there_is()
        audits.append({"fold": fold, **asdict(point)})
        if verbose:
            say(f"{'' if fold is None else f'without fold {fold}, '}{format_audit(point)}")

    training = None
    with (
        spilling_beside(model),
        skipping_pairs(skip) as skipping,
        progress_bar(to.quiet) as show,
        ExitStack() as connected,
    ):
        from aligner.model.model import load
        from aligner.training.figures import format_audit, format_interruption, format_training, summarize_training
        from aligner.training.inputs import Inputs
        from aligner.training.train import learn_on, train_on, update_on
        from corpora.apostrophes import as_option, tokenizing
        from corpora.rereading import rereadable
        from corpora.stemming import describe_stems, stemming
        from features.translation.counting import THIS_MACHINE

        engine = THIS_MACHINE
        if to.cluster is not None:
            from aligner.cli.cluster import counting_on

            engine = connected.enter_context(counting_on(to.cluster))
        of_learning: dict[str, Any] = {"gold": gold, "links": others.links, "trace": trace}
        of_text: dict[str, Any] = dict.fromkeys(changed(text), True)
        of_text |= {"source": reading.source, "target": reading.target}
        of_text |= {"fine": fine, "no_case_fold": not case_fold, "cluster": to.cluster}
        if update is not None:
            why = "with --update, which changes a model's statistics only"
            refuse_idle(
                why,
                **of_learning,
                **of_text,
                set=[*changed(learn), *changed(count)],
                strict=strict,
                statistics=statistics,
            )
        if statistics is not None:
            why = "with --statistics, where the text is the labelled pairs"
            refuse_idle(why, gold=gold, **(of_text | vars(reading)))
        old = None if update is None and statistics is None else load(update or str(statistics))
        if old is not None:
            reading = replace(reading, source=old.languages[0], target=old.languages[1])
        hooks = Hooks(describe, show, tell_fit(to.quiet), audited, lambda: noted_signal() is not None, skipping)
        inputs = Inputs.open(corpus, gold or (), others.links, reading=reading, hooks=hooks)
        if old is None and not inputs.labelled:
            refuse_idle("without labelled pairs, which are not there (give --gold)", **of_learning)
        for name in filter(None, (model, trace)):
            refuse_inputs(name, [update, statistics, text.priors, *text.dictionary, *inputs.files])
        if old is not None and update is not None:
            made = update_on(old, inputs.texts, hooks)
        elif old is not None:
            training = learn_on(old, inputs, learn, hooks)
            made = training.model
        else:
            if text.tokenize and text.keep is None:
                inputs = replace(inputs, texts=tuple(map(rereadable, inputs.texts)))  # which are read twice
            normalizers = tokenizing(text.tokenize, text.keep, inputs.texts)
            if text.keep is None and as_option(normalizers) and not to.quiet:
                say(f'apostrophes are letters of the text, as --keep "{as_option(normalizers)}" says')
            if text.stem:
                normalizers = stemming(normalizers, inputs.texts[0])
                if not to.quiet:
                    say(describe_stems(normalizers))
            source, target = (replace(side, casefold=case_fold, fine=fine) for side in normalizers)
            count = replace(
                count,
                languages=(reading.source, reading.target),
                normalizers=(source, target),
                priors=text.priors,
                dictionary=text.dictionary,
                sample=text.sample,
                columns=reading.columns,
                untranslated=reading.untranslated,
            )
            training = train_on(inputs, learn, count, hooks, engine)
            made = training.model
    written = _save(made, model, force=to.force)
    if verbose and training is not None and "labelled_pairs" in made.record:
        for line in format_training(made.record).split("\n"):
            say(line)
    if not to.quiet:
        say(f"{in_options(summarize_training(made.record))}{f' Model written to {model}' if written == model else ''}")
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
        say(f"not converged: {made.record['status']} (raise --set max_passes or tolerance)")
        raise typer.Exit(NOT_CONVERGED)


def _save(made: "Model", path: str, *, force: bool) -> str:
    """Write the model to a path, or beside a file that has appeared there during the work; return its path."""
    written = path
    if not force and Path(path).is_file():
        written = next(name for number in count_up(1) if not Path(name := f"{path}.{number}").exists())
    made.save(written, force=force)
    return written
