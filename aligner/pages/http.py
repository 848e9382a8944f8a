"""HTTP of annotate and serve: the socket, a server that idle clients cannot block, checks of addresses, refusals."""

import asyncio
import errno
import re
import signal
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
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
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from aligner.errors import AlignerError
from aligner.progress import ignore

SECONDS_TO_ASK = 30.0
"""Seconds within which a new connection must have sent the head of its request."""

SECONDS_TO_READ = 30
"""Seconds within which the body of a request must have come."""

SECONDS_TO_TAKE = 30.0
"""Seconds within which a client must have taken what it is sent, or a part of it."""

SECONDS_TO_HEAR = 5.0
"""Seconds for which a client that is refused may go on sending, which is not looked at, so that it hears why."""

MOST_HEAD = 1 << 16
"""Bytes of the head of a request."""

MOST_FRAMING = 1 << 20
"""Bytes of a request that are not its body: chunks of one letter have five times as many."""

MOST_PIPELINED = 1000
"""Requests that may wait for the answer to another one on the same connection."""

BACKLOG = 256
"""Connections that may wait to be accepted."""

_AT_ONCE = 16
"""Connections that are accepted before any is served, so that those beyond the limit of descriptors are closed first.
While no descriptor is left, asyncio tries as many a second, though each fails."""

_KEPT_FREE = 64
"""Descriptors that are not used for connections, if there are more than twice as many."""

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

    A connection without a request is closed after a while, and sooner, the oldest first, if descriptors run out.
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
                http=_Protocol,
                backlog=_AT_ONCE,
                **settings,
            )
        )
        self._complain, self._told = complain, -60.0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(self._say)
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(BACKLOG)  # asyncio has one number for both

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


class _Protocol(HttpToolsProtocol):
    _waits: asyncio.TimerHandle | None = None
    _takes: asyncio.TimerHandle | None = None
    _since = 0.0
    _framing = _body = 0  # bytes of this request that are not its body; of its body in what has come last
    _in_head = True
    _begins = _refused = False  # whether a request has begun or ended in what has come last

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()
        if len(self.connections) > _most_connections():
            idle = (one for one in self.connections if isinstance(one, _Protocol) and one.is_idle)
            if oldest := min(idle, key=lambda one: one._since, default=None):
                oldest.transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        self._body, self._begins = 0, False
        super().data_received(data)
        self._framing = 0 if self._begins else self._framing + len(data) - self._body
        if self._framing > (MOST_HEAD if self._in_head else MOST_FRAMING):
            self._refuse()
        else:
            self._watch()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._begins = self._in_head = True

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()
        if len(self.pipeline) > MOST_PIPELINED:
            raise ValueError("too many requests at once")  # which the parser's caller refuses

    def on_body(self, body: bytes) -> None:
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._begins = self._in_head = True

    def _refuse(self) -> None:
        """Say that the request is too large, unless it has its answer, and look at nothing that follows."""
        self._refused = True
        cycle, answered = self.cycle, self.cycle is not None and self.cycle.response_complete
        if cycle is not None and cycle.response_started and not answered:
            return self.transport.abort()
        if cycle is not None:
            cycle.disconnected = True
            cycle.message_event.set()
        if self._in_head or not answered:
            status, what = (431, "head") if self._in_head else (413, "framing of its chunks")
            text = f'{{"error":"the {what} is too large (send less of it, and the body with a content-length)"}}'
            head = f"HTTP/1.1 {status} Too Large\r\ncontent-type: application/json\r\nconnection: close"
            self.transport.write(f"{head}\r\ncontent-length: {len(text)}\r\n\r\n{text}".encode())
        self.transport.write_eof()
        self.transport.resume_reading()
        if self._waits is not None:
            self._waits.cancel()
        self._waits = self.loop.call_later(SECONDS_TO_HEAR, self.transport.abort)
        return None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._takes = self.loop.call_later(SECONDS_TO_TAKE, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._takes is not None:
            self._takes.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        for timer in (self._waits, self._takes):
            if timer is not None:
                timer.cancel()

    @property
    def is_idle(self) -> bool:
        """Whether the connection is open, and each request whose head has come is answered."""
        return not self.transport.is_closing() and (self.cycle is None or self.cycle.response_complete)

    def _watch(self) -> None:
        """Start or stop the time limit for the next request, which runs from the first idle moment."""
        if self._waits is not None and not self.is_idle:
            self._waits.cancel()
            self._waits = None
        elif self._waits is None and self.is_idle:
            self._since = self.loop.time()
            # Without waiting for a client to take what it was sent.
            self._waits = self.loop.call_later(SECONDS_TO_ASK, self.transport.abort)


def _most_connections() -> float:
    with suppress(ModuleNotFoundError):  # of POSIX
        import resource

        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        if most != resource.RLIM_INFINITY:
            return max(most - _KEPT_FREE, most // 2)
    return float("inf")


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
