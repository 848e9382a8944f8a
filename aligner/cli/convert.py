"""``aligner convert``."""

from functools import partial
from typing import Annotated

import typer

from aligner.cli import options as opt
from aligner.progress import progress_bar, tell_items


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="Links, or a corpus with links; - is standard input.")],
    output: Annotated[str, typer.Argument(metavar="OUT", help="File to write; - is standard output.")],
    to: opt.ToFormat,
    from_: opt.FromFormat = None,
    text: opt.TextPrefix = None,
    transpose: opt.Transpose = False,
    source_language: opt.SourceLanguage = None,
    target_language: opt.TargetLanguage = None,
    force: opt.Force = False,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Convert links from one format to another."""
    with progress_bar(quiet) as show:
        from corpora.conversion import convert as run
        from corpora.conversion import files_of
        from corpora.files import refuse_inputs, write_packed

        languages = source_language, target_language
        for path in filter(None, (source, text)):
            refuse_inputs(output, files_of(path, languages))
        watched = partial(tell_items, show, "writing")
        with write_packed(output, force=force) as file:
            run(source, file, to=to, from_=from_, text=text, languages=languages, transpose=transpose, watched=watched)
