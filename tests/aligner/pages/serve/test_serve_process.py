"""The service as a process: signals, clients that go away, and what its description promises."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from commands import TIMEOUT, read_until, start
from reports import unavailable

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")]

Client, Pairs = Any, list[dict[str, Any]]
HEAD = b"POST /align HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
Started = tuple[subprocess.Popen[bytes], Any]


def told(process: subprocess.Popen[bytes], words: str) -> str:
    """What it says until a line with these words has ended."""
    said = read_until(process.stderr.fileno(), words)
    while not said.endswith(b"\n"):
        said += os.read(process.stderr.fileno(), 1)
    return said.decode()


@pytest.fixture
def served(model: Path, tmp_path: Path, client_of: Callable[[int], Client]) -> Iterator[Started]:
    """A process, by a copy of the model, and what asks it."""
    (tmp_path / "M").write_bytes(model.read_bytes())
    process = start("serve", "-m", tmp_path / "M", "--port", 0)
    yield process, client_of(int(re.findall(r":(\d+)\n", told(process, "http://127.0.0.1:"))[-1]))
    process.kill()
    process.communicate()


class Crowd:
    """Clients that ask for the same links until they are stopped.  answers: what each got."""

    def __init__(self, client: Client, pair: dict[str, Any], clients: int = 4) -> None:
        self.client, self.pair, self.answers, self.stopped = client, pair, list[Any](), threading.Event()
        self.threads = [threading.Thread(target=self.ask) for _ in range(clients)]

    def ask(self) -> None:
        while not self.stopped.is_set():
            reply = self.client.align(self.pair)
            self.answers.append(reply.json() if reply.status == 200 else reply.text)

    def __enter__(self) -> Crowd:
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stopped.set()
        for thread in self.threads:
            thread.join()


def test_reloads_under_load_lose_no_request(served: Started, pairs: Pairs, expected: Pairs, tmp_path: Path) -> None:
    process, client = served
    good = (tmp_path / "M").read_bytes()
    with Crowd(client, pairs[3]) as crowd:
        for content, line in ((good, "reloaded"), (good[:5000], "stays as it was"), (good, "reloaded")):
            (tmp_path / "M").write_bytes(content)
            before = len(crowd.answers)
            process.send_signal(signal.SIGHUP)
            assert told(process, line).count("\n") == 1
            while len(crowd.answers) < before + 20:
                pass
    assert all(answer == expected[3] for answer in crowd.answers)
    assert client.figure('aligner_reloads_total{result="done"}') == 2


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_answers_what_has_come_and_takes_no_more(
    served: Started, pairs: Pairs, expected: Pairs, signum: signal.Signals
) -> None:
    process, client = served
    body = json.dumps({"pairs": pairs}).encode()
    with socket.create_connection(("127.0.0.1", client.port), timeout=TIMEOUT) as begun:
        begun.sendall(HEAD % len(body) + body[:100])
        assert client.get("/health").status == 200  # by then it has seen the other one, too
        process.send_signal(signum)
        while True:
            try:
                client.get("/health")
            except OSError:
                break
        begun.sendall(body[100:])
        reply = b""
        while chunk := begun.recv(1 << 16):
            reply += chunk
    assert reply.startswith(b"HTTP/1.1 200 ")
    assert json.loads(reply.partition(b"\r\n\r\n")[2]) == {"pairs": expected}
    output, errors = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, output, errors) == (0, b"", b"")


def test_clients_that_go_away_end_nothing(served: Started, pairs: Pairs, expected: Pairs) -> None:
    process, client = served
    body = json.dumps({"pairs": pairs}).encode()
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", client.port)) as one:
            one.sendall(2 * (HEAD % len(body) + body))
    for garbage in (b"\0" * 100, b"GET / HTTP/9\r\n\r\n", b"POST /align HTTP/1.1\r\ncontent-length: x\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", client.port)) as one:
            one.sendall(garbage)
    assert client.align(pairs[0]).json() == expected[0]
    assert process.poll() is None


def test_what_is_said_where_descriptors_run_out(model: Path, client_of: Callable[[int], Client]) -> None:
    command = ["sh", "-c", 'ulimit -n 128; exec "$0" -m aligner serve -m "$1" --port 0', sys.executable, model]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        try:
            client = client_of(int(re.findall(r":(\d+)\n", told(process, "http://127.0.0.1:"))[-1]))
            with ExitStack() as opened:
                for _ in range(300):
                    opened.enter_context(socket.create_connection(("127.0.0.1", client.port), timeout=TIMEOUT))
                told(process, "no connection can be taken: Too many open files (raise the limit: ulimit -n)")
            assert client.get("/health").status == 200, "it goes on when clients have gone"
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=TIMEOUT)
            assert (process.returncode, errors) == (0, b"")
        finally:
            process.kill()  # what fails must not wait for its end


def test_the_client_of_the_documentation(served: Started, pairs: Pairs, expected: Pairs) -> None:
    page = (Path(__file__).parents[4] / "docs" / "serve.md").read_text("utf-8")
    (code,) = (block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "urlopen" in block)
    names: dict[str, Any] = {}
    exec(compile(code, "serve.md", "exec"), names)
    sentences = [(pair["source"], pair["target"]) for pair in pairs]
    found = [*names["align"](sentences, f"http://127.0.0.1:{served[1].port}", 30)]
    assert found == [pair["links"] for pair in expected]


def test_its_description_is_true(served: Started, tmp_path: Path) -> None:
    """schemathesis sends what the description allows, and what it does not, and looks at the answers."""
    command = os.environ.get("ALIGNER_SCHEMATHESIS", "")
    if not Path(command).is_file():
        unavailable("ALIGNER_SCHEMATHESIS names no schemathesis")
    process, client = served
    address = f"http://127.0.0.1:{client.port}/openapi.json"
    run = subprocess.run(
        [command, "run", address, "--checks", "all", "--max-examples", "60", "--seed", "1", "--no-color"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-5000:]
    assert process.poll() is None
    assert "500" not in re.findall(r'status="(\d+)"', client.get("/metrics").text)
