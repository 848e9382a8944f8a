"""``aligner priors``."""

from typing import Literal

from aligner.cli.options import FORCE, MODEL, OUTPUT, QUIET, command, output_option
from aligner.progress import progress_bar


@command()
def priors(
    model: str = MODEL,
    *,
    to: Literal["eflomal", "fast-align"] = output_option("eflomal", "Counts, or log probabilities."),
    reverse: bool = output_option(False, "With the target for source."),
    output: str = OUTPUT,
    force: bool = FORCE,
    quiet: bool = QUIET,
) -> None:
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
