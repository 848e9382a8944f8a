"""The service: its addresses, and how it starts, reloads and ends."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aligner._version import __version__
from aligner.report.assets import DRAWING, render
from aligner.report.page import language_code
from aligner.web.serve_metrics import Metrics
from aligner.web.serve_queue import Service
from aligner.web.serve_requests import Answer, Limits, Refused, to_json

SECONDS_TO_READ = 30
"""In which the body of a request must have come."""

PATHS = ("/", "/align", "/health", "/metrics", "/openapi.json")


def make_app(service: Service) -> ASGIApp:
    """The service as an ASGI application."""
    metrics = Metrics()

    async def align(request: Request) -> Response:
        began = time.perf_counter()
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refused(415, "the body is not said to be JSON (send content-type: application/json)")
        with service.place():
            answer = await service.answer(await _read_body(request, service.limits.body))
        metrics.answered(answer.pairs, time.perf_counter() - began)
        return _json(answer)

    def health(request: Request) -> Response:
        told = {"path": service.path, **service.model.info()}
        return _json(Answer(200, to_json({"status": "ok", "version": __version__, "model": told})))

    def show_metrics(request: Request) -> Response:
        text = metrics.text(service.taken, service.reloads)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    def page(request: Request) -> Response:
        return HTMLResponse(_page(PurePath(service.path).name, service.model.languages))

    def openapi(request: Request) -> Response:
        return Response(description(service.limits), media_type="application/json")

    handlers = dict(zip(PATHS, (page, align, health, show_metrics, openapi), strict=True))
    routes = [
        Route(path, _in_loop(handler), methods=["POST" if handler is align else "GET"])
        for path, handler in handlers.items()
    ]
    errors: dict[Any, Any] = {Refused: _refuse, HTTPException: _no_such, ClientDisconnect: _gone, Exception: _failed}
    return _counting(Starlette(routes=routes, exception_handlers=errors), metrics)


def _in_loop(handler: Callable[[Request], Any]) -> Callable[[Request], Any]:
    """A handler that Starlette does not give to a thread, which would take longer than what it does."""

    async def answer(request: Request) -> Response:
        response = handler(request)
        return response if isinstance(response, Response) else await response

    return answer


async def _read_body(request: Request, most: int) -> bytes:
    """Raises Refused if there are more bytes than that, or if they do not come."""
    body, length = bytearray(), request.headers.get("content-length", "0")
    try:
        async with asyncio.timeout(SECONDS_TO_READ):
            if int(length) <= most:
                async for chunk in request.stream():
                    body += chunk
                    if len(body) > most:
                        break
                else:
                    return bytes(body)
    except TimeoutError:
        raise Refused(408, f"the body has not come within {SECONDS_TO_READ} seconds (send it at once)") from None
    raise Refused(413, f"the body has more than {most:,} bytes (send several requests)")


def _json(answer: Answer, **headers: str) -> Response:
    return Response(answer.body, answer.status, headers, "application/json")


def _refuse(request: Request, refused: Refused) -> Response:
    more = {503: {"retry-after": "1"}, 408: {"connection": "close"}}.get(refused.status, {})
    return _json(Answer.refusal(refused), **more)


def _no_such(request: Request, error: HTTPException) -> Response:
    allowed = (error.headers or {}).get("Allow")
    what = f"answers to {allowed} alone" if allowed else f"is not here (there are {', '.join(PATHS)})"
    refused = Refused(error.status_code, f"{request.url.path} {what}")
    return _json(Answer.refusal(refused), **({"allow": allowed} if allowed else {}))


def _gone(request: Request, error: ClientDisconnect) -> Response:
    return _json(Answer.refusal(Refused(400, "the client has gone")))


def _failed(request: Request, error: Exception) -> Response:
    return _json(Answer.refusal(Refused(500, "this should not have happened (the log of the service says more)")))


def _counting(app: ASGIApp, metrics: Metrics) -> ASGIApp:
    """The application, whose answers are counted."""

    async def counted(scope: Scope, receive: Receive, send: Send) -> None:
        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                path = scope["path"]
                metrics.requests[path if path in PATHS else "other", message["status"]] += 1
            await send(message)

        await app(scope, receive, watched)

    return counted


@lru_cache(1)
def _page(name: str, languages: tuple[str | None, str | None]) -> str:
    codes = [language_code(language) for language in languages]
    sides = [("source", "Source", codes[0]), ("target", "Target", codes[1])]
    return render(
        "serve.html", {"languages": codes}, scripts=[*DRAWING, "serve.js"], styles=["drawing.css", "page.css"],
        connects=True, title="Try a sentence", model=name, sides=sides,
    )  # fmt: skip


def description(limits: Limits) -> str:
    """The service as OpenAPI describes it, with its limits."""
    text = Path(__file__).with_name("serve_openapi.json").read_text("utf-8")
    for name, value in {**asdict(limits), "version": __version__}.items():
        text = text.replace(f'"{{{name}}}"', json.dumps(value))
    return text


async def serve(
    service: Service, listening: socket.socket, tell: Callable[[str], None], complain: Callable[[str], None]
) -> None:
    """Answer on a socket until SIGTERM or SIGINT, and all requests that have come until then; reload on SIGHUP.

    tell, complain: told of the start and of reloads, and of those that fail.
    """
    config = uvicorn.Config(
        make_app(service), log_config=None, log_level="error", access_log=False, lifespan="off", ws="none",
        server_header=False, timeout_keep_alive=75,
    )  # fmt: skip
    server, loop, tasks = uvicorn.Server(config), asyncio.get_running_loop(), set()

    def stop() -> None:
        server.should_exit = True

    def reload() -> None:
        tasks.add(task := loop.create_task(service.reload(tell, complain)))
        task.add_done_callback(tasks.discard)

    with suppress(NotImplementedError, AttributeError):  # not on every system
        loop.add_signal_handler(signal.SIGHUP, reload)
        for number in (signal.SIGTERM, signal.SIGINT):  # uvicorn's take their place while it runs, and raise them again
            loop.add_signal_handler(number, stop)
    listening.listen(config.backlog)
    host, port = listening.getsockname()[:2]
    tell(f"serving {service.path} on http://{f'[{host}]' if ':' in host else host}:{port}")
    await server.serve([listening])
