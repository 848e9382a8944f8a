"""The page of a report, as it is used in a browser: figures, list, filters, words, plots, keys, copies, print."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import run
from reports import Systems, write_links

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
    return [row.split("\t") for row in page.locator("#figures tr").all_inner_texts()]


def figures_of_evaluate(gold: Path, *files: Path, intervals: bool = False) -> list[list[str]]:
    rows = []
    for found in json.loads(run("evaluate", gold, *files, "--format", "json").stdout):
        ends = {m: " [{:.2f}, {:.2f}]".format(*found["intervals"][m]) if intervals else "" for m in METRICS}
        rows.append([found["name"], str(found["links"]), *(f"{found[metric]:.2f}{ends[metric]}" for metric in METRICS)])
    return rows


def test_figures_are_those_of_evaluate_at_every_threshold(
    visit: Visit, folder: Path, systems: Systems, tmp_path: Path
) -> None:
    page, gold = visit(folder / "test.html"), folder / "test.wa"
    slider, chosen = page.locator("#threshold"), page.locator("#chosen")
    default = figures_of_evaluate(gold, folder / "one", folder / "two", intervals=True)
    assert shown_figures(page) == default
    assert page.locator("footer code").first.inner_text().startswith("gold:test.wa,pharaoh")
    before = chosen.inner_text()
    for least in (0.01, 0.5, 0.93):
        slider.fill(str(least))
        files = [write_links(tmp_path / name, pairs, least) for name, pairs in systems.items()]
        assert shown_figures(page) == figures_of_evaluate(gold, *files)
    assert page.locator("#threshold-value").inner_text() == "0.93: links that are as probable, or more"
    assert chosen.inner_text() != before
    edges = page.locator(".edge:not([data-kind=missed], [data-kind=open])")
    number = int(page.locator("#title").inner_text().split()[1]) - 1
    assert {*edges.evaluate_all("all => all.map(one => one.dataset.link)")} == {
        f"{j}-{k}" for (j, k), p in systems["one"][number].items() if p >= 0.93
    }
    slider.fill("0")
    assert shown_figures(page) == default


def listed(page: Any) -> list[int]:
    return [int(row) for row in page.locator(".row .number").all_inner_texts()]


def test_orders_and_filters(visit: Visit, folder: Path, systems: Systems) -> None:
    page = visit(folder / "test.html")
    one, two = systems.values()
    counts = count(read_links(folder / "test.wa"), Links.from_sets(one))
    rates, mistakes = scores(counts).aer, counts[:, 0] - counts[:, 4] + counts[:, 1] - counts[:, 3]
    means = np.array([np.mean([*pair.values()] or [0.0]) for pair in one])
    differ = np.array([len(a.keys() ^ b.keys()) for a, b in zip(one, two, strict=True)])
    texts, targets = (
        [line.split() for line in (folder / f"test.{side}").read_text("utf-8").splitlines()] for side in ("en", "fr")
    )
    lengths = np.array([*map(len, texts)])
    supports = [support(len(a), len(b), pair) for a, b, pair in zip(texts, targets, one, strict=True)]
    worst = int(np.argmax(rates)) + 1
    assert page.locator("#title").inner_text() == f"Pair {worst}"
    assert [page.locator(f".side.{side}").get_attribute("lang") for side in ("source", "target")] == ["en", "fr"]
    assert page.locator(".badge").first.inner_text() == f"{100 * rates[worst - 1]:.0f}"
    aer = 100 * scores(counts.sum(axis=0)).aer
    assert page.locator("#chosen").inner_text() == f"64 of 64 pairs, AER of one {aer:.2f} %"
    for order, keys in {
        "error": -rates,
        "suspect": np.array(supports, np.float32),
        "unsure": means,
        "errors": -mistakes,
        "differ": -differ,
        "longest": -lengths,
    }.items():
        if order != "error":
            page.locator("#order").select_option(order)
        assert listed(page) == (np.argsort(keys, kind="stable") + 1)[: len(listed(page))].tolist(), order
    page.locator("summary", has_text="Filters").click()
    both = [" ".join([*a, *b]) for a, b in zip(texts, targets, strict=True)]
    for control, value, expected in (
        ("[name=least-length]", "10", lengths >= 10),
        ("[name=most-length]", "12", lengths <= 12),
        ("[name=least-error]", "20", rates >= 0.2),
        ("[name=most-confidence]", "60", means <= 0.6),
        ("#errors", "wrong", counts[:, 0] > counts[:, 4]),
        ("#errors", "missed", counts[:, 1] > counts[:, 3]),
        ("#errors", "none", mistakes == 0),
        ("#errors", "differ", differ > 0),
        ("#errors", "no links", [not pair for pair in one]),
        ("[name=word]", "the", ["the" in line.split() for line in both]),
        ("#search", "HOUSE", ["house" in line.lower() for line in both]),
        ("#search", "nothing like this", [False]),
    ):
        place = page.locator(control)
        place.select_option(value) if control == "#errors" else place.fill(value)
        assert int(page.locator("#chosen").inner_text().split()[0]) == np.sum(expected), (control, value)
        if value == "nothing like this":
            assert page.locator("#title").inner_text() == "No pair"
        page.locator("button[type=reset]").click()
        if control == "#search":
            place.fill("")
        page.locator("#chosen", has_text="64 of 64").wait_for()


def test_the_list_makes_only_what_is_in_sight(visit: Visit, report: Report) -> None:
    page = visit(report(*((f"a{n} b", f"x{n} y", "0-0", "0-0:0.5" if n % 3 else "1-1:0.5") for n in range(5000))))
    assert page.locator("#chosen").inner_text().startswith("5,000 of 5,000")
    page.locator("#list").focus()
    page.keyboard.press("End")
    assert page.locator("#title").inner_text() == "Pair 5000"
    current = page.locator(".row[aria-selected=true]")
    assert current.get_attribute("aria-posinset") == current.get_attribute("aria-setsize") == "5000"
    assert page.locator("#list").get_attribute("aria-activedescendant") == current.get_attribute("id")
    box, window = current.bounding_box(), page.locator("#list").bounding_box()
    assert window["y"] - 1 <= box["y"] <= window["y"] + window["height"] + 1 - box["height"]
    assert page.locator(".row").count() < 40


def test_concordance_and_frequent_errors(visit: Visit, folder: Path, systems: Systems) -> None:
    page = visit(folder / "test.html", "#tab=words")
    sides = [[line.split() for line in (folder / f"test.{s}").read_text("utf-8").splitlines()] for s in ("en", "fr")]
    kinds: dict[str, Counter[str]] = {name: Counter() for name in ("right", "allowed", "wrong", "missed", "open")}
    for source, target, gold, found in zip(*sides, read_links(folder / "test.wa"), systems["one"], strict=True):
        for j, k in gold.sure | gold.possible | found.keys():
            of_gold = 0 if (j, k) in gold.sure else 1 if (j, k) in gold.possible else 2
            kind = ("right", "allowed", "wrong")[of_gold] if (j, k) in found else ("missed", "open")[of_gold]
            kinds[kind][f"{source[j]} – {target[k]}"] += 1
    for kind in ("wrong", "missed"):
        table = page.locator("table", has=page.locator(f"caption:text-is('Most often {kind} in one')"))
        rows = [row.split("\t") for row in table.locator("tbody tr").all_inner_texts()]
        assert [int(times) for _, times in rows] == [times for _, times in kinds[kind].most_common(50)]
        assert all(kinds[kind][pair] == int(times) for pair, times in rows)
    table.locator("button").first.click()
    words = rows[0][0]
    assert page.locator("[name=source-word]").input_value() == words.split(" – ")[0]
    occurrences = page.locator(".occurrences li")
    expected = {kind: counted[words] for kind, counted in kinds.items() if counted[words]}
    assert Counter(occurrences.evaluate_all("all => all.map(one => one.dataset.kind)")) == expected
    assert f"{expected['missed']} missed, sure in gold" in page.locator(".counts").inner_text()
    assert " – ".join(occurrences.first.locator("mark").all_inner_texts()) == words
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
    rows = [row.split("\t") for row in figure.locator("tbody tr").all_inner_texts()]
    return rows, figure.locator(".chart .point, .chart .bar").count()


def test_plots(visit: Visit, folder: Path, systems: Systems, tmp_path: Path) -> None:
    page = visit(folder / "test.html", "#tab=plots")
    table, points = chart(page, "AER by sentence length")
    judge = ["evaluate", folder / "test.wa", folder / "one", folder / "two", "--text", folder / "test"]
    evaluations = json.loads(run(*judge, "--format", "json").stdout)
    rows = [(found["name"], row["aer"], row["links"]) for found in evaluations for row in found["by_length"]]
    assert [(name, float(aer), int(links)) for name, _, aer, links in table] == [
        (name, pytest.approx(aer, rel=1e-3), links) for name, aer, links in rows
    ]
    assert points == len(rows)
    for title in ("AER by word frequency", "AER by distance from the diagonal"):
        table, points = chart(page, title)
        for name, pairs in systems.items():
            assert sum(int(row[3]) for row in table if row[0] == name) == sum(map(len, pairs))
        assert points == sum(row[2] != "–" for row in table)
    both = zip(read_links(folder / "test.wa"), systems["one"], strict=True)
    judged = [(p, link in gold.sure | gold.possible) for gold, pair in both for link, p in pair.items()]
    table, _ = chart(page, "Reliability")
    for tenth, (_, mean, share, links) in enumerate(table[:10]):  # of the first system
        inside = [one for one in judged if int(10 * one[0]) == tenth]
        assert int(links) == len(inside)
        assert [float(mean), float(share)] == pytest.approx(np.mean(inside, axis=0), rel=1e-3)
    table, _ = chart(page, "Probabilities of one")
    right = sum(right for _, right in judged)
    assert [sum(int(row[n]) for row in table) for n in (1, 2)] == [right, len(judged) - right]
    trace = [{"passes": n, "primal": 1 + 0.5**n, "dual": 1 - 0.5**n} for n in range(6)]
    pairs = read_pairs(str(folder / "test.en"), str(folder / "test.fr"), [str(folder / "one")])
    (tmp_path / "m.html").write_text(write_page(pairs, model=("M", {"trace": trace})), "utf-8")
    table, points = chart(visit(tmp_path / "m.html", "#tab=plots"), "Learning: the solver")
    assert points == len(table) == 12
    assert [float(row[2]) for row in table[:6]] == pytest.approx([point["primal"] for point in trace], rel=1e-3)


def test_keys_tabs_and_permalinks(visit: Visit, folder: Path) -> None:
    page = visit(folder / "test.html", "#pair=7&view=matrix&show=2")
    title, pressed = page.locator("#title"), page.locator("[aria-pressed=true]")
    assert title.inner_text() == "Pair 7"
    assert pressed.all_inner_texts() == ["Matrix", "two"]
    for key, name in (("1", "one"), ("a", "All"), ("d", "Difference")):
        page.keyboard.press(key)
        assert pressed.all_inner_texts() == ["Matrix", name]
    page.keyboard.press("m")
    page.keyboard.press("j")
    fragment, other = page.evaluate("location.hash"), title.inner_text()
    page.keyboard.press("k")
    assert title.inner_text() == "Pair 7" != other
    page = visit(folder / "test.html", fragment)
    assert page.locator("#title").inner_text() == other
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
    while len(seen) < 40:
        page.keyboard.press("Tab")
        focused = page.locator(":focus")
        if not focused.count():
            break
        assert focused.evaluate(OUTLINED), focused.evaluate("one => one.outerHTML")
        seen.append(focused.evaluate("one => one.id || one.dataset.copy || one.getAttribute('role')"))
    assert seen[:3] == ["keys", "search", "order"]
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
    assert all(rf"\strut {word}}}" in latex for word in (r"a\_1", r"b\%", r"y\&"))
    assert latex.count(r"\draw") == 4, "with the missed one"
    for view in ("lines", "matrix"):
        page.locator(f"#{view}").click()
        parts = list(ET.fromstring(copied("svg")).iter())
        assert [one.text for one in parts if one.tag.endswith("}text")] == ["a_1", "b%", "<c>", "x", "y&", "z"]
        assert len({one.get("stroke") for one in parts if one.tag.endswith("}path")}) >= 4, "with its colours"
        assert not [one for one in parts if one.get("class") or one.get("tabindex")]


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


def test_without_gold(visit: Visit, report: Report) -> None:
    page = visit(report(("a b", "x y", None, "0-0:0.9 1-1:0.8", "0-0"), ("c", "z", None, "0-0:0.3", "0-0")))
    assert "AER" not in page.locator("body").inner_text()
    assert page.locator("#title").inner_text() == "Pair 2", "the worst translation first"
    orders = page.locator("#order option").evaluate_all("all => all.map(one => one.value)")
    assert orders == ["suspect", "unsure", "differ", "given", "longest"]
    assert not page.locator("[name=least-error], [data-copy=gold]").first.is_visible()
    page.locator("#tab-plots").click()
    assert page.locator("h3").all_inner_texts() == ["Probabilities of system1"]
    page.locator("#tab-words").click()
    page.locator("[name=source-word]").fill("a")
    page.keyboard.press("Enter")
    assert page.locator(".counts").inner_text() == "1 pair with the word; links: 1 link"
