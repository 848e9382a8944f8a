"""Texts to annotate, desks for them, and their pages."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from annotating import Site

from aligner.model.model import Model, load
from aligner.pages.annotate.desk import Desk, read_text
from corpora.readers import open_texts


@pytest.fixture
def texts(tmp_path: Path, sample: Path) -> Path:
    """The prefix of the sample's test pairs, in a folder of their own."""
    for suffix in ("en", "fr"):
        shutil.copy(sample / f"test.{suffix}", tmp_path)
    return tmp_path / "test"


@pytest.fixture(scope="session")
def loaded(model: Path) -> Model:
    return load(model)


@pytest.fixture
def desk(texts: Path, loaded: Model) -> Iterator[Callable[..., Desk]]:
    """Open the desk of an annotator of `texts`, whose gold is beside them."""
    opened = []

    def make(**settings: Any) -> Desk:
        corpus = open_texts(f"{texts}.en", f"{texts}.fr")
        text = read_text(corpus, loaded)
        opened.append(Desk(text, loaded, str(texts.parent / "gold"), **{"order": "given", **settings}))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


@pytest.fixture
def site(desk: Callable[..., Desk]) -> Iterator[Callable[..., Site]]:
    """Serve the page of a desk."""
    sites = []

    def make(**settings: Any) -> Site:
        sites.append(Site(desk(**settings)))
        return sites[-1]

    yield make
    for one in sites:
        one.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open a page; in the end nothing must have gone wrong there, and nothing been asked of another server."""
    contexts, problems = [], []

    def open_page(site: Site, **settings: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1300, "height": 900}, **settings})
        contexts.append(context)
        context.set_default_timeout(10_000)
        page = context.new_page()
        expected = "409 (Conflict)", "422 (Unprocessable", "507 (", "ERR_FAILED"
        page.on("console", lambda m: None if any(e in m.text for e in expected) else problems.append(m.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda r: None if r.url.startswith(site.address) else problems.append(r.url))
        page.goto(site.address)
        page.wait_for_selector("body[data-ready=yes][data-busy=no]")  # the first pair is there and has the focus
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not problems
