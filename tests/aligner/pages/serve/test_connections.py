"""Connections to the service: bounds of time and of bytes on the wire."""

from __future__ import annotations

import json
import re
import select
import socket
from contextlib import suppress
from typing import Any

import pytest
from commands import TIMEOUT, received, wait_for
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

Client = Any  # of conftest
Pairs = list[dict[str, Any]]


@pytest.mark.parametrize("head", [b"", b"GET /health HTT", b"GET /health HTTP/1.1\r\nhost: localhost\r\na: "])
@pytest.mark.parametrize("asked_before", [False, True])
def test_a_connection_without_a_request_is_closed(
    client: Client, head: bytes, asked_before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aligner.pages.http.SECONDS_TO_ASK", 0.1)
    with socket.create_connection(("127.0.0.1", client.port), timeout=TIMEOUT) as one:
        if asked_before and head:
            one.sendall(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n")
            assert one.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
        one.sendall(head)
        received(one)


CHUNKED = b"POST /align HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n"


def test_bodies_in_chunks_of_one_letter(client: Client, pairs: Pairs, expected: Pairs) -> None:
    body = json.dumps(pairs[0]).encode()
    assert client.align(body[place : place + 1] for place in range(len(body))).json() == expected[0]


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    ("begins", "goes_on", "status", "words"),
    [
        (CHUNKED + b"\r\n", b"1\r\n \r\n", b"413", "framing of its chunks"),
        (CHUNKED + b"\r\n", b"1;%s\r\n \r\n" % (b"x" * 100), b"413", "framing of its chunks"),
        (CHUNKED + b"\r\n0\r\n", b"a: b\r\n", b"413", "framing of its chunks"),
        (CHUNKED, b"a: b\r\n", b"431", "head"),
        (b"GET /", b"a" * 100, b"431", "head"),
    ],
)
def test_a_request_is_bounded_by_all_its_bytes(
    client: Client, begins: bytes, goes_on: bytes, status: bytes, words: str, at_once: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """What follows is not parsed, and the client hears why; others go on."""
    monkeypatch.setattr("aligner.pages.http.MOST_HEAD", 3000)
    monkeypatch.setattr("aligner.pages.http.MOST_FRAMING", 6000)
    monkeypatch.setattr("aligner.pages.http.SECONDS_TO_HEAR", 0.5)
    parsed, parse = [0], HttpToolsProtocol.data_received
    monkeypatch.setattr(
        HttpToolsProtocol, "data_received", lambda one, data: (parsed.append(len(data)), parse(one, data))
    )
    with socket.create_connection(("127.0.0.1", client.port), timeout=TIMEOUT) as one:
        one.sendall(begins)
        wait_for(lambda: sum(parsed) == len(begins))
        for _ in range(2 if at_once else 400):
            with suppress(ConnectionError):
                one.sendall(goes_on * (30_000 // len(goes_on) if at_once else 50))
        got = received(one)
    assert got.startswith(b"HTTP/1.1 " + status)
    assert words in json.loads(got.partition(b"\r\n\r\n")[2])["error"]
    assert sum(parsed) < 6000 + 2 * (1 << 18)
    assert client.get("/health").status == 200


def test_what_follows_a_refusal_is_bounded_too(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aligner.pages.http.MOST_FRAMING", 6000)
    with socket.create_connection(("127.0.0.1", client.port), timeout=TIMEOUT) as one:
        one.sendall(CHUNKED.replace(b"json", b"text") + b"\r\n")
        assert one.recv(1 << 16).startswith(b"HTTP/1.1 415 ")
        with suppress(ConnectionError):
            while True:
                one.sendall(b"1\r\n \r\n" * 100)
                if select.select([one], [], [], 0)[0] and not one.recv(1 << 16):
                    break


def test_few_requests_wait_on_one_connection(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aligner.pages.http.MOST_PIPELINED", 3)
    request = b"GET /health HTTP/1.1\r\nhost: localhost\r\n%s\r\n"
    for more, statuses in ((0, {b"200"}), (9, {b"200", b"400"})):
        with socket.create_connection(("127.0.0.1", client.port), timeout=TIMEOUT) as one:
            one.sendall(request % b"" * (3 + more) + request % b"connection: close\r\n")
            assert {*re.findall(rb"HTTP/1.1 (\d+) ", received(one))} <= statuses


def test_a_client_that_takes_nothing_is_not_waited_for(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """It asks for more than fits on the way."""
    monkeypatch.setattr("aligner.pages.http.SECONDS_TO_TAKE", 0.1)
    got, most, lost, end = 0, 400 * len(client.get("/").text.encode()), [], HttpToolsProtocol.connection_lost
    monkeypatch.setattr(HttpToolsProtocol, "connection_lost", lambda one, why: (end(one, why), lost.append(one.client)))
    with socket.create_connection(("127.0.0.1", client.port), timeout=TIMEOUT) as one:
        one.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n" * 400)
        wait_for(lambda: one.getsockname() in lost)
        with suppress(ConnectionResetError):
            while part := one.recv(1 << 20):
                got += len(part)
        assert 0 < got < most
    assert client.get("/health").status == 200
