"""A service that listens in this process, and what asks it."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from commands import run, wait_for

from aligner.pages.http import Server, listen
from aligner.pages.serve.app import make_app
from aligner.pages.serve.queue import Service
from aligner.pages.serve.requests import Limits
from aligner.progress import ignore

JSON = "application/json"


@dataclass(frozen=True)
class Reply:
    """What came of a request."""

    status: int
    headers: http.client.HTTPMessage
    text: str

    def json(self) -> Any:
        return json.loads(self.text)


@dataclass(frozen=True)
class Client:
    """What asks a service that listens on a port of this machine."""

    port: int

    def ask(self, method: str, path: str, body: Any = None, kind: str | None = None) -> Reply:
        """body: bytes, or parts that are sent without saying how long they are."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, {"content-type": kind} if kind else {})
            answer = connection.getresponse()
            return Reply(answer.status, answer.headers, answer.read().decode())
        finally:
            connection.close()

    def get(self, path: str) -> Reply:
        return self.ask("GET", path)

    def align(self, asked: bytes | Iterable[bytes] | dict[str, Any]) -> Reply:
        """Links; of JSON values, or of a body as it stands."""
        body = json.dumps(asked).encode() if isinstance(asked, dict) else asked
        return self.ask("POST", "/align", body, f"{JSON}; charset=utf-8")

    def figure(self, name: str) -> float:
        """A figure of /metrics; 0 where it is not there."""
        found = re.search(rf"^{re.escape(name)} (.*)$", self.get("/metrics").text, re.MULTILINE)
        return float(found[1]) if found else 0.0


@pytest.fixture
def client_of() -> Callable[[int], Client]:
    """What asks a service, by its port."""
    return Client


@pytest.fixture(scope="session")
def service(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Service:
    """That of all tests, by a copy of the model."""
    path = tmp_path_factory.mktemp("service") / "M"
    shutil.copy(model, path)
    return Service(str(path), Limits(body=20_000, pairs=70, words=2000, length=60, queue=3))


@pytest.fixture
def client(service: Service) -> Iterator[Client]:
    """One whose service listens in a thread; its counts begin anew."""
    listening = listen("127.0.0.1", 0)
    server = Server(make_app(service, ["our.example"]), ignore, log_level="critical")
    thread = threading.Thread(target=server.run, args=[[listening]])
    thread.start()
    wait_for(lambda: server.started)
    yield Client(listening.getsockname()[1])
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="session")
def pairs(sample: Path) -> list[dict[str, Any]]:
    """The test pairs of the sample."""
    texts = [(sample / f"test.{side}").read_text("utf-8").splitlines() for side in ("en", "fr")]
    return [{"source": source, "target": target} for source, target in zip(*texts, strict=True)]


@pytest.fixture(scope="session")
def expected(model: Path, sample: Path) -> list[dict[str, Any]]:
    """What the command says of them, without the languages of its files."""
    found = run("align", sample / "test.en", sample / "test.fr", "-m", model, "--format", "jsonl", "-q")
    lines = map(json.loads, found.stdout.splitlines())
    return [{name: value for name, value in line.items() if name != "languages"} for line in lines]
