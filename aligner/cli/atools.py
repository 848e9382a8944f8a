"""``aligner atools``."""

from typing import get_args

from aligner.cli.options import command, links_option
from aligner.model.settings import Symmetrization
from corpora import SettingError

_ELSEWHERE = {"fmeasure": "aligner evaluate", "display": "aligner show"}


@command()
def atools(
    forward: str = links_option(..., "Links; - is standard input.", "-i --input_1", metavar="FILE"),
    command: str = links_option(..., "convert, invert, intersect, union or grow-diag…", "-c --command"),
    reverse: str | None = links_option(None, "Links to combine.", "-j --input_2", metavar="FILE"),
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
