"""The file of a report and of a notebook's cell: what is in it, how it is asked for, and what is refused."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import refused, run, write

import aligner
from aligner.model.decoding import Alignment
from aligner.pages.assets import bundle, embedded
from aligner.pages.notebook import Drawing
from aligner.pages.report import read_pairs, write_page
from corpora.links import PairLinks

STATIC = Path(aligner.__file__).parent / "pages" / "static"

EVIL = "<script>alert(1)</script> </SCRIPT> <!-- ]]> &amp; {{x}} \u2028"


def data_of(page: str) -> Any:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])  # type: ignore[index]


def test_a_page_needs_nothing_else(folder: Path) -> None:
    page = (folder / "test.html").read_text("utf-8")
    assert not re.findall(r"""(?:src|href|action)=["'](?!#)|url\(|@import|https?://(?!www\.w3\.org/2000/svg)""", page)
    assert "default-src &#39;none&#39;" in page
    assert page.count("<script") == page.count("</script>") == 2
    assert not re.findall(r"innerHTML|insertAdjacentHTML|document\.write|eval\(", page)
    assert len(page) < 200_000


def test_data_cannot_leave_its_element(report: Callable[..., Path], tmp_path: Path) -> None:
    page = report((EVIL, "b", "0-0", "0-0")).read_text("utf-8")
    assert page.count("<script") == 2
    assert data_of(page)["source"].split(" ") == EVIL.split(" ")
    assert json.loads(embedded({"<!--": EVIL})) == {"<!--": EVIL}
    texts = [str(write(tmp_path / name, "a")) for name in ("<img>.x", "&amp;.y")]
    named = write_page(read_pairs(*texts, [str(write(tmp_path / "links", "0-0"))], names=["</script><img>"]))
    assert (named.count("<script"), named.count("<img>")) == (2, 0)
    assert "<h1>&lt;img&gt;.x – &amp;amp;.y</h1>" in named


@pytest.mark.parametrize("path", sorted(STATIC.glob("*.js")), ids=lambda path: path.name)
def test_a_module_and_what_it_imports_are_one_script(path: Path) -> None:
    script = bundle(path.name)
    assert not re.findall(r"^(?:import|export)\b|\b(?:window|globalThis)\.", script, re.MULTILINE)
    names = re.findall(r'^modules\["([\w.-]+)"\] = ', script, re.MULTILINE)
    assert len({*names}) == len(names)
    assert names[-1] == path.name
    exported: dict[str, set[str]] = {}
    for name, body in zip(names, re.split(r"^modules.*", script, flags=re.MULTILINE)[1:], strict=True):
        for wanted, other in re.findall(r'^const \{([^}]*)\} = modules\["([\w.-]+)"\];$', body, re.MULTILINE):
            assert {word.strip() for word in wanted.split(",") if word.strip()} <= exported[other]
        exported[name] = {*re.findall(r"[\w$]+", re.findall(r"^return \{(.*)\};$", body, re.MULTILINE)[-1])}


def test_figures_alone_are_those_of_evaluate(folder: Path) -> None:
    systems = [folder / "one", f"second={folder / 'two'}"]
    report = ["report", folder / "test.en", folder / "test.fr", *systems, "--gold", folder / "test.wa"]
    judge = ["evaluate", folder / "test.wa", *systems]
    for more in (["csv"], ["csv", "--resamples", 50, "--seed", 3, "--confidence", 90]):
        assert run(*report, "--format", *more).stdout == run(*judge, "--format", *more).stdout
    for layout in ("markdown", "latex"):  # both also tell lengths, of which the report has the text
        ours, theirs = (run(*command, "--format", layout).stdout.splitlines() for command in (report, judge))
        assert (ours[:6], ours[-1]) == (theirs[:6], theirs[-1])
    assert "need gold" in run(*report[:5], "--format", "csv", code=2).stderr


def test_what_does_not_fit_is_refused(folder: Path, tmp_path: Path) -> None:
    texts, page = (folder / "test.en", folder / "test.fr"), tmp_path / "r.html"

    def pair(*target: str, source: str = "a") -> str:
        return json.dumps({"source": [source], "target": target, "links": []})

    def told(line: int, *systems: Sequence[str]) -> str:
        files = [write(tmp_path / f"{n}", *lines) for n, lines in enumerate(systems)]
        return refused("report", *texts, *files, "-o", page, line=line)

    assert "a blank in it" in told(1, [pair("c", source="a b")] * 64)
    assert "the links end" in told(63, [pair("c")] * 64, [pair("c")] * 63)
    assert "has not the words" in told(64, [pair("c")] * 64, [*[pair("c")] * 63, pair("c", "d")])
    assert "at most 4" in run("report", *texts, *[folder / "one"] * 5, "-o", page, code=2).stderr
    assert "no pairs" in refused("report", *[write(tmp_path / name) for name in "xyz"], "-o", page)
    assert not page.exists()
    assert "file exists" in refused("report", *texts, folder / "one", "-o", folder / "test.html")
    assert "is read here" in refused("report", *texts, folder / "one", "-o", folder / "one", "--force")


def test_words_and_probabilities_of_jsonl(tmp_path: Path) -> None:
    texts = [str(write(tmp_path / name, text)) for name, text in (("t.en", "It's 5."), ("t.fr", "5."))]
    answer = {"source": ["It", "'s", "5", "."], "target": ["5", "."], "links": [[2, 0, 0.5], [3, 1, 0.25]]}
    links, gold = str(write(tmp_path / "t.jsonl", json.dumps(answer))), str(write(tmp_path / "t.wa", "3-1"))
    pairs = read_pairs(*texts, [links], gold=gold)
    assert pairs.words == ([answer["source"]], [answer["target"]])
    assert pairs.systems[0].scores is not None
    assert pairs.systems[0].scores.tolist() == [0.5, 0.25]
    assert [e.links for e in pairs.evaluate()] == [2]
    both = read_pairs(*texts, [gold, links])  # places in the words of the other file, not in the text
    assert both.words == pairs.words
    assert [len(system.links[0].sure) for system in both.systems] == [1, 2]


@pytest.mark.slow
def test_the_model_tells_how_it_was_learnt(folder: Path, model: Path, tmp_path: Path) -> None:
    run("report", folder / "test.en", folder / "test.fr", folder / "one", "-m", model, "-o", tmp_path / "r.html")
    page, record = (tmp_path / "r.html").read_text("utf-8"), aligner.load(model).record
    assert data_of(page)["model"] == {"trace": record["trace"]}
    assert record["solver"] in page


def test_cells_of_notebooks_share_nothing() -> None:
    alignment = Alignment(((0, 0), (2, 1)), (0.5, 3.0))
    drawing = Drawing(["<b>", "b", "c"], ["d", "e"], alignment, PairLinks(frozenset({(0, 0)}), frozenset({(1, 1)})))
    for cell in (alignment, Alignment((), ()), aligner.evaluate([[(0, 0)]], [[(0, 0)]]), drawing):
        pattern = r'<iframe sandbox="allow-scripts" title="[^"<]*" style="[^"<]*" srcdoc="([^"]*)"></iframe>'
        frame = re.fullmatch(pattern, cell._repr_html_())
        assert frame is not None
        page = data_of(html.unescape(frame[1]))
        assert page
    assert page["pair"]["source"] == ["<b>", "b", "c"]
    assert page["pair"]["systems"] == [[[0, 0, 0.5], [2, 1, 1.0]]]
    assert sorted(page["pair"]["gold"]) == [[0, 0, 1], [1, 1, 0]]
