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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from commands import TIMEOUT, read_until, received, start, wait_for
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


def test_reloads_under_load_lose_no_request(served: Started, pairs: Pairs, expected: Pairs, tmp_path: Path) -> None:
    process, client = served
    good, answers, stopped = (tmp_path / "M").read_bytes(), list[Any](), threading.Event()

    def ask() -> None:
        while not stopped.is_set():
            answers.append(client.align(pairs[3]).json())

    with ThreadPoolExecutor(4) as threads:
        asking = [threads.submit(ask) for _ in range(4)]
        for content, line in ((good, "reloaded"), (good[:5000], "stays as it was"), (good, "reloaded")):
            (tmp_path / "M").write_bytes(content)
            before = len(answers)
            process.send_signal(signal.SIGHUP)
            assert told(process, line).count("\n") == 1
            wait_for(lambda before=before: len(answers) >= before + 20)
        stopped.set()
        assert not [one.result() for one in asking if one.result()]
    assert all(answer == expected[3] for answer in answers)
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
        reply = received(begun)
    assert reply.startswith(b"HTTP/1.1 200 ")
    assert json.loads(reply.partition(b"\r\n\r\n")[2]) == {"pairs": expected}
    output, errors = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, output, errors) == (0, b"", b"")


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
