"""The same pages in WebKit, the engine of Safari and of all browsers of iPhones, by its own driver."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from annotating import Site
from commands import run, wait_for, write
from shapes import ENGLISH, SCRIPTS, assert_fits, write_texts

from aligner.model.model import load
from aligner.pages.annotate.annotation import read_text
from aligner.pages.annotate.session import Session
from aligner.pages.http import Server, listen
from aligner.pages.serve.app import make_app
from aligner.pages.serve.queue import Service
from aligner.pages.serve.requests import Limits
from aligner.progress import ignore
from corpora.readers import open_texts

pytestmark = pytest.mark.slow

BROWSER = next(Path("/usr/lib").glob("*/webkit2gtk-4*/MiniBrowser"), None)
WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
PORT, DISPLAY = 4723 + WORKER, 120 + WORKER


class Page:
    """A window of the browser; what is evaluated is given as to Playwright."""

    def __init__(self) -> None:
        options = {"binary": f"{BROWSER}", "args": ["--automation"]}
        asked = {"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}}
        self.session = ""
        self.session = f"/{self.ask('POST', '', asked)['sessionId']}"

    def ask(self, method: str, path: str, given: object = None) -> Any:
        body = None if given is None else json.dumps(given).encode()
        address = f"http://127.0.0.1:{PORT}/session{self.session}{path}"
        with urllib.request.urlopen(urllib.request.Request(address, body, method=method), timeout=60) as answer:
            return json.load(answer)["value"]

    def evaluate(self, code: str) -> Any:
        script = f"const it = ({code}); return typeof it === 'function' ? it() : it"
        return self.ask("POST", "/execute/sync", {"script": script, "args": []})

    def visit(self, address: str, width: int) -> None:
        self.ask("POST", "/window/rect", {"width": width, "height": 800})
        self.ask("POST", "/url", {"url": "about:blank"})
        self.ask("POST", "/url", {"url": address})
        wait_for(lambda: self.evaluate("document.body.dataset.ready") == "yes")


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    driver, xvfb = shutil.which("WebKitWebDriver"), shutil.which("xvfb-run")
    if not (BROWSER and driver and xvfb):
        pytest.skip("there is no WebKit (Debian's packages webkit2gtk-driver and xvfb)")
    environment = {**os.environ, "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1"}  # of a container, as root
    command = [xvfb, "-n", f"{DISPLAY}", "-s", "-screen 0 2000x1200x24", driver, f"--port={PORT}"]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )

    def answers() -> bool:
        try:
            return bool(urllib.request.urlopen(f"http://127.0.0.1:{PORT}/status").status == 200)
        except OSError:
            return False

    try:
        wait_for(answers)
        opened = Page()
        yield opened
        opened.ask("DELETE", "")
    finally:
        os.killpg(process.pid, 15)
        process.wait()


WIDTHS = (450, 768, 1280, 1920)
"""Its window is never narrower than the first."""

TWO_WIDTHS = {language: (WIDTHS[0], WIDTHS[1 + number % 3]) for number, language in enumerate(SCRIPTS)}


def test_the_window_has_the_width_that_is_asked_for(page: Page, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<body data-ready=yes>")
    for width in WIDTHS:
        page.visit((tmp_path / "page.html").as_uri(), width)
        assert page.evaluate("innerWidth") == width


@pytest.mark.parametrize("language", SCRIPTS)
def test_annotate_fits(page: Page, model: Path, tmp_path: Path, language: str) -> None:
    one, other = write_texts(tmp_path, language)
    known = load(model)
    served = Site(Session(read_text(open_texts(one, other), known), known, str(tmp_path / "gold"), order="given"))
    try:
        for width in TWO_WIDTHS[language]:
            page.visit(served.address, width)
            for tab in ("pairs", "list"):
                page.evaluate(f"document.getElementById('tab-{tab}').click()")
                wait_for(lambda: page.evaluate("document.body.dataset.busy") == "no")
                assert_fits(page)
    finally:
        served.close()


@pytest.mark.parametrize("language", SCRIPTS)
def test_serve_fits(page: Page, model: Path, language: str) -> None:
    listening = listen("127.0.0.1", 0)
    server = Server(make_app(Service(str(model), Limits())), ignore, log_level="critical")
    thread = threading.Thread(target=server.run, args=[[listening]])
    thread.start()
    asked = urlencode({"source": ENGLISH[1], "target": SCRIPTS[language][1]}, quote_via=quote)
    try:
        for width in TWO_WIDTHS[language]:
            page.visit(f"http://127.0.0.1:{listening.getsockname()[1]}/#{asked}", width)
            wait_for(lambda: page.evaluate("document.querySelectorAll('.word').length") > 0)
            assert_fits(page)
    finally:
        server.should_exit = True
        thread.join()


@pytest.mark.parametrize("language", SCRIPTS)
def test_reports_and_terms_fit(page: Page, tmp_path: Path, language: str) -> None:
    one, other = write_texts(tmp_path, language, times=3)
    lengths = [(len(a.split()), len(b.split())) for a, b in zip(ENGLISH, SCRIPTS[language], strict=True)] * 3
    links = write(tmp_path / "links", *(" ".join(f"{j}-{j * K // J}" for j in range(J)) for J, K in lengths))
    run("report", one, other, links, "-o", tmp_path / "report.html")
    run("terms", one, other, links, "--least", "1", "-o", tmp_path / "terms.html", "-q")
    for width in TWO_WIDTHS[language]:
        for view in ("lines", "matrix"):
            page.visit(f"{(tmp_path / 'report.html').as_uri()}#pair=2&view={view}", width)
            assert page.evaluate("document.querySelectorAll('.edge').length") == lengths[1][0]
            assert_fits(page)
        page.visit((tmp_path / "terms.html").as_uri(), width)
        assert page.evaluate("document.querySelectorAll('details.term').length") > 0
        assert_fits(page)
