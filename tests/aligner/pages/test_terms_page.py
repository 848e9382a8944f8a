"""The page of terms in a browser: a list to search and sort, sentences with the term marked, in any script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from commands import run, write

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


def test_what_a_text_says_is_never_markup(visit: Any, tmp_path: Path) -> None:
    lines = ["<img src=x onerror=document.title='bad'>ab </script> שלום"] * 6
    write(tmp_path / "t.en", *lines)
    write(tmp_path / "t.he", *lines)
    links = write(tmp_path / "L", *["0-0 1-1 2-2 3-3 4-4"] * 6)
    run("terms", tmp_path / "t.en", tmp_path / "t.he", links, "-o", tmp_path / "t.html", "-q")
    shown = visit(tmp_path / "t.html")
    assert "bad" not in shown.title()
    assert shown.locator("img").count() == 0
