"""``aligner priors``."""

from typing import Annotated, Literal

import typer

from aligner.cli import options as opt
from aligner.progress import progress_bar


def priors(
    model: opt.ModelArgument,
    to: Annotated[Literal["eflomal", "fast-align"], typer.Option("--to", help="Counts, or log probabilities.")]
    = "eflomal",
    reverse: Annotated[bool, typer.Option("--reverse", help="With the target for source.")] = False,
    output: opt.OutputFile = "-",
    force: opt.Force = False,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:  # fmt: skip
    """Write what a model has counted: for --priors, for eflomal, or as a table of fast_align."""
    from corpora.files import refuse_inputs, write_packed

    file = write_packed(output, force=force)  # raises now, not after the work
    refuse_inputs(output, [model])
    with progress_bar(quiet):
        from aligner.model.model import load
        from features.translation.priors import Priors, format_priors, format_table

        found = Priors.from_model(load(model).statistics.translation)
        found = found.transposed() if reverse else found
        with file as stream:
            lines = format_priors(found) if to == "eflomal" else format_table(found.links)
            stream.writelines(line.encode() for line in lines)
