"""The page of terms in a browser: a list to search and sort, sentences with the term marked, in any script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from commands import run, write
from reports import assert_accessible, load_axe

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, sample: Path) -> Path:
    file = tmp_path_factory.mktemp("terms") / "terms.html"
    run("terms", sample / "train.en", sample / "train.fr", "--least", "2", "-o", file, "-q")
    return file


def rows(page: Any) -> list[list[str]]:
    return [one.split("\n") for one in page.locator("details.term > summary").all_inner_texts()]


def test_search_order_and_sentences(visit: Any, page: Path) -> None:
    shown = visit(page)
    first = rows(shown)
    assert len(first) == 200
    shown.locator("#more").click()
    assert len(rows(shown)) > 200
    shown.locator("#order").select_option("by source")
    in_order = "names => names.every((name, n) => n === 0 || names[n - 1].localeCompare(name, 'en') <= 0)"
    assert shown.evaluate(in_order, [row[0] for row in rows(shown)])
    assert not shown.evaluate(in_order, [row[0] for row in first])
    shown.locator("#search").fill("maison")
    found = rows(shown)
    assert found
    assert shown.locator("#chosen").inner_text().split()[0] == f"{len(found)}"
    shown.locator("details.term > summary").first.click()
    marks = shown.locator("details.term[open] mark")
    marks.first.wait_for()
    assert marks.count() >= 2
    assert "maison" in " ".join(marks.all_inner_texts()).lower()
    assert shown.locator("details.term[open] p").nth(1).get_attribute("lang") == "fr"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_nothing_is_cut_and_axe_finds_nothing(visit: Any, page: Path, scheme: str) -> None:
    shown = visit(page, color_scheme=scheme, viewport={"width": 360, "height": 740})
    shown.locator("details.term > summary").first.click()
    shown.locator("mark").first.wait_for()
    assert shown.evaluate("document.documentElement.scrollWidth") <= 360
    load_axe(shown)
    shown.locator("#search").fill("maison")  # each that is listed is opened
    assert_accessible(shown)


def test_what_a_text_says_is_never_markup(visit: Any, tmp_path: Path) -> None:
    lines = ["<img src=x onerror=document.title='bad'>ab </script> שלום"] * 6
    write(tmp_path / "t.en", *lines)
    write(tmp_path / "t.he", *lines)
    links = write(tmp_path / "L", *["0-0 1-1 2-2 3-3 4-4"] * 6)
    run("terms", tmp_path / "t.en", tmp_path / "t.he", links, "-o", tmp_path / "t.html", "-q")
    shown = visit(tmp_path / "t.html")
    assert "bad" not in shown.title()
    assert shown.locator("img").count() == 0


def test_a_terminologist_begins_with_a_memory(visit: Any, sample: Path, tmp_path: Path) -> None:
    """From a translation memory to terms, to the sentences of one, to the pairs that are worst translated."""
    memory, terms, links, report = (tmp_path / name for name in ("m.tmx", "terms.html", "links", "report.html"))
    run("convert", sample / "train.wa", memory, "--text", sample / "train", "-q")
    run("terms", memory, "--least", "2", "-o", terms, "-q")
    shown = visit(terms)
    shown.locator("#search").fill("grandmother")
    summary = shown.locator("details.term > summary").first
    source, target = summary.inner_text().split("\n")[:2]
    assert (source, target) == ("grandmother", "grand-mère")
    summary.click()
    number = int(shown.locator("details.term[open] .number").first.inner_text().split()[-1].rstrip(":"))
    run("align", memory, "-o", links, "-q")
    run("report", memory, links, "-o", report, "-q")
    shown = visit(report, "#tab=words")
    shown.locator("[name=source-word]").fill(source)
    shown.locator("#panel-words form button").click()
    shown.locator(".occurrences li").first.wait_for()
    assert f"{number}" in shown.locator(".occurrences a").all_inner_texts()
    shown.locator(f".occurrences a:text-is('{number}')").click()
    shown.wait_for_selector(f"#title:text-is('Pair {number}')")
    assert shown.locator("#order").input_value() == "suspect"
    supports = [int(badge) for badge in shown.locator(".badge").all_inner_texts()[:5]]
    assert supports == sorted(supports)
