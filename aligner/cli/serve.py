"""``aligner serve``."""

from functools import partial

from aligner.cli.messages import say
from aligner.cli.options import QUIET, command, output_option
from aligner.progress import ignore, progress_bar
from corpora import AlignerError
from corpora.settings import parse_size, setting

_serving = partial(setting, panel="Serving")


@command(threads=True)
def serve(
    model: str = output_option(..., "Model file.", "m", metavar="MODEL"),
    host: str = _serving("127.0.0.1", "Address to listen on; 0.0.0.0 or :: for all of the machine's.", metavar="HOST"),
    port: int = _serving(8080, "Port to listen on; 0 chooses a free one.", metavar="N", least=0, most=65535),
    allowed_host: list[str] | None = _serving(
        None, "Further name that requests may be sent to; repeatable.", metavar="NAME"
    ),
    body: int = _serving(1 << 20, "Bytes of a request.", "--max-body", metavar="SIZE", shown="1M", parser=parse_size),
    pairs: int = _serving(1000, "Sentence pairs of a request.", "--max-pairs", metavar="N", least=1),
    words: int = _serving(50_000, "Words of a request, on both sides.", "--max-words", metavar="N", least=1),
    length: int = _serving(500, "Words of a sentence.", "--max-length", metavar="N", least=1),
    queue: int = _serving(128, "Requests at a time; others get a 503.", metavar="N", least=1),
    quiet: bool = QUIET,
) -> None:
    """Answer programs over HTTP: JSON pairs in, their links out, as aligner align finds them; at / a page to try it.

    SIGHUP reads the model again, SIGTERM and Ctrl-C end it when all requests are answered.
    """
    import asyncio

    try:
        from aligner.pages.serve.app import serve as answer
    except ModuleNotFoundError as error:
        raise AlignerError(f"aligner serve: {error.name} is not installed (pip install starlette uvicorn)") from error
    from aligner.pages.http import listen
    from aligner.pages.serve.queue import Service
    from aligner.pages.serve.requests import Limits

    with progress_bar(quiet):
        service = Service(model, Limits(body, pairs, words, length, queue))
    asyncio.run(answer(service, listen(host, port), ignore if quiet else say, say, [host, *(allowed_host or [])]))
