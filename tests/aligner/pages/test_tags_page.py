"""The page of unsure tags in a browser: moved by keys and mouse, saved, and taken over by the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from commands import run, write

pytestmark = pytest.mark.slow

SOURCE = ["press <b>the key</b> and wait<br>", "a <i>red <a href='x'>house</a></i> here", "&lt;img src=x&gt; <b>c</b>"]
TARGET = ["dr\U0001f600ck die Taste und warte", "ein rotes Haus hier", "<img src=x onerror=document.title='bad'> שלום"]
OPTIONS = "--markup", "html", "-q", "--force"


def page_of(folder: Path, *texts: str) -> Path:
    """The page of the lines of a source, a target and links; what is written is in the file o beside it."""
    files = [write(folder / name, text) for name, text in zip("stl", texts, strict=True)]
    run("project", *files, *OPTIONS, "-o", folder / "o", "--unsure", folder / "u.html")
    return folder / "u.html"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = "\n".join(SOURCE), "\n".join(TARGET), "0-0\n0-0\n"
    return page_of(tmp_path_factory.mktemp("tags"), *texts).parent


def saved(page: Any, folder: Path) -> list[str]:
    """The lines that the command writes with what the page saves."""
    with page.expect_download() as download:
        page.keyboard.press("s")
    download.value.save_as(folder / "corrected.tsv")
    files = folder / "s", folder / "t", folder / "l"
    return run("project", *files, *OPTIONS, "--corrected", folder / "corrected.tsv").stdout.splitlines()


def choose(page: Any, tag: str) -> None:
    page.locator("#list button", has_text=tag).first.click()


def test_tags_are_moved_by_keys(visit: Any, folder: Path) -> None:
    page = visit(folder / "u.html")
    assert "bad" not in page.title()
    assert page.locator("img").count() == 0
    written = (folder / "o").read_text("utf-8").splitlines()
    assert saved(page, folder) == written, "nothing is decided"
    choose(page, "the key")
    for keys in ("ArrowRight", "Shift+ArrowRight"):
        for _ in range(9):
            page.keyboard.press(keys)
    assert page.locator("#said").inner_text() == "Around: warte"
    page.keyboard.press("Shift+ArrowLeft")
    assert page.locator(".target mark").all_inner_texts() == ["und warte"]
    assert saved(page, folder)[0] == "dr\U0001f600ck die Taste <b>und warte</b><br>"
    page.keyboard.press("u")
    assert saved(page, folder) == written


def test_tags_are_moved_by_the_mouse_and_stay_moved(visit: Any, folder: Path) -> None:
    page = visit(folder / "u.html")
    choose(page, "red house")
    run_of = page.locator(".target")
    box = run_of.bounding_box()
    page.mouse.move(box["x"] + 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + box["height"] / 2)
    page.mouse.up()
    assert page.locator("#said").inner_text() == "Around: ein rotes"
    page.keyboard.press("Enter")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert "moved" in page.locator("#list button", has_text="ein rotes").inner_text()
    assert saved(page, folder)[1].startswith("<i>ein ")


def test_arrows_point_where_the_tag_moves(visit: Any, tmp_path: Path) -> None:
    page = visit(page_of(tmp_path, "a <b>b</b> c", "אחת שתיים שלוש", ""))
    choose(page, "<b>")
    page.keyboard.press("ArrowLeft")
    assert page.locator("#said").inner_text() == "Around: שתיים שלוש"


def test_nothing_unsure(visit: Any, tmp_path: Path) -> None:
    page = visit(page_of(tmp_path, "<b>a</b>", "A", "0-0"))
    assert page.locator(".about").first.inner_text().startswith("0 tags")
    assert page.locator("#tag").is_hidden()
