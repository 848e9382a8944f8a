"""``aligner atools``."""

from typing import Annotated, get_args

import typer

from aligner.cli import options as opt
from aligner.model.settings import Symmetrization
from corpora import SettingError

_ELSEWHERE = {"fmeasure": "aligner evaluate", "display": "aligner show"}


def atools(
    forward: Annotated[str, typer.Option("-i", "--input_1", metavar="FILE", help="Links; - is standard input.")],
    command: Annotated[str, typer.Option("-c", "--command", help="convert, invert, intersect, union or grow-diag…")],
    reverse: Annotated[str | None, typer.Option("-j", "--input_2", metavar="FILE", help="Links to combine.")] = None,
    debug: opt.Debug = False,
) -> None:
    """Convert or combine links with the flags of fast_align's atools, for scripts that call it.

    For new ones there are `aligner convert` and `aligner symmetrize`.
    """
    import sys

    from corpora.conversion import symmetrize_files, transposed
    from corpora.formats.pharaoh import write_pharaoh
    from corpora.link_files import open_links

    alone = command in ("convert", "invert")
    if command in _ELSEWHERE:
        raise SettingError(f"-c {command} is not here ({_ELSEWHERE[command]} does that)")
    if not alone and command not in get_args(Symmetrization):
        raise SettingError(f"unknown -c {command} (choose from convert, invert, {', '.join(get_args(Symmetrization))})")
    if alone == (reverse is not None):
        raise SettingError(f"-c {command} takes {'one file (leave -j out)' if alone else 'two files (give -j)'}")
    if reverse is not None:
        links = symmetrize_files(forward, reverse, command, as_atools=True)
    else:
        links = map(transposed, open_links(forward)) if command == "invert" else iter(open_links(forward))
    write_pharaoh(sys.stdout.buffer, links)
