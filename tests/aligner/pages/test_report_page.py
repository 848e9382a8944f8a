"""The page of a report, as it is used in a browser: figures, list, filters, words, plots, keys, copies, print."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import run
from reports import Systems, assert_accessible, load_axe, write_links

from aligner.evaluation.counts import count, scores
from aligner.pages.report import read_pairs, write_page
from corpora.link_files import read_links
from corpora.links import Links
from corpora.suspects import support

pytestmark = pytest.mark.slow

Visit, Report = Callable[..., Any], Callable[..., Path]

OUTLINED = """one => [one, one.querySelector(".ground")].filter(Boolean).map(part => getComputedStyle(part)).some(
    style => style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2
    || style.stroke !== "none" && parseFloat(style.strokeWidth) >= 2)"""
"""Whether what is focused is seen to be."""

METRICS = ("aer", "precision", "recall", "f1")


def shown_figures(page: Any) -> list[list[str]]:
    """Name, links, and each metric with its interval, of each system."""
    return [re.split(r"\t", row) for row in page.locator("#figures tr").all_inner_texts()]


def figures_of_evaluate(gold: Path, *files: Path, intervals: bool = True) -> list[list[str]]:
    rows = []
    for found in json.loads(run("evaluate", gold, *files, "--format", "json").stdout):
        ends = {m: "[{:.2f}, {:.2f}]".format(*found["intervals"][m]) if intervals else "" for m in METRICS}
        cells = [f"{found[metric]:.2f} {ends[metric]}".rstrip() for metric in METRICS]
        rows.append([found["name"], str(found["links"]), *cells])
    return rows


def slide(page: Any, value: float) -> None:
    page.locator("#threshold").fill(str(value))


def test_figures_are_those_of_evaluate_at_every_threshold(
    visit: Visit, folder: Path, systems: Systems, tmp_path: Path
) -> None:
    page = visit(folder / "test.html")
    default = figures_of_evaluate(folder / "test.wa", folder / "one", folder / "two")
    assert shown_figures(page) == default
    signatures = page.locator("footer code").all_inner_texts()
    assert signatures
    assert all(signature.startswith("gold:test.wa,pharaoh") for signature in signatures)
    slide(page, 0.01)
    assert page.locator("#threshold-value").inner_text() == "0.01: links that are as probable, or more"
    one, two = (folder / name for name in systems)
    assert shown_figures(page) == figures_of_evaluate(folder / "test.wa", one, two, intervals=False)
    before = page.locator("#chosen").inner_text()
    for least in (0.5, 0.93):
        slide(page, least)
        files = [write_links(tmp_path / name, pairs, least) for name, pairs in systems.items()]
        assert shown_figures(page) == figures_of_evaluate(folder / "test.wa", *files, intervals=False)
    assert page.locator("#chosen").inner_text() != before
    places = page.locator(".edge:not([data-kind=missed], [data-kind=open])").evaluate_all(
        "all => all.map(one => one.dataset.link)"
    )
    number = int(page.locator("#title").inner_text().split()[1]) - 1
    assert {*places} == {f"{j}-{k}" for (j, k), p in systems["one"][number].items() if p >= 0.93}
    slide(page, 0)
    assert shown_figures(page) == default


def listed(page: Any) -> list[int]:
    return [int(row) for row in page.locator(".row .number").all_inner_texts()]


def test_orders_and_filters(visit: Visit, folder: Path, systems: Systems) -> None:
    page = visit(folder / "test.html")
    gold = read_links(folder / "test.wa")
    counts = count(gold, Links.from_sets(systems["one"]))
    rates = scores(counts).aer
    worst = np.argsort(-rates, kind="stable") + 1
    assert listed(page) == worst[: len(listed(page))].tolist()
    assert page.locator("#title").inner_text() == f"Pair {worst[0]}"
    assert [page.locator(f".side.{side}").get_attribute("lang") for side in ("source", "target")] == ["en", "fr"]
    badge = page.locator(".badge").first
    assert badge.inner_text() == f"{100 * rates[worst[0] - 1]:.0f}"
    assert (
        page.locator("#chosen").inner_text()
        == f"64 of 64 pairs, AER of one {100 * scores(counts.sum(axis=0)).aer:.2f} %"
    )
    means = np.array([np.mean([*pair.values()] or [0.0]) for pair in systems["one"]])
    mistakes = counts[:, 0] - counts[:, 4] + counts[:, 1] - counts[:, 3]
    differ = np.array([len(a.keys() ^ b.keys()) for a, b in zip(*systems.values(), strict=True)])
    texts = [line.split() for line in (folder / "test.en").read_text("utf-8").splitlines()]
    lengths = np.array([*map(len, texts)])
    supports = [
        support(len(a), len(b.split()), pair)
        for a, b, pair in zip(texts, (folder / "test.fr").read_text("utf-8").splitlines(), systems["one"], strict=True)
    ]
    suspect = np.array(supports, np.float32)
    for order, keys in (
        ("suspect", suspect),
        ("unsure", means),
        ("errors", -mistakes),
        ("differ", -differ),
        ("longest", -lengths),
    ):
        page.locator("#order").select_option(order)
        assert listed(page) == (np.argsort(keys, kind="stable") + 1)[: len(listed(page))].tolist(), order
    page.locator("#order").select_option("given")
    page.locator("summary", has_text="Filters").click()

    def left() -> int:
        return int(page.locator("#chosen").inner_text().split()[0])

    def passes(control: str, value: str, expected: Any) -> None:
        place = page.locator(control)
        place.select_option(value) if control == "#errors" else place.fill(value)
        assert left() == int(np.sum(expected)), (control, value)

    passes("[name=least-length]", "10", lengths >= 10)
    passes("[name=most-length]", "12", (lengths >= 10) & (lengths <= 12))
    page.locator("button[type=reset]").click()
    page.locator("#chosen", has_text="64 of 64").wait_for()
    passes("[name=least-error]", "20", rates >= 0.2)
    page.locator("button[type=reset]").click()
    passes("[name=most-confidence]", "60", means <= 0.6)
    page.locator("button[type=reset]").click()
    passes("#errors", "wrong", counts[:, 0] > counts[:, 4])
    passes("#errors", "missed", counts[:, 1] > counts[:, 3])
    passes("#errors", "none", mistakes == 0)
    passes("#errors", "differ", differ > 0)
    passes("#errors", "no links", [not pair for pair in systems["one"]])
    page.locator("button[type=reset]").click()
    targets = (folder / "test.fr").read_text("utf-8").splitlines()
    words = [{*a, *b.split()} for a, b in zip(texts, targets, strict=True)]
    passes("[name=word]", "the", ["the" in both for both in words])
    page.locator("button[type=reset]").click()
    lines = (folder / "test.en").read_text("utf-8").lower().splitlines()
    passes("#search", "HOUSE", ["house" in a or "house" in b.lower() for a, b in zip(lines, targets, strict=True)])
    assert "house" in page.locator(".row bdi").first.inner_text().lower()
    passes("#search", "nothing like this", [])
    assert page.locator("#title").inner_text() == "No pair"


def test_the_list_makes_only_what_is_in_sight(visit: Visit, report: Report) -> None:
    page = visit(report(*((f"a{n} b", f"x{n} y", "0-0", "0-0:0.5" if n % 3 else "1-1:0.5") for n in range(5000))))
    assert page.locator("#chosen").inner_text().startswith("5,000 of 5,000")
    assert page.locator(".row").count() < 40
    page.locator("#list").focus()
    page.keyboard.press("End")
    assert page.locator("#title").inner_text() == "Pair 5000"
    current = page.locator(".row[aria-selected=true]")
    assert current.get_attribute("aria-posinset") == current.get_attribute("aria-setsize") == "5000"
    assert page.locator("#list").get_attribute("aria-activedescendant") == current.get_attribute("id")
    box, window = current.bounding_box(), page.locator("#list").bounding_box()
    assert window["y"] - 1 <= box["y"]
    assert box["y"] + box["height"] <= window["y"] + window["height"] + 1
    assert page.locator(".row").count() < 40


def test_concordance_and_frequent_errors(visit: Visit, folder: Path, systems: Systems) -> None:
    page = visit(folder / "test.html", "#tab=words")
    gold = read_links(folder / "test.wa")
    sides = [[line.split() for line in (folder / f"test.{s}").read_text("utf-8").splitlines()] for s in ("en", "fr")]
    wrong: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for source, target, truth, found in zip(*sides, gold, systems["one"], strict=True):
        wrong.update(f"{source[j]} – {target[k]}" for j, k in found.keys() - truth.sure - truth.possible)
        missed.update(f"{source[j]} – {target[k]}" for j, k in truth.sure - found.keys())
    for caption, counted in (("Most often wrong in one", wrong), ("Most often missed in one", missed)):
        table = page.locator("table", has=page.locator(f"caption:text-is('{caption}')"))
        rows = [row.split("\t") for row in table.locator("tbody tr").all_inner_texts()]
        assert [int(times) for _, times in rows] == [times for _, times in counted.most_common(50)]
        assert all(counted[pair] == int(times) for pair, times in rows)
    table.locator("button").first.click()
    source, target = rows[0][0].split(" – ")
    assert page.locator("[name=source-word]").input_value() == source
    expected: Counter[str] = Counter()
    for one, other, truth, found in zip(*sides, gold, systems["one"], strict=True):
        for j, k in truth.sure | truth.possible | found.keys():
            if (one[j], other[k]) == (source, target):
                kinds = ("right", "missed") if (j, k) in truth.sure else ("allowed", "open")
                expected[
                    ("wrong" if (j, k) not in truth.possible | truth.sure else kinds[0])
                    if (j, k) in found
                    else kinds[1]
                ] += 1
    occurrences = page.locator(".occurrences li")
    assert Counter(occurrences.evaluate_all("all => all.map(one => one.dataset.kind)")) == expected
    told = page.locator(".counts").inner_text()
    assert f"{expected['missed']} missed, sure in gold" in told
    marked = [mark.split() for mark in occurrences.first.locator("mark").all_inner_texts()]
    assert marked == [[source], [target]]
    page.locator("#words-system").select_option(label="two")
    page.locator("caption", has_text="Most often wrong in two").wait_for()
    number = occurrences.first.locator("a").inner_text()
    occurrences.first.locator("a").click()
    assert page.locator("#title").inner_text() == f"Pair {number}"


def chart(page: Any, title: str) -> tuple[list[list[str]], int]:
    """The table behind a chart, and how many points and bars it has."""
    figure = page.locator("figure", has=page.locator(f"h3:text-is('{title}')"))
    figure.locator("summary").click()
    figure.locator("tbody").wait_for()
    return [row.split("\t") for row in figure.locator("tbody tr").all_inner_texts()], figure.locator(
        ".chart .point, .chart .bar"
    ).count()


def test_plots(visit: Visit, folder: Path, systems: Systems, tmp_path: Path) -> None:
    page = visit(folder / "test.html", "#tab=plots")
    table, points = chart(page, "AER by sentence length")
    judge = ["evaluate", folder / "test.wa", folder / "one", folder / "two", "--text", folder / "test"]
    evaluations = json.loads(run(*judge, "--format", "json").stdout)
    rows = [(found["name"], row["aer"], row["links"]) for found in evaluations for row in found["by_length"]]
    assert [(name, links) for name, _, _, links in table] == [(name, f"{links}") for name, _, links in rows]
    assert [float(aer) for _, _, aer, _ in table] == pytest.approx([aer for _, aer, _ in rows], rel=1e-3)
    assert points == len(rows)
    for title in ("AER by word frequency", "AER by distance from the diagonal"):
        table, points = chart(page, title)
        for name, pairs in systems.items():
            assert sum(int(row[3]) for row in table if row[0] == name) == sum(map(len, pairs))
        assert points == sum(row[2] != "–" for row in table)
    gold, found = read_links(folder / "test.wa"), systems["one"]
    judged = [
        (p, link in truth.sure | truth.possible)
        for truth, pair in zip(gold, found, strict=True)
        for link, p in pair.items()
    ]
    table, _ = chart(page, "Reliability")
    for (_, mean, share, links), tenth in zip(table, range(10), strict=False):
        inside = [(p, right) for p, right in judged if int(10 * p) == tenth]
        assert int(links) == len(inside)
        assert [float(mean), float(share)] == pytest.approx(np.mean(inside, axis=0), rel=1e-3)
    table, _ = chart(page, "Probabilities of one")
    assert [sum(int(row[n]) for row in table) for n in (1, 2)] == [
        sum(r for _, r in judged),
        sum(not r for _, r in judged),
    ]
    trace = [{"passes": n, "primal": 1 + 0.5**n, "dual": 1 - 0.5**n} for n in range(6)]
    pairs = read_pairs(str(folder / "test.en"), str(folder / "test.fr"), [str(folder / "one")])
    (tmp_path / "m.html").write_text(write_page(pairs, model=("M", {"trace": trace})), "utf-8")
    page = visit(tmp_path / "m.html", "#tab=plots")
    table, points = chart(page, "Learning: the solver")
    assert points == len(table) == 12
    assert [float(row[2]) for row in table[:6]] == pytest.approx([point["primal"] for point in trace], rel=1e-3)


def test_keys_tabs_and_permalinks(visit: Visit, folder: Path) -> None:
    page = visit(folder / "test.html", "#pair=7&view=matrix&show=2")
    assert page.locator("#title").inner_text() == "Pair 7"
    assert page.locator("[aria-pressed=true]").all_inner_texts() == ["Matrix", "two"]
    for key, pressed in (("1", "one"), ("a", "All"), ("d", "Difference")):
        page.keyboard.press(key)
        assert page.locator("#shown [aria-pressed=true]").inner_text() == pressed
    page.keyboard.press("m")
    page.keyboard.press("j")
    fragment = page.evaluate("location.hash")
    title = page.locator("#title").inner_text()
    assert title != "Pair 7"
    page.keyboard.press("k")
    assert page.locator("#title").inner_text() == "Pair 7"
    page = visit(folder / "test.html", fragment)
    assert page.locator("#title").inner_text() == title
    assert page.locator("[aria-pressed=true]").all_inner_texts() == ["Lines", "Difference"]
    page.keyboard.press("/")
    page.keyboard.type("jam")
    assert page.locator("#search").input_value() == "jam", "keys in a field are text"
    page.locator("#search").fill("")
    page.locator("#tab-pairs").focus()
    page.keyboard.press("?")
    assert page.locator("dialog").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("dialog").is_visible()
    for tab in ("words", "plots", "pairs"):
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.id") == f"tab-{tab}"
        assert page.locator("[role=tabpanel]:visible").get_attribute("id") == f"panel-{tab}"
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        focused = page.locator(":focus")
        if not focused.count():
            break
        assert focused.evaluate(OUTLINED), focused.evaluate("one => one.outerHTML")
        seen.append(focused.evaluate("one => one.id || one.dataset.copy || one.getAttribute('role')"))
    assert [*dict.fromkeys(seen)][:4] == ["keys", "search", "order", seen[3]]
    assert {"list", "lines", "matrix", "button", "svg", "pharaoh", "latex", "link"} <= {*seen}


def test_copies(visit: Visit, report: Report) -> None:
    path = report(("a_1 b% <c>", "x y& z", "0-0 1?1 2-2", "0-0:0.5 1-1 2-1"))
    page = visit(path, "#pair=1", permissions=["clipboard-read", "clipboard-write"])

    def copied(what: str) -> str:
        page.locator("#copied").evaluate("one => one.replaceChildren()")
        page.locator(f"[data-copy={what}]").click()
        page.locator("#copied", has_text="Copied").wait_for()
        return page.evaluate("navigator.clipboard.readText()")  # type: ignore[no-any-return]

    assert copied("pharaoh") == "0-0 1-1 2-1\n"
    assert copied("gold") == "0-0 1?1 2-2\n"
    assert copied("link") == f"{path.as_uri()}#pair=1&view=lines"
    latex = copied("latex")
    assert r"\strut a\_1}" in latex
    assert r"\strut b\%}" in latex
    assert r"\strut y\&}" in latex
    assert latex.count(r"\draw") == 4, "with the missed one"
    for view in ("lines", "matrix"):
        page.locator(f"#{view}").click()
        picture = ET.fromstring(copied("svg"))
        texts = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
        assert texts == ["a_1", "b%", "<c>", "x", "y&", "z"]
        strokes = {path.get("stroke") for path in picture.iter("{http://www.w3.org/2000/svg}path")}
        assert len(strokes) >= 4, "with its colours"
        assert not [one for one in picture.iter() if one.get("class") or one.get("tabindex")]


def test_prints_and_is_dark_where_that_is_wanted(visit: Visit, folder: Path) -> None:
    page = visit(folder / "test.html", color_scheme="dark")
    colour = "getComputedStyle(one).backgroundColor"
    lightness = f"one => {colour}.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0)"
    assert page.locator("body").evaluate(lightness) < 200
    page.emulate_media(media="print")
    assert page.locator("body").evaluate(lightness) > 700
    for control in ("#list", "#threshold", ".views", "[data-copy=svg]", "#shown"):
        assert not page.locator(control).is_visible()
    for shown in (".drawing", "#figures", "#title", ".legend", "footer"):
        assert page.locator(shown).first.is_visible()
    assert len(page.pdf()) > 10_000
    page = visit(folder / "test.html", viewport={"width": 420, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 420, "on a telephone nothing sticks out"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(visit: Visit, folder: Path, scheme: str) -> None:
    page = visit(folder / "test.html", color_scheme=scheme)
    load_axe(page)
    for fragment in ("#tab=pairs", "#tab=pairs&view=matrix&show=difference", "#tab=words", "#tab=plots"):
        page.evaluate(f"location.hash = {fragment!r}")
        page.wait_for_timeout(100)
        assert_accessible(page)


def test_without_gold(visit: Visit, report: Report) -> None:
    page = visit(report(("a b", "x y", None, "0-0:0.9 1-1:0.8", "0-0"), ("c", "z", None, "0-0:0.3", "0-0")))
    assert "AER" not in page.locator("body").inner_text()
    assert page.locator("#title").inner_text() == "Pair 2", "the worst translation first"
    assert page.locator("#order option").all_inner_texts() == [
        "worst translations first",
        "least confident first",
        "most different first",
        "as given",
        "longest first",
    ]
    assert not page.locator("[name=least-error], [data-copy=gold]").first.is_visible()
    page.locator("#tab-plots").click()
    assert page.locator("h3").all_inner_texts() == ["Probabilities of system1"]
    page.locator("#tab-words").click()
    page.locator("[name=source-word]").fill("a")
    page.keyboard.press("Enter")
    assert page.locator(".counts").inner_text() == "1 pair with the word; links: 1 link"
