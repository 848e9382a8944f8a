"""The page to annotate on, as it is used in a browser: by keys alone, by mouse, in two windows, by two annotators."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from annotating import Site, press, settled

from aligner.model.model import load
from corpora.link_files import read_links
from corpora.links import NO_LINKS, PairLinks
from corpora.readers import open_corpus

pytestmark = pytest.mark.slow

Visit, Sites = Callable[..., Any], Callable[..., Site]

NEXT = {"none": "sure", "sure": "possible", "possible": "none", "suggested": "none"}


def shown_links(page: Any) -> dict[tuple[int, int], str]:
    """The kinds of the links that are drawn, by their places."""
    found = page.locator("#editor .edge").evaluate_all("all => all.map(one => [one.dataset.link, one.dataset.kind])")
    return {(int(j), int(k)): kind for link, kind in found for j, k in [link.split("-")]}


def walk(page: Any, place: tuple[int, int], end: tuple[int, int]) -> None:
    """Move the cursor by arrow keys."""
    for (down, up), distance in zip(
        (("ArrowDown", "ArrowUp"), ("ArrowRight", "ArrowLeft")), (end[0] - place[0], end[1] - place[1]), strict=True
    ):
        press(page, *[down if distance > 0 else up] * abs(distance))


def correct(page: Any, gold: PairLinks) -> None:
    """Make the links those of gold, by keys alone."""
    wanted = dict.fromkeys(gold.possible, "possible") | dict.fromkeys(gold.sure, "sure")
    shown, place = shown_links(page), (0, 0)
    for cell in sorted(shown.keys() | wanted.keys()):
        kind, goal = shown.get(cell, "none"), wanted.get(cell, "none")
        if kind == "suggested" and goal == "sure":
            continue
        if kind != goal:
            walk(page, place, cell)
            place = cell
        while kind != goal:
            press(page, " ")
            kind = NEXT[kind]
            assert shown_links(page).get(cell, "none") == kind


def test_any_gold_is_made_by_keys_alone(visit: Visit, site: Sites, tmp_path: Path, sample: Path) -> None:
    served = site(order="random", number=20)
    gold, queue = read_links(sample / "test.wa"), served.session.queue
    page = visit(served)
    assert page.evaluate("document.activeElement.id") == "editor"
    for done, pair in enumerate(queue):
        settled(page, pair)
        assert page.locator("#progress").inner_text().startswith(f"{done} of 20 accepted")
        correct(page, gold[pair])
        press(page, "Enter")
    assert "all done" in page.locator("#progress").inner_text()
    assert [*open_corpus(tmp_path / "gold").links()] == [gold[pair] for pair in sorted(queue)]


def test_every_key(visit: Visit, site: Sites) -> None:
    served = site()
    page = visit(served, viewport={"width": 1280, "height": 700})
    store, queue, where = served.session.store, served.session.queue, page.locator("#where")
    start = shown_links(page)
    assert {*start.values()} == {"suggested"}
    (j, k), *_ = start
    walk(page, (0, 0), (j, k))
    one, other = (re.escape(side[at]) for side, at in zip(served.session.text.words(0), (j, k), strict=True))
    assert re.match(rf"{one}.* – {other}.*: suggested, \d+ %", where.inner_text())
    press(page, "n")
    assert (j, k) not in shown_links(page)
    assert "NULL" in where.inner_text()
    word = page.locator(f"[data-side=source][data-index='{j}']")
    assert word.get_attribute("aria-label").endswith(", NULL")
    assert store.works[0].null == ({j}, frozenset())
    press(page, " ")
    assert shown_links(page)[j, k] == "sure"
    assert store.works[0].null == (frozenset(), frozenset()), "a word that is linked is not NULL"
    press(page, "N")
    assert store.works[0].null == (frozenset(), {k})
    press(page, "u", "u", "u")
    assert (shown_links(page), store.works) == (start, {})
    for key, side, at in (("c", 0, j), ("C", 1, k)):
        press(page, key)
        assert {link for link in start if link[side] == at} == start.keys() - shown_links(page).keys()
        press(page, "u")
    press(page, "Delete")
    assert shown_links(page) == {}
    press(page, "u")
    scores = served.session.pair({"pair": 0})["scores"]
    least = round(sorted(score for *_, score in scores)[2] + 0.005, 2)
    page.locator("#least").fill(str(least))
    page.locator("#editor").focus()
    press(page, "a")
    sure = {(j, k): "sure" for j, k, score in scores if score >= least}
    assert shown_links(page) == sure
    assert len(sure) < len(scores)
    press(page, "u", "f")
    assert page.locator("#flag").get_attribute("aria-pressed") == "true"
    assert "1 flagged" in page.locator("#progress").inner_text()
    page.keyboard.press("m")
    page.wait_for_function("document.activeElement.id === 'comment'")
    page.keyboard.type("not sure ? n")
    press(page, "Enter")
    assert (store.works[0].comment, store.works[0].flagged) == ("not sure ? n", True)
    press(page, "End", "Home", "Control+ArrowDown", "s")
    settled(page, queue[1])
    assert store.works[0].status == "skipped"
    press(page, "k")
    assert page.locator("#status").inner_text() == "skipped"
    assert page.locator("#comment").input_value() == "not sure ? n"
    press(page, "j", "Enter")
    settled(page, queue[2])
    assert store.accepted().keys() == {queue[1]}
    page.reload()  # which undoing survives
    page.wait_for_selector("body[data-ready=yes]")
    press(page, "u")
    settled(page, queue[1])
    assert store.accepted() == {}
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()


def middle(page: Any, j: int, k: int) -> tuple[float, float]:
    """Where a cell is on the screen, by the words of its row and column."""
    grid = page.locator("#editor path.grid").bounding_box()
    rows = page.locator("[data-side=source]").count()
    columns = page.locator("[data-side=target]").count()
    return grid["x"] + grid["width"] * (k + 0.5) / columns, grid["y"] + grid["height"] * (j + 0.5) / rows


def test_mouse(visit: Visit, site: Sites) -> None:
    served = site()
    page = visit(served)
    press(page, "Delete")
    page.mouse.click(*middle(page, 2, 1))
    settled(page)
    assert shown_links(page) == {(2, 1): "sure"}
    page.mouse.click(*middle(page, 2, 1))
    settled(page)
    assert shown_links(page) == {(2, 1): "possible"}
    page.mouse.move(*middle(page, 3, 4))
    page.mouse.down()
    page.mouse.move(*middle(page, 2, 2), steps=4)
    assert page.locator("#editor .block").get_attribute("visibility") == "visible"
    page.mouse.up()
    settled(page)
    block = {(j, k): "sure" for j in (2, 3) for k in (2, 3, 4)}
    assert shown_links(page) == {(2, 1): "possible", **block}
    assert served.session.store.works[0].sure == block.keys()
    page.locator("[data-side=target][data-index='3']").click()
    settled(page)
    assert shown_links(page).keys() == {(2, 1), *block} - {(2, 3), (3, 3)}
    assert served.session.store.works[0].null == (frozenset(), {3})
    page.locator("#clear-pair").click()
    settled(page)
    assert shown_links(page) == {}
    page.locator("#accept").click()
    settled(page, 1)


def test_two_windows_do_not_overwrite_each_other(visit: Visit, site: Sites) -> None:
    served = site()
    works, one, other = served.session.store.works, visit(served), visit(served)
    press(one, " ")
    before = works[0]
    press(other, "Delete")
    assert "Changed in another window" in other.locator("#trouble").inner_text()
    press(other, " ", "Enter", "j", "n")
    settled(other, 0)
    assert works == {0: before}, "nothing is chosen by a key that means another thing"
    press(other, "t")
    assert shown_links(other) == shown_links(one)
    assert not other.locator("#trouble").is_visible()
    press(other, "Delete")
    assert works[0].links == NO_LINKS
    press(one, "Enter")
    settled(one, 0)
    one.get_by_role("button", name="Keep what is here").click()
    settled(one)
    press(one, "h", "t")
    assert works[0].links == PairLinks(before.sure | before.suggested, before.possible)
    assert works[0].status == "accepted"


def test_what_cannot_be_kept_is_said_and_not_left(visit: Visit, site: Sites, monkeypatch: pytest.MonkeyPatch) -> None:
    served = site()
    page = visit(served)
    start = shown_links(page)
    monkeypatch.setattr("os.fsync", Mock(side_effect=OSError(errno.ENOSPC, "full")))
    press(page, "Delete")
    assert "not done: it is not all on disk: full" in page.locator("#trouble").inner_text()
    press(page, "u")
    assert shown_links(page) == start
    assert not page.locator("#trouble").is_visible()
    press(page, "Delete", "j", "Enter")
    settled(page, 0)
    assert served.session.store.works == {}
    monkeypatch.undo()
    page.get_by_role("button", name="Try again").click()
    settled(page)
    assert not page.locator("#trouble").is_visible()
    assert served.session.store.works[0].links == NO_LINKS
    press(page, "j")
    settled(page, 1)


def test_a_command_that_has_ended_is_missed(visit: Visit, site: Sites) -> None:
    page = visit(site())
    page.evaluate("void ([answered, fetch] = [fetch, () => Promise.reject(new TypeError('no answer'))])")
    press(page, "Delete")
    assert "the command does not answer" in page.locator("#trouble").inner_text()
    page.evaluate("void (fetch = answered)")
    press(page, "j")
    settled(page, 1)


def test_word_pairs_at_once(visit: Visit, site: Sites) -> None:
    served = site()
    page = visit(served)
    page.locator("#tab-words").click()
    settled(page)
    row = page.locator("#words tbody tr").first
    words, times = row.locator("th").inner_text(), int(row.locator("td").first.inner_text())
    row.locator("th button").click()
    settled(page)
    assert f"{times} links" in page.locator("#contexts").inner_text()
    assert page.locator("#contexts mark").first.inner_text().lower() == words.split(" – ")[0]
    row.get_by_role("button", name="Sure").click()
    settled(page)
    assert page.locator("#words tbody tr").first.locator("th").inner_text() != words
    assert sum(len(work.sure) for work in served.session.store.works.values()) == times


def test_agreement_and_decisions(visit: Visit, site: Sites, tmp_path: Path) -> None:
    first = site(number=4)
    for pair in range(4):
        work = first.session.pair({"pair": pair})["work"]
        first.session.save({"pair": pair, "revision": 0, "work": {**work, "status": "accepted"}})
    second = site(number=4, annotator="Zoe")
    page = visit(second)
    press(page, "Enter", "Enter", "Enter", "Delete", " ", "Enter")
    page.locator("#tab-agreement").click()
    settled(page)
    other = second.session.agreements({})["others"][0]
    figures = [f"{100 * share:.2f} %" for share in (*other["aer"], *other["f1"])]
    cells = page.locator("#agreement tbody tr").inner_text().split("\t")
    assert cells == ["gold", "4", *figures, f"{other['kappa']:.3f}"]
    page.get_by_role("button", name=re.compile("Take over the 3")).click()
    settled(page)
    page.get_by_role("button", name=re.compile("Pair 4")).click()
    settled(page, 3)
    deciding = page.locator("#deciding")
    assert "deciding between gold and me" in deciding.inner_text()
    assert {*shown_links(page).values()} <= {"first", "second", "sure"}
    assert "only in gold" in page.locator(".legend").inner_text()
    press(page, "2", "Enter")
    assert read_links(tmp_path / "gold.adjudicated.wa") == read_links(tmp_path / "gold.wa")
    page.get_by_role("button", name="Back to my pairs").click()
    settled(page)
    assert not deciding.is_visible()


def test_training_is_shown(visit: Visit, site: Sites) -> None:
    served = site()
    page = visit(served)
    page.locator("#train").click()
    settled(page)
    assert "0 pairs accepted: too few" in page.locator("#trouble").inner_text()
    page.locator("#editor").focus()
    press(page, *["Enter"] * 12)
    page.locator("#train").click()
    shown = page.locator("#training").filter(has_text="held-out AER")
    shown.wait_for(timeout=120_000)
    assert re.match(
        r"12 pairs: held-out AER \d+\.\d\d %, 95 % interval \[\d+\.\d\d, \d+\.\d\d\]; of the default weights \d+.* "
        r"weights are kept, .*\. They suggest links from now on\.",
        shown.inner_text(),
    )
    kind = served.session.trained.info()["weights"]
    assert ("--set weights=learnt" in shown.inner_text()) == (kind == "default")
    with page.expect_download() as saved:
        page.get_by_text(f"Save the model ({kind} weights)").click()
    model, words = load(saved.value.path()), served.session.text.words(0)
    assert model.record["labelled_pairs"] == 12
    assert model.align(*words) == served.session.trained.align(*words)
