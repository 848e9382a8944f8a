"""serve and annotate answer whatever is sent to them, and only what they should."""

import json
import random
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from campaign.mutate import mutated
from campaign.rounds import Round, rounds, told
from commands import TIMEOUT, read_until, start

BODIES = [
    b'{"source": "a house .", "target": "une maison ."}',
    b'{"pairs": [{"source": ["a", "b"], "target": "c d"}, {"source": "", "target": ""}]}',
    b'{"pair": 0, "links": [[0, 0, "S"]], "comment": "x", "flagged": false, "revision": 0, "annotator": "a"}',
    b'{"pair": 1, "links": [], "revision": 0}',
    b"{}", b"[]", b"",
]  # fmt: skip
PLACES = [
    "align", "health", "metrics", "", "pair?pair=0", "pair?pair=0&with=nobody", "pair", "train", "overview",
    "suggest", "%00", "../x",
]  # fmt: skip


PATIENCE = 1.0
"""Seconds without a byte after which a server waits for more."""


@contextmanager
def started(*command: object) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A service, and the path of its address."""
    process = start(*command, stdout=subprocess.DEVNULL)
    try:
        said = read_until(process.stderr.fileno(), "http://")
        while b"\n" not in said.partition(b"http://")[2]:
            said += read_until(process.stderr.fileno(), "\n")
        found = re.search(r"http://([\d.]+|localhost):(\d+)(/\S*)?", said.decode())
        assert found is not None, said
        yield process, f"{found[2]}{found[3] or '/'}"
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=TIMEOUT)


def asked(port: int, request: bytes, patience: float = PATIENCE) -> bytes:
    """What a server answers to these bytes, until it waits for more."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=patience) as connection, suppress(OSError):
        connection.sendall(request)
        while chunk := connection.recv(1 << 16):
            answer += chunk
    return answer


def request(rng: random.Random, port: int, root: str) -> bytes:
    body = mutated(rng.choice(BODIES), rng, BODIES) if rng.randrange(4) else rng.choice(BODIES)
    host = rng.choice([f"127.0.0.1:{port}"] * 9 + ["evil.example", ""])
    kind = rng.choice(["application/json"] * 9 + ["text/plain", ""])
    length = rng.choice([len(body)] * 9 + [0, -1, 10**12, "x"])
    method = rng.choice(["POST"] * 6 + ["GET", "GET", "PUT", "HEAD", "OPTIONS"])
    headers = f"Host: {host}\r\nOrigin: http://{host}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n"
    head = f"{method} {root}{rng.choice(PLACES)} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n".encode()
    return (mutated(head, rng, BODIES) if rng.randrange(8) == 0 else head) + body


def judge(inputs: Round, process: subprocess.Popen[bytes], address: str) -> None:
    port, root = int(address.partition("/")[0]), "/" + address.partition("/")[2]
    counts: dict[int, int] = {}
    for number, rng in inputs.numbered():
        sent = request(rng, port, root)
        with told(inputs, number):
            status = re.match(rb"HTTP/1\.1 (\d+) ", asked(port, sent))
            code = int(status[1]) if status else 0  # it may hang up on what is no HTTP
            counts[code] = counts.get(code, 0) + 1
            assert code == 503 or code < 500, sent
            assert process.poll() is None
    assert counts.get(200, 0) > inputs.inputs / 100 or inputs.inputs < 1000
    assert counts.get(0, 0) < inputs.inputs / 4


def memory(process: subprocess.Popen[bytes]) -> int:
    return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * 4096


@rounds(20_000, 60, chunks=4)
def test_serve(inputs: Round, model: Path) -> None:
    with started("serve", "-m", model, "--port", 0) as (process, address):
        judge(Round(inputs.seed - 1, 50), process, address)
        before = memory(process)
        judge(inputs, process, address)
        assert memory(process) < before + (64 << 20)


@rounds(6_000, 40, chunks=4)
def test_annotate(inputs: Round, sample: Path, model: Path, tmp_path: Path) -> None:
    texts = sample / "test.en", sample / "test.fr"
    command = "annotate", *texts, "-o", tmp_path / "gold", "-m", model, "--port", 0
    with started(*command) as (process, address):
        judge(inputs, process, address)
    for line in (tmp_path / "gold.journal").read_bytes().splitlines():
        assert isinstance(json.loads(line), dict)
    with started(*command) as (_, address):
        port, _, root = address.partition("/")
        whole = f"GET /{root} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode()
        assert asked(int(port), whole, TIMEOUT).startswith(b"HTTP/1.1 200 ")
