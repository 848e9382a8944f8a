"""What tests of annotating share: a page that is served, and asking it."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from typing import Any

from aligner.pages.annotate.app import HOST, application
from aligner.pages.annotate.session import Session
from aligner.pages.http import Server, listen
from aligner.progress import ignore


class Site:
    """A page that is served: its address, and the session behind it."""

    def __init__(self, session: Session, token: str = "token") -> None:
        self.session, listening = session, listen(HOST, 0)
        self.port = listening.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}/{token}/"
        self._server = Server(application(session, token, self.port), ignore, log_level="critical")
        self._thread = threading.Thread(target=self._server.run, args=[[listening]])
        self._thread.start()

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self.session.close()

    def ask(self, path: str, given: object = None, **headers: str) -> tuple[int, Any]:
        """Status and answer, of JSON unless it is text."""
        return ask(f"{self.address}{path}", given, **headers)


def settled(page: Any, pair: int | None = None) -> None:
    """Wait until all that was pressed has been done."""
    page.wait_for_function("() => document.body.dataset.busy === 'no'")
    if pair is not None:
        assert page.locator("#title").inner_text() == f"Pair {pair + 1}"


def press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)
    settled(page)


def ask(address: str, given: object = None, **headers: str) -> tuple[int, Any]:
    body = None if given is None else json.dumps(given).encode()
    request = urllib.request.Request(address, body, headers)
    try:
        with urllib.request.urlopen(request) as response:
            status, content = response.status, response.read()
    except urllib.error.HTTPError as error:
        status, content = error.code, error.read()
        error.close()
    return status, json.loads(content) if content.startswith(b"{") else content.decode()
