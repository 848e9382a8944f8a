"""What tests of reports share: the browser that they need, and made-up systems."""

from __future__ import annotations

import os
import random
import runpy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from commands import write

_SCRIPT = runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "browser.py"))
CHROMIUM, open_browser = _SCRIPT["CHROMIUM"], _SCRIPT["open_browser"]

Systems = dict[str, list[dict[tuple[int, int], float]]]


def unavailable(what: str) -> None:
    """Skip for want of a browser, or fail where there has to be one."""
    if os.environ.get("ALIGNER_BROWSER") == "required":
        pytest.fail(f"{what}, and ALIGNER_BROWSER says that it must be")
    pytest.skip(f"{what} (Debian's package chromium, and playwright from PyPI)")


@contextmanager
def visits(browser: Any, expected: Sequence[str] = ()) -> Iterator[Callable[..., Any]]:
    """What opens a page; in the end nothing must have gone wrong there, and nothing been asked of another place.

    expected: words of messages that are no problem.
    """
    contexts, problems = [], []

    def open_page(address: str, fragment: str = "", ready: str = "body[data-ready=yes]", **settings: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1400, "height": 950}, **settings})
        contexts.append(context)
        context.set_default_timeout(10_000)
        page = context.new_page()
        page.on("console", lambda m: None if any(words in m.text for words in expected) else problems.append(m.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append(f"dialog: {dialog.message}"))
        page.on("request", lambda r: None if r.url.startswith(address) else problems.append(r.url))
        page.goto(f"{address}{fragment}")
        page.wait_for_selector(ready)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not problems


def load_axe(page: Any) -> None:
    axe = Path(os.environ.get("ALIGNER_AXE", ""))
    if not axe.is_file():
        unavailable("ALIGNER_AXE names no axe.min.js (axe-core from npm)")
    page.evaluate(axe.read_text("utf-8"))


def assert_accessible(page: Any) -> None:
    """With all that is folded unfolded, axe finds nothing serious."""
    for summary in page.locator("summary:visible").all():
        summary.click()
    found = page.evaluate("axe.run().then(({ violations }) => violations)")
    assert [problem for problem in found if problem["impact"] in ("serious", "critical")] == []


def made_up(gold: list[set[tuple[int, int]]], lengths: list[tuple[int, int]], seed: int) -> list[dict[Any, float]]:
    """Links with mistakes: most of gold, and some others, the less probable."""
    rng, pairs = random.Random(seed), []
    for links, (J, K) in zip(gold, lengths, strict=True):
        found = {link: round(rng.uniform(0.4, 0.9999), 4) for link in sorted(links) if rng.random() < 0.93}
        for _ in range(rng.randrange(3)):
            found.setdefault((rng.randrange(J), rng.randrange(K)), round(rng.uniform(0.05, 0.8), 4))
        pairs.append(dict(sorted(found.items())))
    return pairs


def write_links(path: Path, pairs: list[dict[tuple[int, int], float]], least: float = 0.0) -> Path:
    """Those of a probability of at least so much."""
    lines = [[f"{j}-{k}:{p}" for (j, k), p in pair.items() if p >= least] for pair in pairs]
    return write(path, *map(" ".join, lines))
