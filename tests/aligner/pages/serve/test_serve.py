"""The service: the answers of the command, refusals, reloads, counts; in this process, by way of HTTP."""

from __future__ import annotations

import asyncio
import errno
import json
import re
import socket
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from commands import TIMEOUT, received, refused, wait_for
from starlette.exceptions import HTTPException
from starlette.routing import Route

from aligner.model.model import Model
from aligner.pages.http import Server, application, listen
from aligner.pages.serve.queue import Service
from aligner.pages.serve.requests import answer_all

Client = Any  # of conftest
Pairs = list[dict[str, Any]]
JSON = "application/json"


def run_apart(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run it in a thread of its own: that of the tests has an event loop once a browser has been opened."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


def test_links_are_those_of_the_command(client: Client, pairs: Pairs, expected: Pairs) -> None:
    assert [client.align(pair).json() for pair in pairs[:20]] == expected[:20]
    assert client.align({"pairs": pairs}).json() == {"pairs": expected}
    tokens = [{side: pair[side].split() for side in pair} for pair in pairs]
    assert client.align({"pairs": tokens}).json() == {"pairs": expected}
    assert client.align(b"\xef\xbb\xbf" + json.dumps(pairs[0]).encode()).json() == expected[0], "a mark is dropped"


def test_requests_that_are_answered_together_do_not_suffer_for_each_other(
    service: Service, client: Client, pairs: Pairs, expected: Pairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def align(self: Model, bitext: Any, links: Any = ()) -> Any:
        if "poison" in bitext.source.vocabulary.index:
            raise RuntimeError
        return whole(self, bitext, links)

    whole = Model.align_bitext
    monkeypatch.setattr(Model, "align_bitext", align)
    asked: list[Any] = [*pairs[:5], {"pairs": pairs[5:9]}, {"source": "poison", "target": "poison"}, pairs[9]]
    bodies = [*(json.dumps(one).encode() for one in asked), b"{"]
    *good, several, poison, last, broken = answer_all(service.model, service.limits, bodies)
    assert [type(poison), type(broken)] == [RuntimeError, HTTPException]
    found = [(json.loads(body), number) for body, number in (*good, several, last)]  # type: ignore[misc]
    answers = [*expected[:5], {"pairs": expected[5:9]}, expected[9]]
    assert found == list(zip(answers, [1] * 5 + [4, 1], strict=True))
    answer = client.align({"source": "poison", "target": ""})
    assert (answer.status, [*answer.json()]) == (500, ["error"])
    assert client.align(pairs[0]).status == 200


@pytest.mark.parametrize(
    ("pair", "tokens"),
    [
        ({"source": [], "target": "x"}, [[], ["x"]]),
        ({"source": "\u00a0 <b>&amp; \0 😀", "target": ["new york", "\n"]},
         [["\u00a0", "<b>&amp;", "\0", "😀"], ["new york", "\n"]]),
    ],
)  # fmt: skip
def test_odd_text_is_answered(client: Client, pair: dict[str, Any], tokens: list[list[str]]) -> None:
    answer = client.align(pair)
    assert answer.status == 200
    assert [answer.json()[side] for side in ("source", "target")] == tokens


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"{", 400, "not JSON"),
        (b"\xff", 400, "UTF-8"),
        (b"[" * 10_000, 400, "not JSON"),
        (b"1" * 5000, 400, "more than 20 digits"),
        (b"[]", 422, "source and target"),
        (b"NaN", 400, "NaN is no number"),
        (b'{"source": "a"}', 422, "source and target"),
        (b'{"source": "a", "target": "b", "links": []}', 422, "alone"),
        (b'{"source": "a", "target": null}', 422, "neither a text"),
        (b'{"source": ["a", ""], "target": "b"}', 422, "neither a text"),
        (b'{"source": ["a", 1], "target": "b"}', 422, "neither a text"),
        (b'{"source": "\\ud800", "target": "b"}', 422, "surrogate"),
        (b'{"source": "b", "target": ["\\udfff"]}', 422, "surrogate"),
        (b'{"pairs": {}}', 422, "not a list"),
        (b'{"pairs": [], "model": 1}', 422, "alone"),
        (b'{"pairs": [{"source": "a", "target": "b"}, 3]}', 422, "pair 1"),
        (json.dumps({"source": "a " * 61, "target": "b"}).encode(), 422, "more than 60 words"),
        (json.dumps({"pairs": [{"source": "a", "target": "b"}] * 71}).encode(), 422, "more than 70 pairs"),
        (json.dumps({"pairs": [{"source": "a " * 60, "target": "b"}] * 33}).encode(), 422, "more than 2,000 words"),
        (b" " * 20_001, 413, "20,000 bytes"),
    ],
)
def test_what_is_refused_and_why(client: Client, body: bytes, status: int, words: str) -> None:
    answer = client.align(body)
    assert answer.status == status
    assert answer.headers["content-type"] == "application/json"
    message = answer.json()["error"]
    assert [*answer.json()] == ["error"]
    assert words in message
    assert re.fullmatch(r".+ \(.+\)", message)
    assert client.figure(f'aligner_requests_total{{path="/align",status="{status}"}}') == 1


def test_tags_come_back(client: Client) -> None:
    pair = {"source": "<b>the house</b>", "target": "la maison"}
    found = client.ask("POST", "/project", json.dumps(pair), JSON).json()
    assert (found["target"], [tag["end"] for tag in found["tags"]]) == ("<b>la maison</b>", [9])
    for wrong in ({"markup": None}, {"markup": "x"}, {"markup": []}, {"source": ["a"]}, {"other": 1}):
        answer = client.ask("POST", "/project", json.dumps(pair | wrong), JSON)
        assert (answer.status, [*answer.json()]) == (422, ["error"])
        assert "markup" not in wrong or "markup is none of html" in answer.json()["error"]


def test_other_requests_are_refused(client: Client) -> None:
    assert client.align(iter([b" " * 8000] * 3)).status == 413, "however long it is going to be"
    for method, path, body, kind, status, error in (
        ("POST", "/align", b"{}", "text/plain", 415, "application/json"),
        ("GET", "/align", None, None, 405, "not by GET (send POST)"),
        ("DELETE", "/health", None, None, 405, "not by DELETE"),
        ("GET", "/<script>", None, None, 404, ""),
    ):
        answer = client.ask(method, path, body, kind)
        assert (answer.status, answer.headers["content-type"], [*answer.json()]) == (status, JSON, ["error"])
        assert error in answer.json()["error"]
    assert client.get("/align").headers["allow"] == "POST"
    assert client.figure('aligner_requests_total{path="other",status="404"}') == 1


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("evil.example", 403), ("evil.example:{}", 403), ("localhost.evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("our.example", 200), ("OUR.example.:{}", 200), ("localhost:{}", 200), ("127.0.0.1:{}", 200), ("[::1]:{}", 200),
        ("192.0.2.7", 200),
    ],
)  # fmt: skip
def test_requests_to_other_names_are_refused(client: Client, host: str, status: int) -> None:
    with socket.create_connection(("127.0.0.1", client.port)) as one:
        head = f"GET /health HTTP/1.1\r\nhost: {host.format(client.port)}\r\nconnection: close\r\n\r\n"
        one.sendall(head.encode())
        assert received(one).startswith(f"HTTP/1.1 {status} ".encode())


def test_requests_have_names(client: Client, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that they bear, or new ones; for the log too."""
    for given, kept in ((b"job-7/x", True), (b"", False), (b"a b", False), (b"x" * 201, False)):
        with socket.create_connection(("127.0.0.1", client.port), timeout=TIMEOUT) as one:
            head = b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nx-request-id: %s\r\n\r\n"
            one.sendall(head % given)
            (name,) = re.findall(rb"(?im)^x-request-id: (.*)\r$", received(one))
        assert name == given if kept else re.fullmatch(rb"[0-9a-f]{32}", name)
    app = application([Route("/", lambda request: 1 / 0)], lambda headers: True)
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": [(b"x-request-id", b"j1")]}

    async def nothing(*message: Any) -> Any:
        return {"type": "http.request"}

    with pytest.raises(ZeroDivisionError) as raised:
        run_apart(app(scope, nothing, nothing))  # type: ignore[arg-type]
    assert raised.value.__notes__ == ["X-Request-ID: j1"]


def test_what_waits_is_told_of_an_error_of_the_program(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service._short, "_work", lambda bodies: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run_apart(service.answer(b"{}"))


def test_a_full_table_of_descriptors_is_said_once_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    told, now = list[str](), [1000.0]
    monkeypatch.setattr("aligner.pages.http.time.monotonic", lambda: now[0])
    server: Any = Server(None, told.append)  # type: ignore[arg-type]
    for now[0] in (1000.0, 1000.1, 1059.0, 1060.0, 1100.0):
        server._say(None, {"exception": OSError(errno.EMFILE, "Too many open files")})
    assert told == ["no connection can be taken: Too many open files (raise the limit: ulimit -n)"] * 2


def test_beyond_the_queue_it_is_refused_for_now(
    service: Service, client: Client, pairs: Pairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2 * service.limits.queue):  # clients that go away keep no place
        with socket.create_connection(("127.0.0.1", client.port)) as one:
            head = b"POST /align HTTP/1.1\r\nhost: [::1]\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n"
            one.sendall(head + b"{")
    wait_for(lambda: client.figure("aligner_waiting") == 0)
    held, real = threading.Event(), service._work
    monkeypatch.setattr(service._short, "_work", lambda bodies: real(bodies) if held.wait(60) else [])
    with ThreadPoolExecutor(service.limits.queue) as threads:
        asking = [threads.submit(client.align, pairs[0]) for _ in range(service.limits.queue)]
        wait_for(lambda: client.figure("aligner_waiting") == service.limits.queue)
        answer = client.align(pairs[0])
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert "try again" in answer.json()["error"]
        assert client.get("/health").status == 200
        held.set()
        assert {one.result().status for one in asking} == {200}
    assert client.align(pairs[0]).status == 200
    assert client.figure("aligner_waiting") == 0


def test_a_body_that_does_not_come_is_not_waited_for(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aligner.pages.http.SECONDS_TO_READ", 0.05)

    def slowly() -> Iterator[bytes]:
        yield b"{"
        wait_for(lambda: client.figure('aligner_requests_total{path="/align",status="408"}'))

    answer = client.align(slowly())
    assert (answer.status, answer.headers["connection"]) == (408, "close")


def test_what_waits_is_done_together(service: Service, pairs: Pairs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long requests up to a size; they do not wait for short ones."""
    real, batches, first = service._work, list[int](), threading.Event()
    long = (json.dumps({"pairs": pairs}) + " " * 30_000).encode()
    assert 3 * len(long) <= 1 << 17 < 4 * len(long)

    def work(bodies: Any) -> Any:
        if len(bodies[0]) < len(long):
            first.wait(60)
        batches.append(len(bodies))
        return real(bodies)

    async def ask() -> list[Any]:
        asked = [asyncio.create_task(service.answer(json.dumps(pair).encode())) for pair in pairs[:6]]
        assert [number for _, number in await asyncio.gather(*(service.answer(long) for _ in range(4)))] == [64] * 4
        assert not any(task.done() for task in asked)
        asked[2].cancel()
        first.set()
        return await asyncio.gather(*asked, return_exceptions=True)

    for queue in (service._short, service._long):
        monkeypatch.setattr(queue, "_work", work)
    answers = run_apart(ask())
    assert batches == [3, 1, 6]
    assert isinstance(answers.pop(2), asyncio.CancelledError)
    assert [number for _, number in answers] == [1] * 5


def test_health_and_metrics(client: Client, service: Service, pairs: Pairs) -> None:
    told = client.get("/health").json()
    assert told["status"] == "ok"
    assert told["model"] == {"path": service.path, **json.loads(json.dumps(service.model.info()))}
    client.align({"pairs": pairs[:7]})
    client.align(pairs[0])
    assert client.figure("aligner_pairs_total") == 8
    assert client.figure("aligner_align_seconds_count") == 2 == client.figure('aligner_align_seconds_bucket{le="+Inf"}')
    assert 0 < client.figure("aligner_align_seconds_sum") < 60
    text = client.get("/metrics").text
    line = re.compile(r'# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [\d.e+-]+')
    assert all(line.fullmatch(row) for row in text.removesuffix("\n").split("\n"))


def test_a_reload_swaps_the_model_or_keeps_it(
    service: Service, linked: Model, pairs: Pairs, expected: Pairs, tmp_path: Path
) -> None:
    path, good = tmp_path / "M", Path(service.path).read_bytes()
    path.write_bytes(good)
    own, said, complaints = Service(str(path), service.limits), list[str](), list[str]()
    old = own.model

    async def reload() -> object:
        await own.reload(said.append, complaints.append)
        return json.loads((await own.answer(json.dumps(pairs[0]).encode()))[0])

    spoil: list[Callable[[], object]] = [
        lambda: path.write_bytes(good[:1000]), lambda: linked.save(path, force=True), path.unlink,
    ]  # fmt: skip
    for change in spoil:
        change()
        assert run_apart(reload()) == expected[0]
        assert re.fullmatch(rf"the model stays as it was: {path}: .*", complaints[-1])
        assert own.model is old
    path.write_bytes(good)
    assert run_apart(reload()) == expected[0]
    assert own.model is not old
    assert (said, own.reloads, len(complaints)) == ([f"reloaded {path}"], {"done": 1, "failed": 3}, 3)


def test_what_cannot_be_served(model: Path, linked: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    linked.save(tmp_path / "L")
    assert "other aligners' links" in refused("serve", "-m", tmp_path / "L", "--port", 0, "-q")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert "--port" in refused("serve", "-m", model, "--port", taken.getsockname()[1])
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    for name in ("serve.app", "http"):
        monkeypatch.delitem(sys.modules, f"aligner.pages.{name}")
    assert "pip install starlette uvicorn" in refused("serve", "-m", model)


def test_answers_do_not_wait_for_confirmations() -> None:
    with listen("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
