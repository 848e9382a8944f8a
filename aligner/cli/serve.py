"""``aligner serve``."""

from aligner.cli import options as opt
from aligner.cli.answers import say
from aligner.progress import ignore, progress_bar
from corpora import AlignerError


def serve(
    model: opt.ModelFile,
    host: opt.Host = "127.0.0.1",
    port: opt.ServicePort = 8080,
    body: opt.MostBytes = 1 << 20,
    pairs: opt.MostPairs = 1000,
    words: opt.MostWords = 50_000,
    length: opt.LongestSentence = 500,
    queue: opt.MostRequests = 128,
    threads: opt.Threads = None,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Answer programs over HTTP: JSON pairs in, their links out, as aligner align finds them; at / a page to try it.

    SIGHUP reads the model again, SIGTERM and Ctrl-C end it when all requests are answered.
    """
    import asyncio
    import signal

    try:
        from aligner.web.serve import listen
        from aligner.web.serve import serve as answer
    except ModuleNotFoundError as error:
        raise AlignerError(f"aligner serve: {error.name} is not installed (pip install 'aligner[web]')") from error
    from aligner.web.serve_queue import Service
    from aligner.web.serve_requests import Limits

    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # a client that has gone ends no service
    with progress_bar(quiet):
        service = Service(model, Limits(body, pairs, words, length, queue))
    try:
        listening = listen(host, port)
    except OSError as error:
        what = f"port {port} of {host}: {error.strerror}"
        raise AlignerError(f"{what} (choose another with --host and --port)") from error
    asyncio.run(answer(service, listening, ignore if quiet else say, say))
