"""The page of a service, as it is used in a browser."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from reports import visits

pytestmark = pytest.mark.slow

Client, Pairs, Visit = Any, list[dict[str, Any]], Callable[..., Any]


@pytest.fixture
def visit(browser: Any, client: Client) -> Iterator[Visit]:
    with visits(browser, expected=("422 (Unprocessable",)) as open_page:
        yield partial(open_page, f"http://127.0.0.1:{client.port}/")


def try_out(page: Any, source: str, target: str) -> str:
    """Type two sentences, with the keyboard alone; what is said of them."""
    for side, text in (("source", source), ("target", target)):
        page.locator(f"[name={side}]").fill(text)
    page.locator("[name=target]").press("Enter")
    page.locator("#said:not(:empty)").filter(has_not_text="…").wait_for()
    return str(page.locator("#said").inner_text())


def words(page: Any) -> list[str]:
    return [
        str(word).partition(" –")[0]
        for word in page.locator(".word").evaluate_all("those => those.map(word => word.getAttribute('aria-label'))")
    ]


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


def test_a_word_with_its_full_stop_is_told(visit: Visit) -> None:
    said = try_out(visit(), "a house.", "une maison .")
    assert said.endswith("“house.” is one word: put a space before its last sign")
