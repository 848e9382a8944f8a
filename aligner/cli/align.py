"""``aligner align``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from aligner import options as opt
from aligner.progress import Progress, progress_bar
from corpora.errors import CorpusError


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
