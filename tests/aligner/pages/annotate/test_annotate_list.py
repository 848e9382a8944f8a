"""The page to annotate on: its list of pairs, and text of all scripts, of any length and like markup."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from annotating import Site, press, settled
from commands import write

from corpora.link_files import read_links
from corpora.links import Links

pytestmark = pytest.mark.slow

Visit, Sites = Callable[..., Any], Callable[..., Site]


def test_the_list_of_pairs(visit: Visit, site: Sites) -> None:
    served = site(number=6)
    page, queue = visit(served), served.session.queue
    press(page, "Enter", "f", "s", "m")
    page.keyboard.type("is this right ?")
    press(page, "Enter")
    page.locator("#tab-list").click()
    settled(page)

    def listed(which: str, text: str = "") -> list[int]:
        page.locator("#which").select_option(which)
        page.locator("#searched").fill(text)
        settled(page)
        return [int(name.split()[1]) - 1 for name in page.locator("#pairs button").all_inner_texts()]

    word = served.session.text.words(queue[4])[1][0].lower()
    having = [pair for pair in queue if word in " ".join(served.session.text.words(pair)[1]).lower()]
    assert {*having} <= {*listed("all", word.upper())}
    for which, expected in {
        "all": queue,
        "accepted": queue[:1],
        "skipped": queue[1:2],
        "open": queue[2:],
        "with a comment": queue[2:3],
    }.items():
        assert listed(which) == expected
    assert "is this right ?" in page.locator("#pairs li").inner_text()
    assert listed("all", "no such text") == []
    assert page.locator("#listed").inner_text() == "0 pairs"
    assert listed("flagged") == queue[1:2]
    page.locator("#pairs button").click()
    settled(page, queue[1])
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
