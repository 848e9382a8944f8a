"""Texts to annotate, sessions for them, and their pages."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from annotating import Site
from reports import visits

from aligner.model.model import Model, load
from aligner.pages.annotate.annotation import read_text
from aligner.pages.annotate.session import Session
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
def session(texts: Path, loaded: Model) -> Iterator[Callable[..., Session]]:
    """Open the session of an annotator of `texts`, whose gold is beside them."""
    opened = []

    def make(**settings: Any) -> Session:
        corpus = open_texts(f"{texts}.en", f"{texts}.fr")
        text = read_text(corpus, loaded)
        opened.append(Session(text, loaded, str(texts.parent / "gold"), **{"order": "given", **settings}))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


@pytest.fixture
def site(session: Callable[..., Session]) -> Iterator[Callable[..., Site]]:
    """Serve the page of a session."""
    sites = []

    def make(**settings: Any) -> Site:
        sites.append(Site(session(**settings)))
        return sites[-1]

    yield make
    for one in sites:
        one.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open the page of a site, and wait until its first pair is there and has the focus."""
    with visits(browser, expected=("409 (Conflict)", "422 (Unprocessable", "507 (")) as open_page:
        ready = "body[data-ready=yes][data-busy=no]"
        yield lambda site, **settings: open_page(site.address, ready=ready, **settings)
