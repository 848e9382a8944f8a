"""The pictures of README, docs/report.md and docs/annotate.md: pages of the sample corpus, as chromium shows them.

    python scripts/screenshots.py [--write] [--pair 11]

The report is of two systems: links without labels, and those of a model that learnt from the sample; the page to
annotate on begins with links without labels. Needs Debian's package chromium and playwright from PyPI. A minute or two.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from browser import open_browser
from tables import ROOT, parser_of

PICTURES = {
    "report.png": ("light", 680, "view=lines&show=1"),
    "report-matrix.png": ("dark", 900, "view=matrix&show=difference"),
}
"""Name: colour scheme, height, and what of a pair is shown."""

KEYS = "ArrowRight ArrowDown Space Space ArrowDown ArrowDown ArrowDown n ArrowUp ArrowUp Space Space"
"""Pressed on the page to annotate on."""


def write_report(folder: Path) -> Path:
    """The report of the sample's test pairs, by two systems."""
    import aligner
    from aligner.pages.report import read_pairs, write_page

    sample = ROOT / "corpora" / "sample"
    texts = [str(sample / f"test.{language}") for language in ("en", "fr")]
    model = aligner.train(str(sample / "train")).model
    tokens = [[line.split() for line in Path(text).read_text("utf-8").splitlines()] for text in texts]
    systems = {"no labels": aligner.align(*texts), "313 labels": model.align_many(zip(*tokens, strict=True))}
    for name, found in systems.items():
        scored = [zip(one.links, one.scores, strict=True) for one in found]
        lines = [" ".join(f"{j}-{k}:{score:.4f}" for (j, k), score in one) for one in scored]
        (folder / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    pairs = read_pairs(*texts, [str(folder / name) for name in systems], gold=str(sample / "test.wa"))
    page = folder / "report.html"
    page.write_text(write_page(pairs, pairs.evaluate(), model=("my.model", model.record)), "utf-8")
    return page


@contextmanager
def serve_annotation(folder: Path) -> Iterator[str]:
    """The address of a page on which twelve of fifty pairs have been accepted."""
    from aligner.pages.annotate.annotation import read_text
    from aligner.pages.annotate.app import HOST, application
    from aligner.pages.annotate.session import Session, model_of_text
    from aligner.pages.http import Server, listen
    from aligner.progress import ignore
    from corpora.readers import open_texts

    corpus = open_texts(*(ROOT / "corpora" / "sample" / f"test.{language}" for language in ("en", "fr")))
    model = model_of_text(corpus)
    session = Session(read_text(corpus, model), model, str(folder / "gold"), number=50)
    for pair in session.queue[:12]:
        session.save(
            {"pair": pair, "revision": 0, "work": {**session.pair({"pair": pair})["work"], "status": "accepted"}}
        )
    listening = listen(HOST, 0)
    port = listening.getsockname()[1]
    serving = Server(application(session, "token", port), ignore, log_level="critical")
    thread = Thread(target=serving.run, args=[[listening]])
    thread.start()
    yield f"http://127.0.0.1:{port}/token/"
    serving.should_exit = True
    thread.join()


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--pair", type=int, default=11, help="of corpora/sample/test, from 1")
    options = parser.parse_args()

    folder = Path(tempfile.mkdtemp())
    report = write_report(folder)
    images = ROOT / "docs" / "images" if options.write else folder
    images.mkdir(exist_ok=True)
    with open_browser() as browser:
        for name, (scheme, height, shown) in PICTURES.items():
            page = browser.new_page(
                color_scheme=scheme, viewport={"width": 1240, "height": height}, device_scale_factor=1.25
            )
            page.goto(f"{report.as_uri()}#pair={options.pair}&{shown}")
            page.wait_for_selector("body[data-ready=yes]")
            page.screenshot(path=images / name)
            print(f"written to {images / name}")
        with serve_annotation(folder) as address:
            page = browser.new_page(viewport={"width": 1240, "height": 800}, device_scale_factor=1.25)
            page.goto(address)
            page.wait_for_selector("body[data-ready=yes]")
            for key in KEYS.split():
                page.keyboard.press(key)
            page.wait_for_selector("body[data-busy=no]")
            page.screenshot(path=images / "annotate.png")
            print(f"written to {images / 'annotate.png'}")


if __name__ == "__main__":
    main()
