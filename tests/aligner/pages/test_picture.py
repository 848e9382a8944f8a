"""The picture of one pair, as it is seen in a browser: words, curves, cells, marks, in any script and of any length."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import aligner
from aligner.model.decoding import Alignment
from aligner.pages.notebook import Drawing
from corpora.links import PairLinks

pytestmark = pytest.mark.slow

Visit, Report = Callable[..., Any], Callable[..., Path]

MARKUP = ["<script>alert(1)</script>", "&amp;", '"x"', "'y'", "a\0b", "</script><img", "src=x", "onerror=alert(1)>"]

KINDS = ("a b c d e", "v w x y z", "0-0 1?1 3-3 4?4", "0-0 1-1 2-2")
"""A pair with a right, an allowed, a wrong, a missed and an open link."""


def words(page: Any, side: str) -> list[str]:
    """As they are read, without the numbers of those that occur several times."""
    texts = page.locator(f".side.{side} text")
    return texts.evaluate_all("all => all.map(text => text.firstChild.textContent)")  # type: ignore[no-any-return]


def boxes(page: Any, what: str) -> list[dict[str, float]]:
    return page.locator(what).evaluate_all("all => all.map(one => one.getBoundingClientRect().toJSON())")  # type: ignore[no-any-return]


def middle(box: dict[str, float]) -> tuple[float, float]:
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def apart(found: list[dict[str, float]]) -> bool:
    """Whether neighbours do not overlap."""
    return all(
        a["x"] + a["width"] <= b["x"] + 0.5 or b["x"] + b["width"] <= a["x"] + 0.5 or abs(a["y"] - b["y"]) > 18
        for a, b in itertools.pairwise(found)
    )


def links(page: Any) -> dict[str, str]:
    found = page.locator(".edge").evaluate_all("all => all.map(one => [one.dataset.link, one.dataset.kind])")
    return dict(found)


def test_curves_lead_from_word_to_word(visit: Visit, report: Report) -> None:
    page = visit(
        report(("the old man saw the red house", "le vieil homme a vu la maison rouge", None, "0-0 1-1 3-4 5-7 6-6"))
    )
    assert words(page, "source") == "the old man saw the red house".split()
    assert words(page, "target") == "le vieil homme a vu la maison rouge".split()
    above, below = boxes(page, ".source text"), boxes(page, ".target text")
    for row in (above, below):
        assert len({round(box["y"]) for box in row}) == 1
        assert [box["x"] for box in row] == sorted(box["x"] for box in row)
        assert apart(row)
    assert above[0]["y"] + above[0]["height"] < below[0]["y"]
    assert page.locator(".source .number").all_text_contents() == [" 1", " 2"], "the two of the"
    assert links(page) == dict.fromkeys(["0-0", "1-1", "3-4", "5-7", "6-6"], "link")
    for place in links(page):
        source, target = map(int, place.split("-"))
        curve = boxes(page, f'[data-link="{place}"] .line')[0]
        ends = sorted((middle(above[source])[0], middle(below[target])[0]))
        assert curve["x"] == pytest.approx(ends[0], abs=8)
        assert curve["x"] + curve["width"] == pytest.approx(ends[1], abs=8)
        assert above[0]["y"] + above[0]["height"] - 8 < curve["y"] + 4
        assert curve["y"] + curve["height"] < below[0]["y"] + 8


def test_hovering_and_focusing_light_links_both_ways(visit: Visit, report: Report) -> None:
    page = visit(report(("a b c", "x y z", None, "0-0:0.5 1-0:0.875 2-2")))
    for side, index, lit, said in (
        ("target", 0, ["0-0", "1-0"], "x – a (link, 50 %), b (link, 88 %)"),
        ("source", 1, ["1-0"], "b – x (link, 88 %)"),
        ("target", 1, [], "y – no link"),
    ):
        word = page.locator(f'[data-side={side}][data-index="{index}"]')
        for act in (word.hover, word.focus):
            page.mouse.move(0, 0)
            act()
            assert page.locator(".edge.lit").evaluate_all("all => all.map(one => one.dataset.link)") == lit
            assert page.locator(".said").inner_text() == said
            assert page.locator(".word.lit").count() == 1 + len(lit)
            page.wait_for_timeout(200)  # it fades
            faded = page.locator(".edge:not(.lit)").evaluate_all("all => all.map(one => getComputedStyle(one).opacity)")
            assert all(float(opacity) < 0.2 for opacity in faded)
        assert word.get_attribute("aria-label") == said
        word.blur()
    page.mouse.move(0, 0)
    assert page.locator(".lit").count() == 0


def test_a_matrix_has_links_in_rows_and_columns_of_their_words(visit: Visit, report: Report) -> None:
    page = visit(report(KINDS))
    page.keyboard.press("m")
    rows, columns = boxes(page, ".source text"), boxes(page, ".target text")
    marks = dict(zip(links(page), boxes(page, ".edge .mark"), strict=True))
    assert marks.keys() == {"0-0", "1-1", "2-2", "3-3", "4-4"}
    for place, mark in marks.items():
        source, target = map(int, place.split("-"))
        assert middle(mark)[1] == pytest.approx(middle(rows[source])[1], abs=5)
        assert middle(mark)[0] == pytest.approx(middle(columns[target])[0], abs=8)
    page.mouse.move(*middle(marks["2-2"]))
    assert page.locator(".said").inner_text() == "c – x: wrong"
    page.keyboard.press("m")
    assert page.locator(".drawing").get_attribute("data-layout") == "across"


@pytest.mark.parametrize("view", ["lines", "matrix"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_kinds_differ_in_colour_and_in_shape(visit: Visit, report: Report, view: str, scheme: str) -> None:
    page = visit(report(KINDS), f"#view={view}", color_scheme=scheme)
    expected = ["right", "allowed", "wrong", "missed", "open"]
    assert [*links(page).values()] == expected
    part = ".edge .line" if view == "lines" else ".edge .mark"
    looks = page.locator(part).evaluate_all(
        """all => all.map(one => {
            const { stroke, strokeDasharray, strokeWidth } = getComputedStyle(one);
            return [stroke, `${one.matches(".line") ? "" : one.getAttribute("d")} ${strokeDasharray} ${strokeWidth}`];
        })"""
    )
    colours, shapes = zip(*looks, strict=True)
    assert len({*colours}) == len({*shapes}) == 5
    legend = page.locator(".card .legend li").all_inner_texts()
    assert legend == [
        "right",
        "right, possible in gold",
        "wrong",
        "missed, sure in gold",
        "possible in gold, not found",
    ]
    page.locator("#drawing summary").click()
    page.locator("#drawing tbody").wait_for()
    table = [row.split("\t") for row in page.locator("#drawing tbody tr").all_inner_texts()]
    assert [(row[0], row[1], row[2]) for row in table][2:4] == [
        ("3 c", "3 x", "wrong"),
        ("4 d", "4 y", "missed, sure in gold"),
    ]


def test_several_systems_and_their_difference(visit: Visit, report: Report) -> None:
    page = visit(
        report(("a b c d", "w x y z", "0-0 1-1 3-3", "0-0 1-1 2-2", "0-0 2-3 3-3", "0-0 2-2", "")), "#show=all"
    )
    assert links(page) == {"0-0": "right", "1-1": "right", "2-2": "wrong", "2-3": "wrong", "3-3": "right"}
    assert not page.locator("#threshold").is_visible(), "there are no probabilities"
    dots = page.locator('[data-link="0-0"] .small').evaluate_all("all => all.map(one => !one.matches('.absent'))")
    assert dots == [True, True, True, False]
    shapes = {
        tuple(
            page.locator(f'[data-link="{place}"] .small:not(.absent)').evaluate_all(
                "all => all.map(one => one.getAttribute('d')).slice(0, 1)"
            )
        )
        for place in ("0-0", "2-2")
    }
    assert len(shapes) == 2, "right and wrong ones differ in shape, too"
    assert "system1, system2, system3, system4" in page.locator(".legend").inner_text()
    page.keyboard.press("2")
    assert links(page) == {"0-0": "right", "1-1": "missed", "2-3": "wrong", "3-3": "right"}
    page.keyboard.press("d")
    expected = {"0-0": "right", "1-1": "first", "2-2": "firstWrong", "2-3": "secondWrong", "3-3": "second"}
    assert links(page) == expected
    assert "only in system2, wrong" in page.locator(".legend").inner_text()
    page.locator("#second").select_option(label="system3")
    assert links(page) == {"0-0": "right", "1-1": "first", "2-2": "wrong", "3-3": "missed"}
    page.locator('[data-link="1-1"] .mark').wait_for()
    shapes = page.locator(".edge .mark").evaluate_all("all => all.map(one => one.getAttribute('d'))")
    assert len({*shapes}) == len(shapes)


def test_opacity_is_probability(visit: Visit, report: Report) -> None:
    page = visit(report(("a b c", "x y z", None, "0-0:0.1 1-1:0.6 2-2:1.0")))
    opacities = page.locator(".line").evaluate_all("all => all.map(one => Number(getComputedStyle(one).strokeOpacity))")
    assert opacities[0] < opacities[1] < opacities[2] == 1


def test_arrows_move_along_sides_and_links(visit: Visit, report: Report) -> None:
    page = visit(report(("a b c", "x y z", None, "0-2 2-1")))
    page.keyboard.press("w")

    def here() -> str:
        return page.evaluate("document.activeElement.getAttribute('aria-label')")[0]  # type: ignore[no-any-return]

    visited = [here()]
    for key in ("ArrowDown", "ArrowLeft", "ArrowUp", "Home", "End", "ArrowRight"):
        page.keyboard.press(key)
        visited.append(here())
    assert visited == ["a", "z", "y", "c", "a", "c", "c"]
    ground = page.locator(".word:focus .ground")
    assert ground.evaluate("one => parseFloat(getComputedStyle(one).strokeWidth)") >= 2, "focus is seen"
    page.keyboard.press("Enter")
    assert page.locator("[name=source-word]").input_value() == "c"
    assert page.locator(".occurrences li").count() == 1


def test_text_like_markup_is_text(visit: Visit, report: Report) -> None:
    page = visit(report((" ".join(MARKUP), "<b>gras</b> &lt; <!-- --> ${x} {{ y }}", "0-0", "0-0 5-3")))
    shown = [word.replace("\0", "␀") for word in MARKUP]
    for view in ("lines", "matrix"):
        page.locator(f"#{view}").click()
        assert words(page, "source") == shown
        assert words(page, "target") == "<b>gras</b> &lt; <!-- --> ${x} {{ y }}".split()
    assert page.locator(".row bdi").first.inner_text() == " ".join(shown)
    assert page.locator("img, b:has-text('gras')").count() == 0
    page.keyboard.press("w")
    page.keyboard.press("Enter")
    assert page.locator("[name=source-word]").input_value() == MARKUP[0]
    assert page.locator("mark").first.inner_text() == MARKUP[0]
    assert page.title() == "t.x – t.y"


RUSSIAN = ("Дети читают новые книги в школе .", "Children read new books at school .")
ARABIC = ("ذهب الولد إلى المدرسة صباحا .", "The boy went to school in the morning .")
HEBREW = ("הילד הלך אל הבית הגדול אל אמא .", "The boy went to the big house to mother .")
CHINESE = ("我们 在 家 吃 饭 。", "We eat at home .")
EMOJI = ("I ♥ 👩‍👩‍👧 and 🇫🇷 !", "J' aime 👩‍👩‍👧 et 🇫🇷 !")


def test_scripts_run_in_their_own_direction(visit: Visit, report: Report) -> None:
    texts = (RUSSIAN, ARABIC, HEBREW, CHINESE, EMOJI, (ARABIC[0], HEBREW[0]))
    page = visit(report(*((*pair, "0-0", "0-0 1-1 2-3") for pair in texts)))
    for number, (source, target) in enumerate(texts, 1):
        page.evaluate(f"location.hash = '#pair={number}'")
        page.wait_for_selector(f"#title:text-is('Pair {number}')")
        assert words(page, "source") == source.split()
        assert words(page, "target") == target.split()
        above, below = boxes(page, ".source text"), boxes(page, ".target text")
        leftwards, opposite = number in (2, 3, 6), number in (2, 3)
        for side in (above, below):  # against each other the lines run down the page, so that no curves cross
            places = [box["y" if opposite else "x"] for box in side]
            assert places == sorted(places, reverse=number == 6)
        assert apart(above)
        row = page.locator(f"#pair-{number} bdi").first
        assert row.evaluate("one => getComputedStyle(one).direction") == ("rtl" if leftwards else "ltr")
        picture = boxes(page, ".drawing")[0]
        assert all(picture["x"] <= box["x"] <= picture["x"] + picture["width"] - box["width"] for box in above + below)
    page.keyboard.press("w")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.dataset.index") == "1", "leftwards is onwards"
    page.evaluate("location.hash = '#pair=3'")
    page.wait_for_selector("#title:text-is('Pair 3')")
    assert page.locator(".source .number").all_text_contents() == [" 1", " 2"]


def test_long_sentences_are_legible(visit: Visit, report: Report) -> None:
    rng = random.Random(1)
    source, target = (
        [f"{side}{rng.randrange(10**6)}" for _ in range(size)] for side, size in (("word", 200), ("mot", 180))
    )
    one = " ".join(f"{j}-{min(179, max(0, j * 180 // 200 + rng.randrange(-3, 4)))}" for j in range(200))
    two = " ".join(f"{j}-{j}" for j in range(0, 2000, 2))
    page = visit(
        report(
            (" ".join(source), " ".join(target), one, one),
            (" ".join(f"w{j % 700}" for j in range(2000)), " ".join(f"v{j}" for j in range(2000)), two, two),
        ),
        "#pair=1",
    )
    for number, sizes in ((1, (200, 180)), (2, (2000, 2000))):
        page.evaluate(f"location.hash = '#pair={number}&view=lines'")
        page.wait_for_selector(f"#title:text-is('Pair {number}')")
        assert page.locator(".drawing").get_attribute("data-layout") == "down"
        for side, size in zip(("source", "target"), sizes, strict=True):
            found = boxes(page, f".{side} text")
            assert len(found) == size
            assert all(b["y"] - a["y"] >= 18 for a, b in itertools.pairwise(found)), "no line touches another"
            assert min(box["height"] for box in found) >= 14
    page.keyboard.press("m")
    page.locator(".picture").evaluate("one => { one.scrollLeft = one.scrollTop = 26000 }")
    page.wait_for_timeout(100)
    window = boxes(page, ".picture")[0]
    shown = page.locator(".target text").evaluate_all(
        """(all, window) => all.map(one => one.getBoundingClientRect())
        .filter(({ x, y }) => x > window.x && x < window.right && y >= window.y && y < window.bottom).length""",
        window,
    )
    assert shown > 20, "the words of columns stay in sight"
    assert window["x"] <= boxes(page, ".source text")[1000]["x"] <= window["x"] + 60


def test_empty_pairs(visit: Visit, report: Report) -> None:
    page = visit(report(("", "", "", ""), ("a", "", "", ""), ("", "b c", "", "")))
    assert page.locator(".nothing").inner_text() == "An empty pair."
    for number, view in itertools.product((2, 3), ("lines", "matrix")):
        page.evaluate(f"location.hash = '#pair={number}&view={view}'")
        page.wait_for_selector(f"#title:text-is('Pair {number}')")
        assert words(page, "source" if number == 2 else "target") == (["a"] if number == 2 else ["b", "c"])


def test_notebooks_show_the_same_drawings(visit: Visit, tmp_path: Path) -> None:
    alignment = Alignment(((0, 0), (1, 2)), (0.5, 0.9))
    drawing = Drawing("a red house".split(), "une maison rouge".split(), alignment, PairLinks(frozenset({(0, 0)})))
    evaluation = aligner.evaluate([[(0, 0)], [(1, 1)]], [[(0, 0)], [(0, 1)]])
    (tmp_path / "cells.html").write_text(
        "".join(cell._repr_html_() for cell in (alignment, drawing, evaluation)), "utf-8"
    )
    page = visit(tmp_path / "cells.html")
    frames = [page.frame_locator("iframe").nth(n) for n in range(3)]
    assert frames[0].locator(".source text").all_text_contents() == ["0", "1"]
    assert frames[0].locator(".drawing[data-layout=matrix] .edge").count() == 2
    assert frames[1].locator(".target text").all_text_contents() == "une maison rouge".split()
    assert frames[1].locator(".wrong.mark").count() == 2, "in the picture and in its legend"
    assert frames[2].locator("tbody td").nth(1).inner_text().startswith("50.00 [")
    assert frames[2].locator("figure .point").count() == len(evaluation.by_length)
    assert (
        json.loads(page.evaluate("JSON.stringify(Object.keys(window).filter(name => /draw|judge|svg/i.test(name)))"))
        == []
    )
