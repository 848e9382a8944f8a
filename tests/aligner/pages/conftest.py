"""Reports to open in a browser: of the sample with two made-up systems, and of pairs written in a test."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import run, write
from reports import Systems, made_up, visits, write_links


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open a file as a page."""
    with visits(browser) as open_page:
        ready = "body[data-ready=yes], body:has(iframe)"
        yield lambda path, fragment="", **settings: open_page(path.as_uri(), fragment, ready, **settings)


@pytest.fixture(scope="session")
def systems(sample: Path) -> Systems:
    """Two made-up systems for the test pairs of the sample."""
    texts = [(sample / f"test.{side}").read_text("utf-8").splitlines() for side in ("en", "fr")]
    lengths = [(len(a.split()), len(b.split())) for a, b in zip(*texts, strict=True)]
    gold = [
        {(int(j), int(k)) for j, k in (link.split("-") for link in line.split() if "-" in link)}
        for line in (sample / "test.wa").read_text().splitlines()
    ]
    return {name: made_up(gold, lengths, seed) for seed, name in enumerate(("one", "two"))}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory, sample: Path, systems: Systems) -> Path:
    """A folder with test.en, test.fr, test.wa, the links one and two, and their report."""
    folder = tmp_path_factory.mktemp("report")
    for suffix in ("en", "fr", "wa"):
        shutil.copy(sample / f"test.{suffix}", folder)
    for name, pairs in systems.items():
        write_links(folder / name, pairs)
    run(
        "report",
        folder / "test.en",
        folder / "test.fr",
        folder / "one",
        folder / "two",
        "--gold",
        folder / "test.wa",
        "-o",
        folder / "test.html",
    )
    return folder


@pytest.fixture
def report(tmp_path: Path) -> Callable[..., Path]:
    """Write the report of pairs given as (source, target, gold or None, links of each system …)."""

    def make(*pairs: tuple[str | None, ...]) -> Path:
        texts = [
            write(tmp_path / f"t.{side}", *column) for side, column in zip("xy", zip(*pairs, strict=True), strict=False)
        ]
        _, _, gold, *others = zip(*pairs, strict=True)
        files = [write(tmp_path / f"system{n}", *column) for n, column in enumerate(others, 1)]
        judged = ["--gold", write(tmp_path / "gold", *gold)] if gold[0] is not None else []
        run("report", *texts, *files, *judged, "-o", tmp_path / "t.html", "--force")
        return tmp_path / "t.html"

    return make
