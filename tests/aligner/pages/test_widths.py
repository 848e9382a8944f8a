"""All pages on all screens, light and dark, in six scripts, in Chromium and in WebKit, which is Safari's engine."""

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
from annotating import Site, press
from commands import run, wait_for, write
from reports import assert_accessible, load_axe, visits
from shapes import ENGLISH, ON_SCREENS, SCRIPTS, assert_begins_well, assert_fits, screen, write_texts

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

Places = tuple[str, dict[str, str]]

VIEWS: dict[str, list[tuple[str, str, str]]] = {
    "report": [
        ("#pair=2&view=lines&show=1", "", ".edge"), ("#pair=3&view=lines&show=all", "", ".edge"),
        ("#pair=2&view=matrix", "", "[data-layout=matrix] .edge"),
        ("#tab=words", "document.querySelector('button.words').click()", ".occurrences li"),
        ("#tab=plots", "", ".chart"),
    ],
    "terms": [("", "document.querySelector('details.term > summary').click()", "details.term[open] p")],
    "tags": [("", "", "#list button")],
    "annotate": [
        ("", f"document.getElementById('tab-{tab}').click()", f"[data-busy=no] #panel-{tab}:not([hidden])")
        for tab in ("pairs", "list", "words", "agreement")
    ],
    "serve": [],
}  # fmt: skip
"""Of each page: fragments of its address, what is done then, and what is seen in the end."""

IN_SIGHT = {"annotate": ["#accept", "#skip", "#undo", "#flag"]}
"""What must be without scrolling: what ends a pair."""


@pytest.fixture(scope="module")
def places(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, model: Path) -> Iterator[Places]:
    """A language, and the addresses of pages about its texts."""
    folder, language = tmp_path_factory.mktemp("widths"), request.param
    texts = write_texts(folder, language)
    lengths = [(len(a.split()), len(b.split())) for a, b in zip(ENGLISH, SCRIPTS[language], strict=True)]
    diagonal = [[(j, j * K // J) for j in range(J)] for J, K in lengths]
    lines = [[f"{j}{'?-'[j % 3 > 0]}{k}" for j, k in links] for links in diagonal]
    gold = write(folder / "gold", *map(" ".join, lines))
    systems = [
        write(folder / f"s{n}", *(" ".join(f"{j}-{k - (j % n == 1 < k)}:0.{5 + n}" for j, k in of) for of in diagonal))
        for n in (2, 3)
    ]
    run("report", *texts, *systems, "--gold", gold, "-o", folder / "report.html")
    tagged = write(folder / "tagged", *(f"<b>{line.replace(' ', '</b> ', 1)}" for line in ENGLISH))
    unsure = "--unsure", folder / "tags.html"
    run("project", tagged, texts[1], systems[0], "--markup", "html", "-q", *unsure, "-o", folder / "o")
    often = write_texts(folder, language, times=3)
    found = write(folder / "links", *[line for _ in range(3) for line in systems[0].read_text().splitlines()])
    run("terms", *often, found, "--least", "1", "-o", folder / "terms.html", "-q")
    known, listening = load(model), listen("127.0.0.1", 0)
    text = read_text(open_texts(*write_texts(folder, language)), known)
    session = Session(text, known, str(folder / "annotated"), order="given")
    work = {**session.pair({"pair": 0})["work"], "status": "accepted"}
    session.save({"pair": 0, "revision": 0, "work": work})  # words of the others are to be decided on
    site = Site(session)
    server = Server(make_app(Service(str(model), Limits())), ignore, log_level="critical")
    thread = threading.Thread(target=server.run, args=[[listening]])
    thread.start()
    files = {name: (folder / f"{name}.html").as_uri() for name in ("report", "terms", "tags")}
    yield (
        language,
        {
            **files,
            "annotate": site.address,
            "serve": f"http://127.0.0.1:{listening.getsockname()[1]}/",
        },
    )
    site.close()
    server.should_exit = True
    thread.join()


def views(name: str, language: str) -> list[tuple[str, str, str]]:
    asked = [urlencode({"source": s, "target": t}, quote_via=quote) for s, t in zip(ENGLISH, SCRIPTS[language])]  # noqa: B905
    return VIEWS[name] or [(f"#{one}", "", ".word") for one in asked]


def assert_all_fits(page: Any, address: str, views: list[tuple[str, str, str]]) -> Iterator[None]:
    """Nothing sticks out in any of the views; each is there when this goes on."""
    for fragment, action, seen in views:
        page.goto("about:blank")
        page.goto(f"{address}{fragment}")
        wait_for(lambda: page.evaluate("document.body.dataset.ready") == "yes")
        page.evaluate(f"() => {{ {action} }}")
        wait_for(lambda seen=seen: page.evaluate(f"document.querySelector({json.dumps(seen)}) !== null"))
        assert_fits(page)
        yield


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize(("places", "width", "scheme"), ON_SCREENS, indirect=["places"])
def test_nothing_sticks_out(browser: Any, places: Places, name: str, width: int, scheme: str) -> None:
    language, address = places[0], places[1][name]
    with visits(browser) as open_page:
        page = open_page(address, **screen(width, scheme))
        assert_begins_well(page)
        for one in IN_SIGHT.get(name, []):
            box = page.locator(one).bounding_box()
            assert 0 <= box["y"] <= box["y"] + box["height"] <= page.viewport_size["height"], one
        for _ in assert_all_fits(page, address, views(name, language)):
            drawing = page.locator("#drawing .drawing, #answer .drawing").first
            layout = drawing.get_attribute("data-layout") if drawing.count() and drawing.is_visible() else None
            assert not (layout == "across" and language in ("he", "ar")), "no curves cross for the directions alone"
            if layout == "matrix":
                row, picture = (page.locator(one).first.bounding_box() for one in (".source text", ".picture"))
                assert row["x"] + row["width"] < picture["x"] + 0.6 * picture["width"], "cells are in sight"
            if layout == "down":
                ends = "all => all.map(one => one.getBoundingClientRect()).map(({ left, right }) => [left, right])"
                source, target = (page.locator(f".side.{s} text").evaluate_all(ends) for s in ("source", "target"))
                assert min(left for left, _ in target) - max(right for _, right in source) > 60, "curves have room"
        scrolled = "all => all.filter(one => one.scrollHeight > one.clientHeight + 1).length"
        assert page.locator("textarea:visible").evaluate_all(scrolled) == 0, "what is asked is in sight"


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("places", ["he"], indirect=True)
def test_axe_finds_nothing_serious(browser: Any, places: Places, name: str, scheme: str) -> None:
    language, address = places[0], places[1][name]
    with visits(browser) as open_page:
        page = open_page(address, **screen(768, scheme))
        shown = [view for view in views(name, language) if "pair=3" not in view[0] and "Donau" not in view[0]]
        for _ in assert_all_fits(page, address, shown):  # words that are cut have other names
            if name == "annotate":
                press(page, "f")
            load_axe(page)
            assert_accessible(page)


@pytest.mark.parametrize("places", ["fr"], indirect=True)
def test_heads_of_a_scrolled_matrix_hide_what_is_behind_them(browser: Any, places: Places) -> None:
    """Nothing of the rows is seen above the columns' words, nor of the columns beside the rows'."""
    with visits(browser) as open_page:
        page = open_page(places[1]["report"], "#pair=2&view=matrix", **screen(360, "light"))
        picture = page.locator(".picture")
        picture.evaluate("one => { one.scrollLeft = 150; one.scrollTop = 120 }")
        page.wait_for_timeout(100)
        picture.scroll_into_view_if_needed()
        assert picture.evaluate("one => [one.scrollLeft, one.scrollTop]") == [150, 120]
        box = picture.bounding_box()
        for right, down in ((1, 1), (box["width"] / 2, 1), (1, 200)):
            over = "([x, y]) => document.elementFromPoint(x, y)?.getAttribute('class')"
            assert page.evaluate(over, [box["x"] + right, box["y"] + down]) in ("paper", "ground")


BROWSER = next(Path("/usr/lib").glob("*/webkit2gtk-4*/MiniBrowser"), None)
WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
PORT, DISPLAY = 4723 + WORKER, 120 + WORKER
WIDTHS = (450, 768, 1280, 1920)
"""Its window is never narrower than the first."""


class Window:
    """A window of WebKit, by its own driver; what is evaluated is given as to Playwright."""

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

    def goto(self, address: str) -> None:
        self.ask("POST", "/url", {"url": address})


@pytest.fixture(scope="module")
def window() -> Iterator[Window]:
    driver, xvfb = shutil.which("WebKitWebDriver"), shutil.which("xvfb-run")
    if not (BROWSER and driver and xvfb):
        pytest.skip("there is no WebKit (Debian's packages webkit2gtk-driver and xvfb)")
    environment = {**os.environ, "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1"}  # of a container, as root
    command = [xvfb, "-n", f"{DISPLAY}", "-s", "-screen 0 2000x1200x24", driver, f"--port={PORT}"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, env=environment, start_new_session=True, **quiet)

    def answers() -> bool:
        try:
            return bool(urllib.request.urlopen(f"http://127.0.0.1:{PORT}/status").status == 200)
        except OSError:
            return False

    try:
        wait_for(answers)
        opened = Window()
        yield opened
        opened.ask("DELETE", "")
    finally:
        os.killpg(process.pid, 15)
        process.wait()


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("places", SCRIPTS, indirect=True)
def test_nothing_sticks_out_in_webkit(window: Window, places: Places, name: str) -> None:
    language, address = places[0], places[1][name]
    for width in (WIDTHS[0], WIDTHS[1 + [*SCRIPTS].index(language) % 3]):
        window.ask("POST", "/window/rect", {"width": width, "height": 800})
        for _ in assert_all_fits(window, address, views(name, language)):
            assert window.evaluate("innerWidth") == width
