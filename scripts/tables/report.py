"""What a large report costs the browser."""

import random
import re
import tempfile
import time
from itertools import islice
from pathlib import Path

from browser import open_browser

from aligner.pages.report import read_pairs, write_page
from corpora.readers import open_corpus
from tables import DATA, markdown, table


def write_report(data: Path, folder: Path, pairs: int) -> Path:
    """Of links along the diagonal, a word to and fro."""
    rng = random.Random(1)
    texts = [*islice(open_corpus(data / "hansards" / "train").texts(), pairs)]
    for side in (1, 2):
        (folder / f"text.{side}").write_bytes(b"".join(text[side] + b"\n" for text in texts))
    for name in ("gold", "one", "two", "three"):
        lines = []
        for _, source, target in texts:
            J, K = len(source.split()), len(target.split())
            places = [min(max(round(j * K / J) + rng.randrange(-1, 2), 0), K - 1) for j in range(J)] if K else []
            scores = ["" if name == "gold" else f":{rng.random():.4f}" for _ in places]
            lines.append(" ".join(f"{j}-{k}{score}" for (j, k), score in zip(enumerate(places), scores, strict=True)))
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    names = [str(folder / name) for name in ("text.1", "text.2", "one", "two", "three", "gold")]
    read = read_pairs(names[0], names[1], names[2:5], gold=names[5])
    page = folder / "report.html"
    page.write_text(write_page(read, read.evaluate()), "utf-8")
    return page


def measure(report: Path) -> list[float]:
    """Seconds until it is there, until figures are at another threshold, and of three views; MiB in the end."""
    seconds = []
    with open_browser() as browser:
        page = browser.new_page(viewport={"width": 1400, "height": 950})

        def until(selector: str) -> None:
            page.locator(selector).first.wait_for()
            seconds.append(time.perf_counter() - started)

        started = time.perf_counter()
        page.goto(report.as_uri())
        until("body[data-ready=yes]")
        started = time.perf_counter()
        page.locator("#threshold").fill("0.5")
        until("#threshold-value:has-text('0.50')")
        for tab, found in (("words", ".frequent table"), ("plots", "figure")):
            started = time.perf_counter()
            page.locator(f"#tab-{tab}").click()
            until(found)
        page.locator("#tab-pairs").click()
        started = time.perf_counter()
        page.locator("#search").fill("house")
        until("#chosen:not(:has-text('AER 0'))")
        processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
        shown = [process["id"] for process in processes if process["type"] == "renderer"]
        status = [Path(f"/proc/{process}/status").read_text() for process in shown]
    return [*seconds, max(int(re.search(r"VmHWM:\s+(\d+)", text)[1]) for text in status) / 1024]  # type: ignore[index]


@table("report")
def report(data: Path = DATA, pairs: int = 10_000, repeats: int = 3) -> str:
    """What a large report costs the browser: pairs of the Hansards, with gold and three systems that are made up.

    Needs Debian's package chromium and playwright from PyPI. Of the seconds the least of all repeats, of the memory,
    that of the process that shows the page, the most.
    pairs: of the Hansards.  repeats: of each measurement.
    """
    page = write_report(data, Path(tempfile.mkdtemp()), pairs)
    *seconds, memory = zip(*(measure(page) for _ in range(repeats)), strict=True)
    actions = "opens, s", "first threshold, s", "words, s", "plots, s", "search, s"
    least = [f"{min(those):.2f}" for those in seconds]
    row = [f"{pairs:,}", f"{page.stat().st_size / 1e6:.1f}", *least, f"{max(memory):.0f}"]
    return markdown(["pairs", "MB of HTML", *actions, "MiB at most"], [row], words=0)
