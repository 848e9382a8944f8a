"""``aligner fast-align``."""

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from aligner.cli import options as opt
from aligner.cli.align import align_without_model
from aligner.cli.messages import say
from aligner.cli.outputs import Output
from aligner.model.settings import AlignSettings
from aligner.progress import ignore
from corpora import SettingError

if TYPE_CHECKING:
    from features.statistics import CorpusStatistics

_flag = partial(typer.Option, rich_help_panel="Flags of fast_align")
_idle = partial(typer.Option, rich_help_panel="Taken, without effect", help="No effect.")
_refused = partial(typer.Option, rich_help_panel="Refused", help="Refused.")


def fast_align(
    text: Annotated[str, _flag("-i", "--input", metavar="FILE", help="Of 'source ||| target' lines; - is a pipe.")],
    reverse: Annotated[bool, _flag("-r", "--reverse", help="At most one link a source word, not a target word.")]
    = False,
    table: Annotated[str | None, _flag(
        "-p", "--conditional_probabilities", metavar="FILE",
        help="Write log p(target | source) of words, or with -r log p(source | target); overwrites.",
    )] = None,
    beam: Annotated[float, _flag(
        "-t", "--beam_threshold", metavar="B", help="Into -p goes what has at least max p to the power -B.",
        min=-1e3, max=0.0,
    )] = -4.0,
    iterations: Annotated[int, _flag("-I", "--iterations", metavar="N", help="Passes of the HMM.", min=1)] = 1,
    p0: Annotated[float, _flag("-q", "--p0", metavar="P", help="Prior probability that a word translates nothing.")]
    = 0.2,
    diagonal: Annotated[bool, _idle("-d", "--favor_diagonal")] = False,
    tension: Annotated[bool, _idle("-o", "--optimize_tension")] = False,
    bayes: Annotated[bool, _idle("-v", "--variational_bayes")] = False,
    first_tension: Annotated[float | None, _idle("-T", "--diagonal_tension")] = None,
    alpha: Annotated[float | None, _idle("-a", "--alpha")] = None,
    length_ratio: Annotated[float | None, _idle("-m", "--mean_srclen_multiplier")] = None,
    buffer: Annotated[int | None, _idle("-b", "--thread_buffer_size")] = None,
    no_null: Annotated[bool, _refused("-N", "--no_null_word")] = False,
    force_align: Annotated[str | None, _refused("-f", "--force_align")] = None,
    scores: Annotated[bool, _refused("-s")] = False,
    threads: opt.Threads = None,
    quiet: Annotated[bool, _flag("--quiet", help="No progress and no messages but errors.")] = False,
    debug: opt.Debug = False,
) -> None:  # fmt: skip
    """Align in one direction with the flags of fast_align, for scripts that call it.

    For new ones there is `aligner align`, whose links are better, and symmetric at once.
    """
    from corpora.files import refuse_inputs, write_packed

    if not 0.0 < p0 < 1.0:
        raise SettingError(f"-q {p0:g} is no probability (give one between 0 and 1)")
    if no_null:
        raise SettingError("-N: a word may stay without a link here (leave -N out, or give a small -q)")
    if force_align is not None:
        raise SettingError("-f: a table is where training begins here (give it to aligner align, as --priors)")
    if scores:
        raise SettingError("-s: no scores beside the links here (aligner align --format tsv has them)")
    given = {
        "-d": diagonal, "-o": tension, "-v": bayes, "-T": first_tension, "-a": alpha, "-m": length_ratio, "-b": buffer,
        "-t": table is None and beam != -4.0,
    }  # fmt: skip
    idle = [flag for flag, value in given.items() if value is not None and value is not False]
    if idle and not quiet:
        say(f"{' '.join(idle)}: no effect here, where an HMM with smoothed counts is trained")
    settings = AlignSettings(null=p0, iterations=iterations, decoding="reverse" if reverse else "forward")
    if table is not None:
        refuse_inputs(table, [text])
        file = write_packed(table, force=True)  # raises now, if ever

    def write_table(statistics: "CorpusStatistics") -> None:
        from features.translation.priors import Priors, format_table

        found = Priors.from_model(statistics.translation)
        stream = until_written.enter_context(file)  # which appears if the links could be written
        lines = format_table((found.transposed() if reverse else found).links, beam)
        stream.writelines(line.encode() for line in lines)

    with opt.skipping_pairs(None, skip_bad=True) as skipping, ExitStack() as until_written:
        on_statistics = ignore if table is None else write_table
        align_without_model(text, None, settings, skipping, Output(quiet=quiet).open(), on_statistics)
