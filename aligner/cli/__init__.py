"""The ``aligner`` command: the only package that prints or exits.

Libraries that are slow to import are imported by the command that needs them, so that ``--help`` answers at once. For
the same reason the modules of commands do not import annotations from ``__future__``: typer would compile each from its
text, at every start.
"""

import signal
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from aligner._version import __version__
from aligner.cli.align import align
from aligner.cli.annotate import annotate
from aligner.cli.atools import atools
from aligner.cli.calibrate import calibrate
from aligner.cli.combine import combine
from aligner.cli.convert import convert
from aligner.cli.evaluate import evaluate
from aligner.cli.fast_align import fast_align
from aligner.cli.help import Align, Command, Panels
from aligner.cli.info import info
from aligner.cli.lexicon import lexicon
from aligner.cli.messages import answers_for_errors, prepare_streams, report_error
from aligner.cli.priors import priors
from aligner.cli.project import project
from aligner.cli.report import report
from aligner.cli.score import score
from aligner.cli.serve import serve
from aligner.cli.show import show
from aligner.cli.signals import ignore_signals, listen_to_signals
from aligner.cli.symmetrize import symmetrize
from aligner.cli.terms import terms
from aligner.cli.train import train
from aligner.cli.tuning import tune_process
from aligner.cli.warm_up import warm_up
from corpora import SettingError

app = typer.Typer(
    cls=Panels,
    help="Find which words of a sentence translate which words of its translation.",
    epilog="aligner COMMAND --help tells more. Start with: aligner align SRC TGT",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Boxes are for a terminal; plain text is what pipes, pagers and logs want, and rich would take half of the start.
    rich_markup_mode="rich" if sys.stdout is not None and sys.stdout.isatty() else None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def print_version(wanted: bool) -> None:
    if wanted:
        print(f"aligner {__version__}", flush=True)
        raise typer.Exit


@app.callback()
def main_options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=print_version, is_eager=True, help="Show the version and exit."),
    ] = False,
    encoding: Annotated[
        str, typer.Option("--encoding", metavar="NAME", help="Of text that is neither UTF-8 nor UTF-16, like cp1252.")
    ] = "utf-8",
) -> None:
    from corpora.encodings import read_as

    try:
        read_as(encoding)
    except SettingError as error:
        raise typer.Exit(report_error(error, {"encoding": encoding})) from None


# In the order of the help, with examples in corpora/sample: two for the help, and a third for the documentation.
_PANELS: dict[str, dict[Callable[..., None], tuple[str, str, str]]] = {
    "Align and train": {
        align: (
            "align test.en test.fr > test.links", "align test.en test.fr -m my.model --format jsonl -o test.jsonl",
            "align test.en test.fr --offset 1.5 --format scored -o many.links",
        ),
        train: (
            "train train -m my.model", "train train.en train.fr --gold test -m other.model",
            "train test.en test.fr --update my.model -m updated.model",
        ),
    },
    "Judge and look": {
        evaluate: (
            "evaluate test.wa test.links", "evaluate test.wa old=test.links new=test.jsonl --format markdown",
            "evaluate test.wa test.links --format json",
        ),
        show: (
            "show test.en test.fr test.links -n 3", "show test.en test.fr test.jsonl --gold test.wa --from 5",
            "show test.en test.fr test.links --from 12 -n 1",
        ),
        report: (
            "report test.en test.fr test.links -o test.html", "report test.en test.fr test.jsonl --gold test.wa",
            "report test.en test.fr test.links --gold test.wa --format latex",
        ),
        info: ("info my.model", "info my.model test --format json", "info my.model --features"),
    },
    "Make gold": {
        annotate: (
            "annotate test.en test.fr -o gold", "annotate test.en test.fr -o gold -m my.model --order unsure -n 50",
            "annotate test.en test.fr -o gold -n 50 --annotator Zoe",
        ),
        calibrate: (
            "calibrate my.model test -o calibrated.model", "calibrate my.model test -o again.model --force",
            "calibrate my.model test --threads 1 -o slow.model",
        ),
    },
    "Other tools": {
        serve: (
            "serve -m my.model", "serve -m my.model --port 9000 --max-pairs 100",
            "serve -m my.model --port 0 --allowed-host aligner --queue 64",
        ),
        score: (
            "score test.en test.fr test.links -m my.model", "score test.en test.fr test.wa -m my.model -o scores.tsv",
            "score test.en test.fr --format worst > suspicious.tsv",
        ),
        lexicon: (
            "lexicon my.model -o my", "lexicon test.en test.fr test.links --to moses -o lex",
            "lexicon test.en test.fr test.links --to marian --best 100 -o short",
        ),
        terms: (
            "terms test.en test.fr", "terms test.en test.fr -o terms.html",
            "terms test.en test.fr test.links --least 2 -o terms.tbx",
        ),
        project: (
            "project entities.en.conll test.fr test.wa",
            "project entities.en.conll test.fr test.wa --gold entities.fr.conll",
            "project entities.en.conll test.fr test.links -o entities.found.conll",
        ),
        convert: (
            "convert test.wa test.xlsx --text test", "convert joint plain.en plain.fr",
            "convert test.wa test.tmx --text test",
        ),
        symmetrize: (
            "symmetrize fwd rev > both", "symmetrize fwd rev --method intersection -o both.links",
            "symmetrize fwd rev --method gdfa > gdfa.links",
        ),
        combine: (
            "combine test.wa test.links > both", "combine test.wa test.links test.scored --text test -o best.links",
            "combine test.wa test.links fwd > three",
        ),
        fast_align: (
            "fast-align -i joint -d -o -v > forward", "fast-align -i joint -d -o -v -r -p table > reverse",
            "fast-align -i joint -q 0.1 > few.links",
        ),
        priors: ("priors my.model > my.priors", "priors my.model --to fast-align -o my.table", "priors my.model -o p"),
        atools: (
            "atools -i fwd -j rev -c grow-diag-final-and", "atools -i fwd -c invert", "atools -i fwd -j rev -c union"
        ),
        warm_up: ("warm-up", "warm-up --threads 1", "warm-up -q"),
    },
}  # fmt: skip
EXAMPLES = {command.__name__.replace("_", "-"): examples for of in _PANELS.values() for command, examples in of.items()}
"""By the command's name, for what is written of them."""
for panel, commands in _PANELS.items():
    for command, examples in commands.items():
        epilog = "\n\n".join(["Examples:", *(f"aligner {example}" for example in examples[:2])])
        app.command(cls=Align if command is align else Command, epilog=epilog, rich_help_panel=panel)(
            answers_for_errors(command)
        )


def main() -> None:
    tune_process()
    prepare_streams()
    listen_to_signals()
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # ends quietly when a reader such as head has had enough
    try:
        app()
    except OSError as error:  # help that cannot be written; commands answer for theirs
        if "--debug" in sys.argv:
            raise
        sys.exit(report_error(error, {}))
    finally:
        ignore_signals()
