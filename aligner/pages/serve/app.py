"""The service: its addresses, and how it starts, reloads and ends."""

import asyncio
import json
import re
import signal
import socket
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from ipaddress import ip_address
from itertools import accumulate
from mmap import PAGESIZE
from pathlib import Path, PurePath
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from aligner._version import __version__
from aligner.pages.assets import render
from aligner.pages.http import Server, application, read_body
from aligner.pages.report import language_code
from aligner.pages.serve.queue import Service
from aligner.pages.serve.requests import Limits, ToProject
from corpora.inline.kinds import KINDS

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Bounds of the metrics' bins of the seconds that responses take."""

_DESCRIPTION = Path(__file__).with_name("openapi.json")
"""In place of bounds it has the names of limits."""

_STATM = Path("/proc/self/statm")  # of Linux


def make_app(service: Service, hosts: Collection[str] | None = None) -> ASGIApp:
    """Make the service, an ASGI application.

    hosts: names of this machine; if given, requests to other names are refused, but not to numeric addresses, so that
    pages of a server whose name leads here are refused.
    """
    requests: Counter[tuple[str, int]] = Counter()
    counts = {"waiting": 0, "pairs": 0, "seconds": 0.0}
    buckets = [0] * (len(BUCKETS) + 1)

    async def align(request: Request) -> Response:
        return await answer(request, bytes)

    async def project(request: Request) -> Response:
        return await answer(request, ToProject)

    async def answer(request: Request, kind: type[bytes]) -> Response:
        began = time.perf_counter()
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise HTTPException(415, "the body is not said to be JSON (send content-type: application/json)")
        if counts["waiting"] >= service.limits.queue:
            raise HTTPException(503, "too many requests are waiting (try again in a second)", {"retry-after": "1"})
        counts["waiting"] += 1
        try:
            body, pairs = await service.answer(kind(await read_body(request, service.limits.body)))
        finally:
            counts["waiting"] -= 1
        seconds = time.perf_counter() - began
        counts["pairs"] += pairs
        counts["seconds"] += seconds
        buckets[bisect_left(BUCKETS, seconds)] += 1
        return Response(body, media_type="application/json")

    async def health(request: Request) -> Response:
        facts = {"path": service.path, **service.model.info()}
        return JSONResponse({"status": "ok", "version": __version__, "model": facts})

    async def metrics(request: Request) -> Response:
        pages = _STATM.read_text().split()[1] if _STATM.exists() else "NaN"
        bounds = zip((*BUCKETS, "+Inf"), accumulate(buckets), strict=True)
        asked = {f'{{path="{path}",status="{status}"}}': n for (path, status), n in sorted(requests.items())}
        seconds: dict[str, float] = {f'_bucket{{le="{bound}"}}': n for bound, n in bounds}
        seconds |= {"_sum": counts["seconds"], "_count": sum(buckets)}
        reloads = {f'{{result="{result}"}}': n for result, n in service.reloads.items()}
        text = (
            _metric("aligner_requests_total counter", "Requests by path and status.", asked)
            + _metric("aligner_pairs_total counter", "Sentence pairs aligned.", {"": counts["pairs"]})
            + _metric("aligner_align_seconds histogram", "Seconds from a request for links to its answer.", seconds)
            + _metric("aligner_waiting gauge", "Requests for links that are not answered yet.", {"": counts["waiting"]})
            + _metric("aligner_reloads_total counter", "Reloads of the model.", reloads)
            + _metric("process_resident_memory_bytes gauge", "Memory in use.", {"": float(pages) * PAGESIZE})
        )
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    async def page(request: Request) -> Response:
        codes = [*map(language_code, service.model.languages)]
        sides = [*zip(("source", "target"), ("Source", "Target"), codes, strict=True)]
        return HTMLResponse(
            render(
                "serve.html",
                {"languages": codes},
                module="serve.js",
                styles=["drawing.css", "page.css"],
                connects=True,
                title="Try a sentence",
                model=PurePath(service.path).name,
                sides=sides,
                tokenizes=service.model.normalizers[0].tokenize,
            )
        )

    async def openapi(request: Request) -> Response:
        return JSONResponse(describe(service.limits))

    handlers = {"/": page, "/health": health, "/metrics": metrics, "/openapi.json": openapi}
    posted = {"/align": align, "/project": project}
    routes = [Route(path, handler, methods=["POST"]) for path, handler in posted.items()]
    routes += [Route(path, handler) for path, handler in handlers.items()]

    def is_own(headers: Headers) -> bool:
        return hosts is None or is_named(headers.get("host", ""), hosts)

    def count(path: str, status: int) -> None:
        requests[path if path in handlers or path in posted else "other", status] += 1

    return application(routes, is_own, count)


def describe(limits: Limits) -> dict[str, Any]:
    """The OpenAPI 3.1 description of a service with these limits, as JSON values."""

    def filled(values: dict[str, Any]) -> dict[str, Any]:
        if values.get("enum") == "kinds":
            values["enum"] = [*KINDS]
        if "maxItems" in values:
            values["maxItems"] = getattr(limits, values["maxItems"])
        return values

    found: dict[str, Any] = json.loads(_DESCRIPTION.read_text("utf-8"), object_hook=filled)
    found["info"]["version"] = __version__
    return found


def is_named(host: str, names: Collection[str]) -> bool:
    """Whether a header Host has one of these names or a numeric address, or is missing, as from no browser."""
    name = re.sub(r":\d*$", "", host.lower()).strip("[]").removesuffix(".")
    with suppress(ValueError):
        return bool(ip_address(name))
    return name in {"", "localhost", *map(str.lower, names)}


def _metric(name_and_type: str, meaning: str, values: Mapping[str, float]) -> str:
    """Format a metric in the text format of Prometheus.  values: by the text that follows the name."""
    name = name_and_type.split()[0]
    lines = [f"# HELP {name} {meaning}", f"# TYPE {name_and_type}", *(f"{name}{key} {n}" for key, n in values.items())]
    return "".join(f"{line}\n" for line in lines)


async def serve(
    service: Service,
    listening: socket.socket,
    tell: Callable[[str], None],
    complain: Callable[[str], None],
    hosts: Collection[str] = (),
) -> None:
    """Serve on a socket until SIGTERM or SIGINT, and finish the requests that have come by then; reload on SIGHUP.

    tell: called with lines on start and reloads.  complain: on reloads that fail.  hosts: see `make_app`.
    """
    app = make_app(service, {*hosts, socket.gethostname()})
    server = Server(app, complain, log_level="error", timeout_keep_alive=75)
    loop, tasks = asyncio.get_running_loop(), set()

    def reload() -> None:
        tasks.add(task := loop.create_task(service.reload(tell, complain)))
        task.add_done_callback(tasks.discard)

    with suppress(NotImplementedError, AttributeError):  # not on every system
        loop.add_signal_handler(signal.SIGHUP, reload)
        for number in (signal.SIGTERM, signal.SIGINT):  # uvicorn's take their place while it runs, and raise them again
            loop.add_signal_handler(number, setattr, server, "should_exit", True)
    host, port = listening.getsockname()[:2]
    tell(f"serving {service.path} on http://{f'[{host}]' if ':' in host else host}:{port}")
    await server.serve([listening])
