"""``aligner annotate``."""

import secrets
from contextlib import ExitStack
from threading import Thread
from typing import Annotated, Literal

import typer

from aligner.cli.messages import refuse_idle, say, tell_fit
from aligner.cli.options import QUIET, argument, command, data_option, output_option
from aligner.cli.signals import SIGNALLED, WORDS, ignore_signals, keep_what_there_is, noted_signal
from aligner.model.settings import AlignSettings
from aligner.progress import progress_bar
from corpora.errors import counted
from corpora.reading import Reading


@command(threads=True, hidden="source target columns")
def annotate(
    source: str = argument("SRC", "Source text."),
    target: str | None = argument("TGT", "Target text; none where SRC is a whole corpus.", None),
    *,
    output: str = output_option(..., "To PREFIX.L1, PREFIX.L2, PREFIX.wa, PREFIX.journal.", "o", metavar="PREFIX"),
    settings: Annotated[AlignSettings, "model tokenize keep stem dictionary"],
    reading: Reading,
    order: Literal["random", "unsure", "given"] = data_option(
        "random", "At random, the fair sample that calibrate needs; the least probable first; as given."
    ),
    number: int | None = data_option(
        None, "The first pairs of the order.", "--pairs -n", metavar="N", least=1, shown="all"
    ),
    seed: int = data_option(0, "Seed of the random order.", metavar="N", least=0),
    annotator: str | None = data_option(
        None, "Annotate into PREFIX.NAME, beside others; see agreement.", metavar="NAME"
    ),
    port: int = output_option(0, "Of the page's address.", metavar="N", least=0, most=65535, shown="any free one"),
    quiet: bool = QUIET,
) -> None:
    """Open a page to make gold links by hand.

    It begins with links to correct. Every change is on disk at once; end with Ctrl-C, and go on later by the same
    command. The accepted pairs are then labels for ``aligner train --gold PREFIX``, or for ``aligner calibrate``.
    """
    from aligner.errors import SettingError

    model = settings.model
    refuse_idle(f"on --order {order}", seed=seed and order != "random")
    with progress_bar(quiet) as show, ExitStack() as opened:
        try:
            from aligner.pages.annotate.app import HOST, application
            from aligner.pages.http import Server, listen
        except ModuleNotFoundError as error:
            what = f"the page to annotate on needs {error.name}, which is not installed"
            raise SettingError(f"{what} (pip install starlette uvicorn)") from error
        from aligner.cli.inputs import open_for_model, open_model
        from aligner.pages.annotate.annotation import read_text
        from aligner.pages.annotate.session import Session, model_of_text
        from corpora.readers import open_text

        if model is None:
            corpus = open_text(source, target, reading)
        else:
            loaded, _ = open_model(settings)
            corpus = open_for_model(loaded, model, source, target, reading)
        corpus.refuse_pipes()
        listening = opened.enter_context(listen(HOST, port))
        loaded = model_of_text(corpus, settings, show, tell_fit(quiet)) if model is None else loaded
        session = Session(
            read_text(corpus, loaded),
            loaded,
            output,
            annotator=annotator,
            order=order,
            seed=seed,
            number=number,
            learns=model is None,
        )
        opened.pop_all()
    token, port = secrets.token_urlsafe(16), listening.getsockname()[1]
    serving = Server(application(session, token, port), say, log_level="critical")
    keep_what_there_is()
    thread = Thread(target=serving.run, args=[[listening]], daemon=True)
    thread.start()
    say(f"{counted(len(session.queue), 'pair')} to annotate at http://{HOST}:{port}/{token}/ (Ctrl-C ends)")
    while noted_signal() is None and thread.is_alive():
        thread.join(0.1)
    serving.should_exit = session.ended = True
    thread.join(5)
    signum = noted_signal()
    ignore_signals()
    if not quiet:
        word = "ended" if signum is None else WORDS[signum]
        accepted = counted(len(session.store.accepted()), "accepted pair")
        say(f"{word}: {accepted} in {', '.join(session.store.outputs)}")
    if signum is not None:
        raise typer.Exit(SIGNALLED + signum)
