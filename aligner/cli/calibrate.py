"""``aligner calibrate``."""

from typing import Annotated

from aligner.cli.messages import say
from aligner.cli.options import FORCE, QUIET, argument, command, output_option
from aligner.model.settings import AlignSettings
from aligner.progress import progress_bar
from corpora.reading import Reading


@command(threads=True)
def calibrate(
    model: str = argument("MODEL", "A trained model."),
    gold: list[str] = argument("GOLD", "Labelled pairs, a random sample of the text, from which it has not learnt."),
    *,
    output: str = output_option(..., "The model that knows it.", "o", metavar="NEW"),
    reading: Annotated[Reading, "source target"],
    others: Annotated[AlignSettings, "links"],
    force: bool = FORCE,
    quiet: bool = QUIET,
) -> None:
    """Measure which links have which risk, by labelled pairs.

    The risk is the share of a pair's links that is wrong, on average over pairs; ``aligner align -m NEW --risk 0.05``
    keeps it. Pairs labelled with ``aligner annotate`` are the random sample that it needs: 25 for a risk of 0.1, 50 for
    0.05.
    """
    with progress_bar(quiet):
        from aligner.cli.inputs import open_gold, with_others
        from aligner.model.model import load
        from aligner.model.risk import in_words
        from aligner.training.inputs import read_labelled
        from aligner.training.risk import measure_risk, warn_of_lines
        from corpora.files import refuse_inputs, write_atomically

        write_atomically(output, force=force)  # raises now, not after the work
        loaded, files = with_others(load(model), model, others.links)
        corpora = open_gold(loaded, gold, reading)
        refuse_inputs(output, [model, *files, *(file for corpus in corpora for file in corpus.files)])
        warn_of_lines(gold)
        measured = measure_risk(loaded, read_labelled(corpora, loaded.normalizers, files))
        measured.save(output, force=force)
    if not quiet:
        for phrase in in_words(measured.info()["risk"]):
            say(f"risk {phrase}")
