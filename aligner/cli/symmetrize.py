"""``aligner symmetrize``."""

from typing import Annotated

import typer

from aligner.cli import options as opt
from aligner.progress import progress_bar, tell_items


def symmetrize(
    forward: Annotated[str, typer.Argument(metavar="FWD", help="Links of one direction.")],
    reverse: Annotated[str, typer.Argument(metavar="REV", help="Links of the other, also written source-target.")],
    method: opt.Method = "grow-diag-final-and",
    transpose_reverse: opt.TransposeReverse = False,
    output: opt.OutputFile = "-",
    force: opt.Force = False,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
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
