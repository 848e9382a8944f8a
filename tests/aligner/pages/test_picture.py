"""The picture of one pair, as it is seen in a browser: words, curves, cells, marks, in any script and of any length."""

from __future__ import annotations

import itertools
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


def shown_pair(page: Any, number: int, more: str = "") -> None:
    page.evaluate(f"location.hash = '#pair={number}{more}'")
    page.wait_for_selector(f"#title:text-is('Pair {number}')")


def test_curves_lead_from_word_to_word(visit: Visit, report: Report) -> None:
    """The more probable, the more opaque."""
    source, target = "the old man saw the red house", "le vieil homme a vu la maison rouge"
    page = visit(report((source, target, None, "0-0:0.1 1-1:0.6 3-4:1 5-7 6-6")))
    assert [words(page, "source"), words(page, "target")] == [source.split(), target.split()]
    above, below = boxes(page, ".source text"), boxes(page, ".target text")
    for row in (above, below):
        assert len({round(box["y"]) for box in row}) == 1
        assert [box["x"] for box in row] == sorted(box["x"] for box in row)
        assert apart(row)
    assert page.locator(".source .number").all_text_contents() == [" 1", " 2"], "the two of the"
    top, bottom = above[0]["y"] + above[0]["height"], below[0]["y"]
    assert links(page) == dict.fromkeys(["0-0", "1-1", "3-4", "5-7", "6-6"], "link")
    for place in links(page):
        j, k = map(int, place.split("-"))
        curve = boxes(page, f'[data-link="{place}"] .line')[0]
        ends = sorted((middle(above[j])[0], middle(below[k])[0]))
        assert [curve["x"], curve["x"] + curve["width"]] == pytest.approx(ends, abs=8)
        assert top - 12 < curve["y"] < curve["y"] + curve["height"] < bottom + 8
    opacities = page.locator(".line").evaluate_all("all => all.map(one => Number(getComputedStyle(one).strokeOpacity))")
    assert opacities[0] < opacities[1] < opacities[2] == 1


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


@pytest.mark.parametrize("view", ["lines", "matrix"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_kinds_differ_in_colour_and_in_shape(visit: Visit, report: Report, view: str, scheme: str) -> None:
    """And are in the rows and columns of their words in a matrix."""
    page = visit(report(KINDS), color_scheme=scheme)
    assert page.locator(".drawing").get_attribute("data-layout") == "across"
    if view == "matrix":
        page.keyboard.press("m")
        rows, columns = boxes(page, ".source text"), boxes(page, ".target text")
        marks = boxes(page, ".edge .mark")
        for n, mark in enumerate(marks):
            assert middle(mark) == pytest.approx((middle(columns[n])[0], middle(rows[n])[1]), abs=8)
        page.mouse.move(*middle(marks[2]))
        assert page.locator(".said").inner_text() == "c – x: wrong"
        page.mouse.move(0, 0)
    kinds = ["right", "allowed", "wrong", "missed", "open"]
    assert links(page) == {f"{n}-{n}": kind for n, kind in enumerate(kinds)}
    looks = page.locator(".edge .line" if view == "lines" else ".edge .mark").evaluate_all(
        """all => all.map(one => {
            const { stroke, strokeDasharray, strokeWidth } = getComputedStyle(one);
            return [stroke, `${one.matches(".line") ? "" : one.getAttribute("d")} ${strokeDasharray} ${strokeWidth}`];
        })"""
    )
    colours, shapes = zip(*looks, strict=True)
    assert len({*colours}) == len({*shapes}) == 5
    told = [
        "right", "right, possible in gold", "wrong", "missed, sure in gold", "possible in gold, not found",
    ]  # fmt: skip
    assert page.locator(".card .legend li").all_inner_texts() == told
    page.locator("#drawing summary").click()
    page.locator("#drawing tbody").wait_for()
    table = [row.split("\t")[:3] for row in page.locator("#drawing tbody tr").all_inner_texts()]
    assert table[2:4] == [["3 c", "3 x", told[2]], ["4 d", "4 y", told[3]]]


def test_several_systems_and_their_difference(visit: Visit, report: Report) -> None:
    of_systems = "0-0 1-1 2-2", "0-0 2-3 3-3", "0-0 2-2", ""
    page = visit(report(("a b c d", "w x y z", "0-0 1-1 3-3", *of_systems)), "#show=all")
    assert links(page) == {"0-0": "right", "1-1": "right", "2-2": "wrong", "2-3": "wrong", "3-3": "right"}
    assert not page.locator("#threshold").is_visible(), "there are no probabilities"
    dots = page.locator('[data-link="0-0"] .small').evaluate_all("all => all.map(one => !one.matches('.absent'))")
    assert dots == [True, True, True, False]
    shape = "one => one.getAttribute('d')"
    right, wrong = (page.locator(f'[data-link="{n}-{n}"] .small:not(.absent)').first.evaluate(shape) for n in (0, 2))
    assert right != wrong, "they differ in shape, too"
    assert "system1, system2, system3, system4" in page.locator(".legend").inner_text()
    page.keyboard.press("2")
    assert links(page) == {"0-0": "right", "1-1": "missed", "2-3": "wrong", "3-3": "right"}
    page.keyboard.press("d")
    expected = {"0-0": "right", "1-1": "first", "2-2": "firstWrong", "2-3": "secondWrong", "3-3": "second"}
    assert links(page) == expected
    assert "only in system2, wrong" in page.locator(".legend").inner_text()
    page.locator("#second").select_option(label="system3")
    assert links(page) == {"0-0": "right", "1-1": "first", "2-2": "wrong", "3-3": "missed"}


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
    markup = ["<script>alert(1)</script>", "&amp;", '"x"', "a\0b", "</script><img", "src=x", "onerror=alert(1)>"]
    page = visit(report((" ".join(markup), "<b>gras</b> &lt; <!-- --> ${x} {{ y }}", "0-0", "0-0 5-3")))
    shown = [word.replace("\0", "␀") for word in markup]
    for view in ("lines", "matrix"):
        page.locator(f"#{view}").click()
        assert words(page, "source") == shown
        assert words(page, "target") == "<b>gras</b> &lt; <!-- --> ${x} {{ y }}".split()
    assert page.locator(".row bdi").first.inner_text() == " ".join(shown)
    assert page.locator("img, b:has-text('gras')").count() == 0
    page.keyboard.press("w")
    page.keyboard.press("Enter")
    assert page.locator("[name=source-word]").input_value() == markup[0]
    assert page.locator("mark").first.inner_text() == markup[0]
    assert page.title() == "t.x – t.y"


RUSSIAN = ("Дети читают новые книги .", "Children read new books .")
ARABIC = ("ذهب الولد إلى المدرسة صباحا .", "The boy went to school in the morning .")
HEBREW = ("הילד הלך אל הבית הגדול אל אמא .", "The boy went to the big house to mother .")
CHINESE = ("我们 在 家 吃 饭 。", "We eat at home .")
EMOJI = ("I ♥ 👩‍👩‍👧 and 🇫🇷 !", "J' aime 👩‍👩‍👧 et 🇫🇷 !")


def test_scripts_run_in_their_own_direction(visit: Visit, report: Report) -> None:
    texts = (RUSSIAN, ARABIC, HEBREW, CHINESE, EMOJI, (ARABIC[0], HEBREW[0]))
    page = visit(report(*((*pair, "0-0", "0-0 1-1 2-3") for pair in texts)))
    for number, (source, target) in enumerate(texts, 1):
        shown_pair(page, number)
        assert [words(page, "source"), words(page, "target")] == [source.split(), target.split()]
        leftwards, opposite = number in (2, 3, 6), number in (2, 3)
        sides = boxes(page, ".source text"), boxes(page, ".target text")
        picture = boxes(page, ".drawing")[0]
        for side in sides:  # against each other the lines run down the page, so that no curves cross
            places = [box["y" if opposite else "x"] for box in side]
            assert places == sorted(places, reverse=number == 6)
            assert all(picture["x"] <= box["x"] <= picture["x"] + picture["width"] - box["width"] for box in side)
        assert apart(sides[0])
        row = page.locator(f"#pair-{number} bdi").first
        assert row.evaluate("one => getComputedStyle(one).direction") == ("rtl" if leftwards else "ltr")
    page.keyboard.press("w")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.dataset.index") == "1", "leftwards is onwards"


def test_long_sentences_are_legible(visit: Visit, report: Report) -> None:
    sizes = (200, 180), (2000, 2000)
    pairs = [
        (
            " ".join(f"word{n * j % 7919}" for j in range(J)),
            " ".join(f"mot{k}" for k in range(K)),
            *2 * [" ".join(f"{j}-{j * K // J}" for j in range(0, J, 2))],
        )
        for n, (J, K) in enumerate(sizes, 1)
    ]
    page = visit(report(*pairs))
    for number, size in enumerate(sizes, 1):
        shown_pair(page, number, "&view=lines")
        assert page.locator(".drawing").get_attribute("data-layout") == "down"
        for side, n_words in zip(("source", "target"), size, strict=True):
            found = boxes(page, f".{side} text")
            assert len(found) == n_words
            assert all(b["y"] - a["y"] >= 18 for a, b in itertools.pairwise(found)), "no line touches another"
            assert min(box["height"] for box in found) >= 14
    page.keyboard.press("m")
    page.locator(".picture").evaluate("one => { one.scrollLeft = one.scrollTop = 26000 }")
    page.wait_for_timeout(100)
    window = boxes(page, ".picture")[0]
    heads = [box for box in boxes(page, ".target text") if window["y"] <= box["y"] < window["bottom"]]
    assert sum(window["x"] < box["x"] < window["right"] for box in heads) > 20, "the words of columns stay in sight"
    assert window["x"] <= boxes(page, ".source text")[1000]["x"] <= window["x"] + 60


def test_empty_pairs(visit: Visit, report: Report) -> None:
    page = visit(report(("", "", "", ""), ("a", "", "", ""), ("", "b c", "", "")))
    assert page.locator(".nothing").inner_text() == "An empty pair."
    for view, (number, side, expected) in itertools.product(
        ("lines", "matrix"), ((2, "source", ["a"]), (3, "target", ["b", "c"]))
    ):
        shown_pair(page, number, f"&view={view}")
        assert words(page, side) == expected


def test_notebooks_show_the_same_drawings(visit: Visit, tmp_path: Path) -> None:
    alignment, gold = Alignment(((0, 0), (1, 2)), (0.5, 0.9)), PairLinks(frozenset({(0, 0)}))
    drawing = Drawing("a red house".split(), "une maison rouge".split(), alignment, gold)
    evaluation = aligner.evaluate([[(0, 0)], [(1, 1)]], [[(0, 0)], [(0, 1)]])
    cells = "".join(cell._repr_html_() for cell in (alignment, drawing, evaluation))
    (tmp_path / "cells.html").write_text(cells, "utf-8")
    page = visit(tmp_path / "cells.html")
    frames = [page.frame_locator("iframe").nth(n) for n in range(3)]
    assert frames[0].locator(".source text").all_text_contents() == ["0", "1"]
    assert frames[0].locator(".drawing[data-layout=matrix] .edge").count() == 2
    assert frames[1].locator(".target text").all_text_contents() == "une maison rouge".split()
    assert frames[1].locator(".wrong.mark").count() == 2, "in the picture and in its legend"
    assert frames[2].locator("tbody td").nth(1).inner_text().startswith("50.00 [")
    assert frames[2].locator("figure .point").count() == len(evaluation.by_length)
    names = "Object.keys(window).filter(name => /draw|judge|svg/i.test(name)).length"
    assert page.evaluate(names) == 0, "cells share nothing"
