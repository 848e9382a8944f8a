"""``aligner fast-align``."""

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from aligner.cli.messages import say
from aligner.cli.options import command
from aligner.cli.outputs import Output
from aligner.model.settings import AlignSettings
from aligner.progress import ignore, progress_bar
from corpora import SettingError
from corpora.settings import setting

if TYPE_CHECKING:
    from features.statistics import CorpusStatistics

_flag = partial(setting, panel="Flags of fast_align")
_idle = partial(setting, panel="Taken, without effect")
_refused = partial(setting, panel="Refused")
_NOTHING = "No effect."


@command(threads=True)
def fast_align(
    text: str = _flag(..., "Of 'source ||| target' lines; - is a pipe.", "-i --input", metavar="FILE"),
    reverse: bool = _flag(False, "At most one link a source word, not a target word.", "r"),
    table: str | None = _flag(
        None,
        "Write log p(target | source) of words, or with -r log p(source | target); overwrites.",
        "-p --conditional_probabilities",
        metavar="FILE",
    ),
    beam: float = _flag(
        -4.0,
        "Into -p goes what has at least max p to the power -B.",
        "-t --beam_threshold",
        metavar="B",
        least=-1e3,
        most=0.0,
    ),
    iterations: int = _flag(1, "Passes of the HMM.", "I", metavar="N", least=1),
    p0: float = _flag(0.2, "Prior probability that a word translates nothing.", "q", metavar="P"),
    diagonal: bool = _idle(False, _NOTHING, "-d --favor_diagonal"),
    tension: bool = _idle(False, _NOTHING, "-o --optimize_tension"),
    bayes: bool = _idle(False, _NOTHING, "-v --variational_bayes"),
    first_tension: float | None = _idle(None, _NOTHING, "-T --diagonal_tension"),
    alpha: float | None = _idle(None, _NOTHING, "a"),
    length_ratio: float | None = _idle(None, _NOTHING, "-m --mean_srclen_multiplier"),
    buffer: int | None = _idle(None, _NOTHING, "-b --thread_buffer_size"),
    no_null: bool = _refused(False, "Refused.", "-N --no_null_word"),
    force_align: str | None = _refused(None, "Refused.", "-f --force_align"),
    scores: bool = _refused(False, "Refused.", "-s"),
    quiet: bool = _flag(False, "No progress and no messages but errors."),
) -> None:
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
    settings = AlignSettings(
        null=p0, iterations=iterations, decoding="reverse" if reverse else "forward", skip_bad=True
    )
    if table is not None:
        refuse_inputs(table, [text])
        file = write_packed(table, force=True)  # raises now, if ever

    def write_table(statistics: "CorpusStatistics") -> None:
        from features.translation.priors import Priors, format_table

        found = Priors.from_model(statistics.translation)
        stream = until_written.enter_context(file)  # which appears if the links could be written
        lines = format_table((found.transposed() if reverse else found).links, beam)
        stream.writelines(line.encode() for line in lines)

    with progress_bar(quiet):
        from aligner.cli.align_text import align_text
    with ExitStack() as until_written:
        on_statistics = ignore if table is None else write_table
        align_text(text, None, settings, Output(quiet=quiet).open(), on_statistics=on_statistics)
