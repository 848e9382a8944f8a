"""`aligner convert`: what align writes is read by every command, and text of corpora."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest
from commands import refused, run, write

from aligner.cli.outputs import Format
from corpora.link_files import open_links

TMX = (
    '<tmx version="1.4"><header/><body><tu><tuv xml:lang="en"><seg>A &lt;b&gt;\n house</seg></tuv>'
    '<tuv xml:lang="de"><seg>Ein Haus</seg></tuv><tuv xml:lang="fr"><seg>Une maison</seg></tuv></tu>'
    '<tu><tuv xml:lang="de"><seg>Nur &amp; hier</seg></tuv></tu></body></tmx>'
)


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_align_writes_is_read(there: Path, sample: Path, model: Path) -> None:
    for name in ("en", "fr"):
        lines = (sample / f"test.{name}").read_text("utf-8").splitlines()[:20]
        write(there / f"t.{name}", *lines, "", "x" if name == "en" else "")
    for form in get_args(Format):
        run("align", "t.en", "t.fr", "-m", model, "--format", form, "-o", f"by.{form}", "-q")
        assert open_links(f"by.{form}").format == (form if form in ("jsonl", "tsv") else "pharaoh")
        assert ",0.0,100.0,100.0,100.0," in run("evaluate", "by.pharaoh", f"by.{form}", "--format", "csv").stdout
        run("show", "t.en", "t.fr", f"by.{form}")
        run("report", "t.en", "t.fr", f"by.{form}", "-o", f"{form}.html", "-q")
        run("lexicon", "t.en", "t.fr", f"by.{form}", "-o", form, "-q")
        assert Path(f"{form}.tsv").read_bytes() == Path("pharaoh.tsv").read_bytes()
        run("convert", f"by.{form}", f"{form}.wa", "-q")
        assert Path(f"{form}.wa").read_bytes() == Path("by.pharaoh").read_bytes()
    run("convert", "by.scored", "again.jsonl", "--text", "t", "-q")
    both = (map(json.loads, Path(name).read_text("utf-8").splitlines()) for name in ("again.jsonl", "by.jsonl"))
    for found, expected in zip(*both, strict=True):
        assert found.pop("score", 0) == pytest.approx(expected.pop("score"), abs=1e-4)  # the mean of rounded scores
        assert found == expected, "one format, whoever writes it"
    assert Path("by.tsv").read_text().splitlines()[20].startswith("-inf\t-inf\t-inf\t")


def test_text_of_a_corpus(there: Path) -> None:
    write(there / "m.tmx", TMX)
    run("convert", "m.tmx", "out.en", "out.de.gz", "--source", "en", "--target", "de", "-q")
    assert Path("out.en").read_text() == "A <b> house\n\n"
    assert run("convert", "m.tmx", "-", "g", "--columns", "de,fr", "-q").stdout == "Ein Haus\nNur & hier\n"
    assert "has 3 languages, en, de, fr (choose two with --columns" in refused("convert", "m.tmx", "x", "y")
    write(there / "bad", "a ||| b", "c")
    assert "no ||| or tab" in refused("convert", "bad", "x", "y", line=2)
    assert {path.name for path in there.iterdir()} == {"m.tmx", "out.en", "out.de.gz", "g", "bad"}
