"""The page of a service, as it is used in a browser."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from reports import unavailable

pytestmark = pytest.mark.slow

Client, Pairs, Visit = Any, list[dict[str, Any]], Callable[..., Any]


@pytest.fixture
def visit(browser: Any, client: Client) -> Iterator[Visit]:
    """Open the page; in the end nothing must have gone wrong there, and nothing been asked of another server."""
    contexts, problems = [], []
    address = f"http://127.0.0.1:{client.port}/"

    def open_page(fragment: str = "", **settings: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1100, "height": 800}, **settings})
        contexts.append(context)
        context.set_default_timeout(10_000)
        page = context.new_page()
        page.on("console", lambda m: None if "422 (Unprocessable" in m.text else problems.append(m.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append(f"dialog: {dialog.message}"))
        page.on("request", lambda r: None if r.url.startswith(address) else problems.append(r.url))
        page.goto(f"{address}{fragment}")
        page.wait_for_selector("body[data-ready=yes]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not problems


def try_out(page: Any, source: str, target: str) -> str:
    """Type two sentences, with the keyboard alone; what is said of them."""
    for side, text in (("source", source), ("target", target)):
        page.locator(f"[name={side}]").fill(text)
    page.locator("[name=target]").press("Enter")
    page.locator("#said:not(:empty)").filter(has_not_text="…").wait_for()
    return str(page.locator("#said").inner_text())


def words(page: Any) -> list[str]:
    return [str(word).partition(" –")[0] for word in page.locator(".word").evaluate_all(
        "those => those.map(word => word.getAttribute('aria-label'))")]  # fmt: skip


def test_a_sentence_is_drawn_with_its_links(visit: Visit, pairs: Pairs, expected: Pairs) -> None:
    page, pair, found = visit(), pairs[3], expected[3]
    assert not page.locator("#answer").is_visible()
    said = try_out(page, pair["source"], pair["target"])
    assert said == f"{len(found['links'])} links, mean score {found['score']:.2f}"
    assert page.locator("[name=source]").get_attribute("lang") == "en"
    assert page.locator(".line").count() > 0
    page.locator("#answer summary").last.click()
    assert json.loads(page.locator("#json").inner_text()) == found
    assert json.loads(page.locator("#asked").inner_text()) == pair
    page.locator("[data-view=matrix]").click()
    assert page.locator("[data-view=matrix]").get_attribute("aria-pressed") == "true"
    rows = page.locator("#drawing .behind")
    rows.locator("summary").click()
    rows.locator("tbody tr").first.wait_for()
    assert rows.locator("tbody tr").count() == len(found["links"])
    again = visit(page.evaluate("location.hash"))
    again.locator("#said:has-text('links')").wait_for()
    assert again.locator("[name=target]").input_value() == pair["target"]
    assert words(again) == words(page)


def test_text_like_markup_is_text(visit: Visit) -> None:
    page = visit()
    page.evaluate("window.hurt = false")
    source, target = "<script>hurt=true</script> &amp; \"'", "<img src=x onerror=hurt=true> </script>"
    try_out(page, source, target)
    assert {"<script>hurt=true</script>", "&amp;", "\"'", "<img", "</script>"} <= {*words(page)}
    again = visit(page.evaluate("location.hash"))
    again.locator("#said:has-text('link')").wait_for()
    assert not page.evaluate("window.hurt")
    assert not again.evaluate("Boolean(window.hurt)")


def test_what_is_refused_is_told(visit: Visit) -> None:
    page = visit()
    try_out(page, "yes", "oui")
    assert "more than 60 words" in try_out(page, "a " * 61, "b")
    assert not page.locator("#answer").is_visible()
    assert "link" in try_out(page, "yes", "oui")
    assert try_out(page, "", "") == "0 links"
    assert page.locator("#drawing").inner_text().startswith("An empty pair.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(visit: Visit, pairs: Pairs, scheme: str) -> None:
    axe = Path(os.environ.get("ALIGNER_AXE", ""))
    if not axe.is_file():
        unavailable("ALIGNER_AXE names no axe.min.js (axe-core from npm)")
    page = visit(color_scheme=scheme)
    page.evaluate(axe.read_text("utf-8"))
    for sentences in (None, pairs[3]):
        if sentences:
            try_out(page, **sentences)
            for summary in page.locator("summary").all():
                summary.click()
        found = page.evaluate("axe.run().then(({ violations }) => violations)")
        assert [problem for problem in found if problem["impact"] in ("serious", "critical")] == []


def test_on_a_telephone_nothing_sticks_out(visit: Visit, pairs: Pairs) -> None:
    page = visit(viewport={"width": 380, "height": 800})
    try_out(page, **pairs[3])
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
