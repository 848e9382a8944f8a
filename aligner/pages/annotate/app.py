"""The page of an annotator, and what answers it: for this machine and whoever knows the token in the address."""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable
from pathlib import PurePath
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from aligner.errors import AlignerError
from aligner.pages.annotate.book import ConflictError
from aligner.pages.annotate.desk import Desk
from aligner.pages.assets import DRAWING, render
from aligner.pages.http import read_body
from corpora.conversion import convert
from corpora.link_files import WRITTEN_FORMATS
from corpora.strict_json import parse_json

HOST = "127.0.0.1"

MOST_BYTES = 1 << 20
"""Of the body of a request."""

_HEADERS = {
    "Cache-Control": "no-store", "Content-Security-Policy": "frame-ancestors 'none'", "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
}  # fmt: skip


class OwnPagesOnly:
    """Refuses what does not come from our own page: other names of this machine, and pages of other origins."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app, self._hosts = app, {f"{HOST}:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        app = self._app
        if host not in self._hosts or origin not in (None, f"http://{host}"):
            app = PlainTextResponse("this page is for its own address alone\n", 403)
        await app(scope, receive, send)


def application(desk: Desk, token: str, port: int) -> Starlette:
    """All under /TOKEN/: the page, what it asks for as JSON, and the accepted pairs in each format."""
    answers = {
        "GET": {"pair": desk.pair, "words": desk.words, "agreements": desk.agreements, "training": desk.training},
        "POST": {
            "save": desk.save, "undo": desk.undo, "approve": desk.approve, "take-over": desk.take_over,
            "train": desk.train,
        },
    }  # fmt: skip
    routes = [
        Route(f"/{name}", _json(answer), methods=[method])
        for method, of in answers.items()
        for name, answer in of.items()
    ]

    async def page(request: Request) -> Response:
        return HTMLResponse(await run_in_threadpool(write_page, desk), headers=_HEADERS)

    async def export(request: Request) -> Response:
        format = request.path_params["format"]
        if format not in WRITTEN_FORMATS:
            return PlainTextResponse("there is no such format\n", 404)
        content = await run_in_threadpool(_converted, desk, format)
        name = f"attachment; filename=gold.{format}"
        return Response(content, media_type="text/plain", headers={**_HEADERS, "Content-Disposition": name})

    routes += [Route("/", page), Route("/gold.{format}", export)]
    return Starlette(routes=[Mount(f"/{token}", routes=routes)], middleware=[Middleware(OwnPagesOnly, port=port)])


def _json(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            given: dict[str, Any] = {**request.query_params}
            if "pair" in given:
                given["pair"] = parse_json(given["pair"].encode())
            if request.method == "POST":
                given = dict(parse_json(await read_body(request, MOST_BYTES)))
            return JSONResponse(await run_in_threadpool(answer, given), headers=_HEADERS)
        except AlignerError as error:
            status, found = 409 if isinstance(error, ConflictError) else 422, {"error": str(error)}
        except HTTPException as error:
            status, found = error.status_code, {"error": error.detail}
        except (LookupError, TypeError, ValueError) as error:
            status, found = 400, {"error": f"this request is not understood: {error!r}"}
        except OSError as error:
            status, found = 507, {"error": f"it is not all on disk: {error.strerror or error}"}
        return JSONResponse(found, status, _HEADERS)

    return endpoint


def _converted(desk: Desk, format: str) -> bytes:
    stream = io.BytesIO()
    convert(desk.book.prefix, stream, to=format, languages=desk.text.languages)
    return stream.getvalue()


def write_page(desk: Desk) -> str:
    """The HTML of the page."""
    languages: tuple[str | None, ...] = desk.text.languages
    first = next(filter(desk.book.is_open, desk.queue), desk.queue[0])
    return render(
        "annotate.html",
        {"first": first, "languages": (None, None) if languages == ("source", "target") else languages},
        scripts=(*DRAWING, "annotate-work.js", "annotate-panels.js", "annotate.js"),
        styles=("drawing.css", "page.css", "annotate.css"), connects=True,
        title=PurePath(desk.prefix).name, annotator=desk.annotator, formats=WRITTEN_FORMATS,
    )  # fmt: skip
