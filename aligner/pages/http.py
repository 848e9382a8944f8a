"""HTTP of annotate and serve: the socket, the server, checks of addresses, refusals."""

import asyncio
import errno
import re
import signal
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aligner.errors import AlignerError
from aligner.progress import ignore

SECONDS_TO_READ = 30
"""Seconds within which the body of a request must have come."""

BACKLOG = 256
"""Connections that may wait to be accepted."""

_FULL = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
"""Headers of every response: browsers do not store it, show it in another page, or send its address to others."""

_STRANGER = "asked by a name that is not allowed here (use the address that the command printed, or allow this name)"


def application(
    routes: Sequence[BaseRoute], is_own: Callable[[Headers], bool], callback: Callable[[str, int], object] = ignore
) -> ASGIApp:
    """Serve these routes to requests for our own address, and refuse others in JSON.

    Answers have the X-Request-ID of their request, or a new one.

    is_own: whether a request's headers have one of our names, so that pages of other origins, or of a server whose
    name leads here, are refused.  callback: called with the path and the status of each response.
    """
    app = Starlette(routes=routes, exception_handlers={HTTPException: _refuse, Exception: _refuse})
    stranger = JSONResponse({"error": _STRANGER}, 403)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        name = given if re.fullmatch("[!-~]{1,200}", given) else uuid4().hex

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update({**_HEADERS, "X-Request-ID": name})
                callback(scope["path"], message["status"])
            await send(message)

        try:
            await (app if is_own(headers) else stranger)(scope, receive, sealed)
        except Exception as error:
            error.add_note(f"X-Request-ID: {name}")  # in the log
            raise

    return answer


async def _refuse(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        ways = f"not by {request.method} (send {(error.headers or {}).get('Allow')})"
        advice = {404: "there is nothing at this address (is it spelt right?)", 405: ways}
        return JSONResponse({"error": advice.get(error.status_code, error.detail)}, error.status_code, error.headers)
    return JSONResponse({"error": "this should not have happened (the log of the service says more)"}, 500)


class Server(uvicorn.Server):
    """Serves requests by an application, until `should_exit` is set.

    complain: called with a line, once a minute, if no connection can be accepted.
    """

    def __init__(self, app: ASGIApp, complain: Callable[[str], None], **settings: Any) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                lifespan="off",
                ws="none",
                server_header=False,
                http="h11",  # which bounds the head of a request
                backlog=BACKLOG,
                **settings,
            )
        )
        self._complain, self._told = complain, -60.0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(self._say)
        await super().startup(sockets)

    def _say(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if self.should_exit and isinstance(error, ValueError):
            return None  # asyncio tries once more to take connections, from a socket that is closed by now
        if not (isinstance(error, OSError) and error.errno in _FULL):
            return loop.default_exception_handler(context)
        if time.monotonic() - self._told >= 60:
            self._told = time.monotonic()
            self._complain(f"no connection can be taken: {error.strerror} (raise the limit: ulimit -n)")
        return None


async def read_body(request: Request, most: int) -> bytes:
    """Read the body of a request.  Raises HTTPException if it is too large, or does not come."""
    body = bytearray()
    try:
        async with asyncio.timeout(SECONDS_TO_READ):
            async for chunk in request.stream():
                body += chunk
                if len(body) > most:
                    raise HTTPException(413, f"the body has more than {most:,} bytes (send several requests)")
    except (TimeoutError, ClientDisconnect):
        message = f"the body has not come within {SECONDS_TO_READ} seconds (send it at once)"
        raise HTTPException(408, message, {"connection": "close"}) from None
    return bytes(body)


def listen(host: str, port: int) -> socket.socket:
    """Open a socket for HTTP; port 0 is any free one.  Raises AlignerError if it cannot be used.

    From now on a client that hangs up in the middle of a response does not end this process.
    """
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        reason = str(error.strerror).partition(" (")[0]  # without what the socket module adds
        raise AlignerError(f"port {port} of {host}: {reason} (give another `port`)") from error
    # Connections inherit it; without, answers after the first wait 40 ms for the client to confirm what came before.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
