"""``aligner serve``."""

from aligner.cli import options as opt
from aligner.cli.messages import say
from aligner.progress import ignore, progress_bar
from corpora import AlignerError


def serve(
    model: opt.ModelFile,
    host: opt.Host = "127.0.0.1",
    port: opt.ServicePort = 8080,
    allowed_host: opt.AllowedHosts = None,
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

    try:
        from aligner.pages.serve.app import serve as answer
    except ModuleNotFoundError as error:
        raise AlignerError(
            f"aligner serve: {error.name} is not installed (pip install starlette uvicorn httptools)"
        ) from error
    from aligner.pages.http import listen
    from aligner.pages.serve.queue import Service
    from aligner.pages.serve.requests import Limits

    with progress_bar(quiet):
        service = Service(model, Limits(body, pairs, words, length, queue))
    asyncio.run(answer(service, listen(host, port), ignore if quiet else say, say, [host, *(allowed_host or [])]))
