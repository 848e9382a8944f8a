"""``aligner score``."""

from contextlib import ExitStack
from dataclasses import replace
from typing import Annotated

import typer

from aligner.cli import options as opt
from aligner.cli.ahead import compiling_ahead
from aligner.cli.outputs import Output
from aligner.progress import progress_bar


def score(
    source: Annotated[str, typer.Argument(metavar="SRC", help="Source text.")],
    target: Annotated[str, typer.Argument(metavar="TGT", help="Target text, line by line the translation of SRC.")],
    links: Annotated[str, typer.Argument(metavar="LINKS", help="Links of these pairs; they count the model's tokens.")],
    model: opt.ModelFile = "aligner.model",
    output: opt.OutputFile = "-",
    format_: opt.OutputFormat = "tsv",
    threads: opt.Threads = None,
    force: opt.Force = False,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Tell how well aligned pairs translate each other, as a model sees it, and how sure their links are."""
    from corpora.files import refuse_inputs

    (writer,) = Output(output, format_, force=force, quiet=quiet).open()
    with ExitStack() as until_written:
        with progress_bar(quiet):
            until_written.enter_context(compiling_ahead())
            from aligner.cli.inputs import check_texts, open_for_model
            from aligner.model.model import load
            from aligner.model.streaming import LinksFile, align_lines, read_again
            from corpora.normalize import without_tokenizing

            loaded = load(model)
            corpus = open_for_model(loaded, model, source, target).in_tokens(loaded.normalizers)
            loaded = replace(loaded, normalizers=without_tokenizing(loaded.normalizers))
            refuse_inputs(output, [*corpus.files, model, links])
            pairs = check_texts(corpus, [links], probable=False)
            streams = [LinksFile.open(links, corpus.lengths() if pairs else None, probable=False)]
            parts = align_lines(loaded, corpus, read_again(corpus, pairs or 0), streams, given=True)
        writer.write(loaded.normalizers, parts, pairs)
