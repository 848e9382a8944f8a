"""``aligner priors``."""

from pathlib import Path
from typing import Annotated, Literal

from aligner.cli.dictionaries import count_dictionary, is_dictionary
from aligner.cli.messages import refuse_idle, tell_fit
from aligner.cli.options import FORCE, OUTPUT, QUIET, argument, command, output_option
from aligner.progress import progress_bar
from corpora import SettingError
from corpora.reading import Reading


@command()
def priors(
    model: str = argument("MODEL", "A trained model, or a dictionary."),
    text: list[str] | None = argument("TEXT", "Of a dictionary: SRC TGT, the text that it is for.", None),
    *,
    reading: Annotated[Reading, "source target"],
    to: Literal["eflomal", "fast-align"] = output_option("eflomal", "Counts, or log probabilities."),
    reverse: bool = output_option(False, "With the target for source."),
    output: str = OUTPUT,
    force: bool = FORCE,
    quiet: bool = QUIET,
) -> None:
    """Write counts of a model or a dictionary: for --priors, for eflomal, or as a table of fast_align.

    Of a dictionary the words of SRC TGT that its entries stand for, in the forms that they have there; without a text
    all entries as they are.
    """
    from corpora.files import refuse_inputs, write_packed

    file = write_packed(output, force=force)  # raises now, not after the work
    refuse_inputs(output, [model, *(text or ())])
    of_dictionary = is_dictionary(model)
    if not of_dictionary:
        refuse_idle("with a model", source=reading.source, target=reading.target)
        if text and Path(model).exists():
            raise SettingError("TEXT has no effect with a model (leave it out)")
    with progress_bar(quiet):
        from aligner.model.model import load
        from features.translation.priors import NOTHING, Priors, format_priors, format_table

        if of_dictionary:
            counts, fit = count_dictionary(model, text or (), reading)
            found = NOTHING._replace(links=counts)
            tell_fit(quiet)(fit)
        else:
            found = Priors.from_model(load(model).statistics.translation)
        found = found.transposed() if reverse else found
        with file as stream:
            lines = format_priors(found) if to == "eflomal" else format_table(found.links)
            stream.writelines(line.encode() for line in lines)
