"""The page to annotate on: on all screens, in six scripts and more, and its list of pairs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from annotating import Site, press, settled
from commands import write
from reports import assert_accessible, load_axe
from shapes import ON_SCREENS, assert_begins_well, assert_fits, screen, write_texts

from aligner.model.model import Model
from aligner.pages.annotate.annotation import read_text
from aligner.pages.annotate.session import Session
from corpora.link_files import read_links
from corpora.links import Links
from corpora.readers import open_texts

pytestmark = pytest.mark.slow

Visit, Sites = Callable[..., Any], Callable[..., Site]


def chosen_tab(page: Any, name: str) -> None:
    page.locator(f"#tab-{name}").click()
    settled(page)


@pytest.mark.parametrize(("language", "width", "scheme"), ON_SCREENS)
def test_it_fits_and_what_ends_a_pair_is_in_sight(
    visit: Visit, loaded: Model, tmp_path: Path, language: str, width: int, scheme: str
) -> None:
    one, other = write_texts(tmp_path, language)
    served = Site(Session(read_text(open_texts(one, other), loaded), loaded, str(tmp_path / "gold"), order="given"))
    try:
        page = visit(served, **screen(width, scheme))
        for _ in range(3):
            assert_begins_well(page)
            assert_fits(page)
            for button in ("#accept", "#skip", "#undo", "#flag"):
                box = page.locator(button).bounding_box()
                assert 0 <= box["y"] <= box["y"] + box["height"] <= page.viewport_size["height"], button
            press(page, "f", "Enter")
        for tab in ("list", "words", "agreement"):
            chosen_tab(page, tab)
            assert_fits(page)
        assert page.locator("#pairs li").count() == 3
    finally:
        served.close()


def test_the_list_of_pairs(visit: Visit, site: Sites) -> None:
    served = site(number=6)
    page = visit(served)
    press(page, "Enter", "f", "s")
    press(page, "m")
    page.keyboard.type("is this right ?")
    press(page, "Enter")
    chosen_tab(page, "list")

    def listed(which: str, text: str = "") -> list[int]:
        page.locator("#which").select_option(which)
        page.locator("#searched").fill(text)
        settled(page)
        return [int(name.split()[1]) - 1 for name in page.locator("#pairs button").all_inner_texts()]

    queue = served.session.queue
    assert listed("all") == queue
    assert listed("accepted") == queue[:1]
    assert listed("skipped") == listed("flagged") == queue[1:2]
    assert listed("with a comment") == queue[2:3]
    assert "is this right ?" in page.locator("#pairs li").inner_text()
    assert listed("open") == queue[2:]
    word = served.session.text.words(queue[4])[1][0]
    having = [pair for pair in queue if word.lower() in " ".join(served.session.text.words(pair)[1]).lower()]
    assert set(having) <= set(listed("all", word.upper()))
    assert listed("all", "no such text") == []
    assert page.locator("#listed").inner_text() == "0 pairs"
    listed("flagged")
    page.locator("#pairs button").click()
    page.wait_for_selector(f"#title:text-is('Pair {queue[1] + 1}')")
    assert page.evaluate("document.activeElement.id") == "editor"


def test_scripts_of_all_directions_and_markup(visit: Visit, site: Sites, tmp_path: Path) -> None:
    long = " ".join(f"w{n}" for n in range(200))
    write(tmp_path / "test.en", "<script>alert(1)</script> &amp; \"'", "שלום עולם 👩‍👩‍👧", long)
    write(tmp_path / "test.fr", "</script><img src=x onerror=alert(1)> b\0", "猫 が 好き", long)
    served = site()
    page = visit(served)
    words = served.session.text.words(0)
    assert page.locator("#source-sentence").inner_text() == " ".join(words[0])
    assert page.locator("#target-sentence").inner_text() == " ".join(words[1]).replace("\0", "␀")
    press(page, " ", "Enter")
    assert page.locator("#editor [data-side=target] text").all_text_contents() == ["猫", "が", "好き"]
    press(page, "Enter")
    press(page, "Delete", "End", *["ArrowDown"] * 150, " ")
    assert served.session.pair({"pair": 2})["work"]["sure"] == [(150, 199)]
    cursor, picture = (page.locator(f"#editor {one}").bounding_box() for one in (".cursor", ".picture"))
    assert picture["x"] <= cursor["x"] <= picture["x"] + picture["width"] - cursor["width"]
    assert picture["y"] <= cursor["y"] <= picture["y"] + picture["height"] - cursor["height"]
    assert read_links(tmp_path / "gold.wa") == Links.from_pairs(
        [w.links for w in served.session.store.accepted().values()]
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(visit: Visit, site: Sites, scheme: str) -> None:
    for pair, other in enumerate((site(number=3), site(number=3, annotator="Zoe"))):
        work = {**other.session.pair({"pair": pair})["work"], "suggested": [], "status": "accepted"}
        other.session.save({"pair": 0, "revision": 0, "work": work})
    page = visit(other, color_scheme=scheme)
    load_axe(page)
    press(page, " ", "n", "f")
    for tab in ("pairs", "list", "words", "agreement"):
        chosen_tab(page, tab)
        if tab == "words":
            page.locator("#words tbody button").first.click()
            settled(page)
        assert_accessible(page)
