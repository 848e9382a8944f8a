"""``aligner symmetrize``."""

from aligner.cli.options import FORCE, OUTPUT, QUIET, argument, command, links_option
from aligner.model.settings import Symmetrization
from aligner.progress import progress_bar, tell_items
from corpora.settings import choices


@command()
def symmetrize(
    forward: str = argument("FWD", "Links of one direction."),
    reverse: str = argument("REV", "Links of the other, also written source-target."),
    *,
    method: Symmetrization = links_option(
        "grow-diag-final-and",
        f"How to combine the two: {', '.join(choices(Symmetrization))}.",
        "m",
        metavar="METHOD",
    ),
    transpose_reverse: bool = links_option(False, "REV is written target-source."),
    output: str = OUTPUT,
    force: bool = FORCE,
    quiet: bool = QUIET,
) -> None:
    """Combine the links of two directions into one, as fast_align, eflomal or GIZA++ give them."""
    with progress_bar(quiet) as show:
        from corpora.conversion import symmetrize_files
        from corpora.files import refuse_inputs, write_packed
        from corpora.formats.pharaoh import write_pharaoh

        refuse_inputs(output, [forward, reverse])
        links = symmetrize_files(forward, reverse, method, transpose_reverse=transpose_reverse)
        with write_packed(output, force=force) as file:
            write_pharaoh(file, tell_items(show, "writing", links))
