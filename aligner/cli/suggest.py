"""``aligner suggest``."""

from contextlib import ExitStack
from typing import Annotated

import typer

from aligner.cli import options as opt
from aligner.cli.ahead import compiling_ahead
from aligner.cli.answers import refuse_idle, say
from aligner.cli.texts import check_texts, open_for_model, with_others
from aligner.progress import Progress, progress_bar
from corpora.errors import CorpusError


def suggest(
    source: Annotated[str, typer.Argument(metavar="SRC", help="Source text, or a whole corpus.")],
    target: Annotated[
        str | None, typer.Argument(metavar="TGT", help="Target text, line by line the translation of SRC.")
    ] = None,
    model: opt.ModelFile = "aligner.model",
    number: opt.SuggestedPairs = 50,
    order: opt.SuggestionOrder = "probability",
    seed: opt.Seed = 0,
    gold: opt.LabelledPrefixes = None,
    links: opt.LinksFiles = None,
    threads: opt.Threads = None,
    output: opt.OutputPrefix = "suggested",
    force: opt.Force = False,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Choose pairs to align by hand: those of whose links the model is least sure, or a random sample (as good so far).

    Writes their text, and the model's links as a start: correct PREFIX.wa, then train with --gold PREFIX.
    """
    refuse_idle(f"on --order {order}", seed=seed and order != "random")
    with ExitStack() as written, progress_bar(quiet) as show, compiling_ahead():
        from aligner.model.model import load
        from aligner.model.streaming import LinksFile
        from aligner.training.suggestion import suggest as choose
        from corpora.files import refuse_inputs, write_atomically
        from corpora.readers import open_corpus

        loaded, others = with_others(load(model), model, links or [])
        corpus = open_for_model(loaded, model, source, target)
        languages = corpus.source_language or loaded.languages[0], corpus.target_language or loaded.languages[1]
        if None in languages or languages[0] == languages[1]:
            languages = "source", "target"
        first, second = loaded.languages
        labelled = [open_corpus(prefix, source=first, target=second) for prefix in gold or []]
        outputs = [f"{output}.{suffix}" for suffix in (*languages, "wa")]
        for name in outputs:
            refuse_inputs(name, [model, *others, *(file for text in (corpus, *labelled) for file in text.files)])
        files = [written.enter_context(write_atomically(name, force=force)) for name in outputs]
        if check_texts(corpus, others) == 0:
            raise CorpusError(source, 0, "there are no lines to choose from", hint="check the file name")
        known = {
            (b" ".join(line.split()).decode(errors="replace"), b" ".join(other.split()).decode(errors="replace"))
            for text in labelled
            for _, line, other in text.texts()
        }
        streams = [LinksFile.open(name, corpus.lengths()) for name in others]
        found = choose(
            loaded, corpus, number, order=order, seed=seed, links=streams, known=known,
            on_progress=lambda pairs: show(Progress("aligning", pairs, None, "pairs")),
        )  # fmt: skip
        for suggestion in found:
            for file, line in zip(files, (*suggestion.text, str(suggestion.alignment)), strict=True):
                file.write(f"{line}\n".encode())
    if not quiet:
        say(f"{len(found)} pairs written to {', '.join(outputs)}")
