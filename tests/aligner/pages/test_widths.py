"""Reports, terms and notebooks on all screens, light and dark, in six scripts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import run, write
from shapes import ENGLISH, ON_SCREENS, SCRIPTS, assert_begins_well, assert_fits, screen, write_texts

pytestmark = pytest.mark.slow

Visit = Callable[..., Any]


@pytest.fixture(scope="module")
def pages(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A language, and the folder of a report of two systems with gold, and of a page of terms."""
    folder, language = tmp_path_factory.mktemp("widths"), request.param
    one, other = write_texts(folder, language)
    lengths = [(len(a.split()), len(b.split())) for a, b in zip(ENGLISH, SCRIPTS[language], strict=True)]
    diagonal = [[(j, j * K // J) for j in range(J)] for J, K in lengths]
    gold = write(folder / "gold", *(" ".join(f"{j}{'?-'[j % 3 > 0]}{k}" for j, k in links) for links in diagonal))
    systems = [
        write(
            folder / f"system{n}",
            *(" ".join(f"{j}-{max(0, k - (j % n == 1))}:0.{5 + n}" for j, k in of) for of in diagonal),
        )
        for n in (2, 3)
    ]
    run("report", one, other, *systems, "--gold", gold, "-o", folder / "report.html")
    often = write_texts(folder, language, times=3)
    found = write(folder / "links", *[" ".join(f"{j}-{k}" for j, k in of) for of in diagonal] * 3)
    run("terms", *often, found, "--least", "1", "-o", folder / "terms.html", "-q")
    return language, folder


@pytest.mark.parametrize(("pages", "width", "scheme"), ON_SCREENS, indirect=["pages"])
def test_reports_fit(visit: Visit, pages: tuple[str, Path], width: int, scheme: str) -> None:
    language, folder = pages
    page = visit(folder / "report.html", "#pair=2", **screen(width, scheme))
    leftwards = language in ("he", "ar")
    assert_begins_well(page)
    for number in (2, 3):
        for show in ("1", "all"):
            page.evaluate(f"location.hash = '#pair={number}&view=lines&show={show}'")
            page.wait_for_selector(f"#title:text-is('Pair {number}')")
            assert_fits(page)
        drawing = page.locator(".drawing")
        across = drawing.get_attribute("data-layout") == "across"
        assert page.locator("#sentences").is_visible() != across, "the sentences are read in either place"
        assert not (across and leftwards), "no curves cross for the directions alone"
        if not across:
            middle = [
                page.locator(f".side.{side} text").evaluate_all(
                    "all => all.map(one => one.getBoundingClientRect()).map(({ left, right }) => [left, right])"
                )
                for side in ("source", "target")
            ]
            gap = min(left for left, _ in middle[1]) - max(right for _, right in middle[0])
            assert gap > 60, "curves have room"
        page.evaluate(f"location.hash = '#pair={number}&view=matrix&show=1'")
        page.wait_for_selector("[data-layout=matrix]")
        assert_fits(page)
        row = page.locator(".source text").first.bounding_box()
        picture = page.locator(".picture").bounding_box()
        assert row["x"] + row["width"] < picture["x"] + 0.6 * picture["width"], "cells are in sight"


@pytest.mark.parametrize(("pages", "width", "scheme"), ON_SCREENS, indirect=["pages"])
def test_words_and_plots_and_terms_fit(visit: Visit, pages: tuple[str, Path], width: int, scheme: str) -> None:
    _, folder = pages
    page = visit(folder / "report.html", "#tab=words", **screen(width, scheme))
    page.locator("button.words").first.click()
    page.locator(".occurrences li").first.wait_for()
    assert_fits(page)
    page.locator("#tab-plots").click()
    page.locator(".chart").first.wait_for()
    assert_fits(page)
    page = visit(folder / "terms.html", **screen(width, scheme))
    assert_begins_well(page)
    assert_fits(page)
    page.locator("details.term > summary").first.click()
    page.locator("details.term[open] p").first.wait_for()
    assert_fits(page)


@pytest.mark.parametrize("pages", SCRIPTS, indirect=True)
def test_heads_of_a_scrolled_matrix_hide_what_is_behind_them(visit: Visit, pages: tuple[str, Path]) -> None:
    """Nothing of the rows is seen above the columns' words, nor of the columns beside the rows'."""
    _, folder = pages
    page = visit(folder / "report.html", "#pair=2&view=matrix", **screen(360, "light"))
    picture = page.locator(".picture")
    picture.evaluate("one => { one.scrollLeft = 150; one.scrollTop = 120 }")
    page.wait_for_timeout(100)
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    assert picture.evaluate("one => [one.scrollLeft, one.scrollTop]") == [150, 120]
    for x, y in [
        (box["x"] + 1, box["y"] + 1),
        (box["x"] + box["width"] / 2, box["y"] + 1),
        (box["x"] + 1, box["y"] + 200),
    ]:
        over = "([x, y]) => document.elementFromPoint(x, y)?.getAttribute('class')"
        assert page.evaluate(over, [x, y]) in ("paper", "ground")
