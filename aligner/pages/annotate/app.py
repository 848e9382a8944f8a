"""The page of an annotator and its server, for browsers on this machine whose address has the token."""

import io
from collections.abc import Awaitable, Callable
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from aligner.errors import AlignerError
from aligner.pages import http
from aligner.pages.annotate.session import LISTED, Session
from aligner.pages.annotate.store import ConflictError
from aligner.pages.assets import render
from corpora.conversion import convert
from corpora.link_files import WRITTEN_FORMATS
from corpora.reading import Reading
from corpora.strict_json import parse_json

HOST = "127.0.0.1"

_TYPES = {"csv": "text/csv", "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}
"""Of formats that are no plain text."""

MOST_BYTES = 1 << 20
"""Most bytes of a request's body."""


def application(session: Session, token: str, port: int) -> ASGIApp:
    """Serve the page, the JSON that it requests, and the accepted pairs in each format, all under /TOKEN/."""
    answers = {
        "GET": {
            "pair": session.pair,
            "list": session.listed,
            "words": session.words,
            "agreements": session.agreements,
            "training": session.training,
        },
        "POST": {
            "save": session.save,
            "undo": session.undo,
            "approve": session.approve,
            "take-over": session.take_over,
            "train": session.train,
        },
    }
    routes = [
        Route(f"/{name}", _json(answer), methods=[method])
        for method, of in answers.items()
        for name, answer in of.items()
    ]

    async def page(request: Request) -> Response:
        return HTMLResponse(await run_in_threadpool(write_page, session))

    async def export(request: Request) -> Response:
        format = request.path_params["format"]
        if format not in WRITTEN_FORMATS:
            raise HTTPException(404)
        stream, reading = io.BytesIO(), Reading(*session.text.languages)
        try:
            await run_in_threadpool(convert, session.store.prefix, stream, to=format, reading=reading)
        except AlignerError as error:
            raise HTTPException(422, str(error)) from error
        name = f"attachment; filename=gold.{format}"
        kind = _TYPES.get(format, "text/plain")
        return Response(stream.getvalue(), media_type=kind, headers={"Content-Disposition": name})

    async def trained(request: Request) -> Response:
        if session.trained is None:
            raise HTTPException(404)
        with TemporaryDirectory() as folder:
            await run_in_threadpool(session.trained.save, path := Path(folder) / "trained.model")
            content = await run_in_threadpool(path.read_bytes)
        name = "attachment; filename=trained.model"
        return Response(content, media_type="application/octet-stream", headers={"Content-Disposition": name})

    def is_own(headers: Headers) -> bool:
        """Whether a request comes from our own page, not by another name of this machine or from another origin."""
        host = headers.get("host")
        return host in (f"{HOST}:{port}", f"localhost:{port}") and headers.get("origin") in (None, f"http://{host}")

    routes += [Route("/", page), Route("/gold.{format}", export), Route("/trained.model", trained)]
    return http.application([Mount(f"/{token}", routes=routes)], is_own)


def _json(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            given: dict[str, Any] = {**request.query_params}
            if "pair" in given:
                given["pair"] = parse_json(given["pair"].encode())
            if request.method == "POST":
                given = dict(parse_json(await http.read_body(request, MOST_BYTES)))
            return JSONResponse(await run_in_threadpool(answer, given))
        except AlignerError as error:
            raise HTTPException(409 if isinstance(error, ConflictError) else 422, str(error)) from error
        except (LookupError, TypeError, ValueError) as error:
            raise HTTPException(400, f"this request is not understood: {error!r}") from error
        except OSError as error:
            raise HTTPException(507, f"it is not all on disk: {error.strerror or error}") from error

    return endpoint


def write_page(session: Session) -> str:
    languages: tuple[str | None, ...] = session.text.languages
    first = next(filter(session.store.is_open, session.queue), session.queue[0])
    return render(
        "annotate.html",
        {"first": first, "languages": (None, None) if languages == ("source", "target") else languages},
        module="annotate.js",
        styles=("drawing.css", "page.css", "annotate.css"),
        connects=True,
        title=PurePath(session.prefix).name,
        annotator=session.annotator,
        formats=WRITTEN_FORMATS,
        listed=LISTED,
    )
