"""`aligner convert`: what align writes is read, formats by the names of files, and text of corpora."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest
from commands import invoke, refused, run, write

from aligner.cli.outputs import Format
from corpora.link_files import open_links, read_links

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
    lines = {name: [*(sample / f"test.{name}").read_text("utf-8").splitlines()[:20], "", "x"] for name in ("en", "fr")}
    lines["fr"][-1] = ""
    for name, side in lines.items():
        write(there / f"t.{name}", *side)
    for format in get_args(Format):
        run("align", "t.en", "t.fr", "-m", model, "--format", format, "-o", f"by.{format}", "-q")
        assert open_links(f"by.{format}").format == (format if format in ("jsonl", "tsv") else "pharaoh")
        assert ",0.0,100.0,100.0,100.0," in run("evaluate", "by.pharaoh", f"by.{format}", "--format", "csv").stdout
        run("show", "t.en", "t.fr", f"by.{format}")
        run("report", "t.en", "t.fr", f"by.{format}", "-o", f"{format}.html", "-q")
        run("lexicon", "t.en", "t.fr", f"by.{format}", "-o", format, "-q")
        assert Path(f"{format}.tsv").read_bytes() == Path("pharaoh.tsv").read_bytes()
        run("convert", f"by.{format}", f"{format}.wa", "-q")
        assert Path(f"{format}.wa").read_bytes() == Path("by.pharaoh").read_bytes()
    run("convert", "by.scored", "again.jsonl", "--text", "t", "-q")
    both = (Path(name).read_text("utf-8").splitlines() for name in ("again.jsonl", "by.jsonl"))
    for found, expected in (map(json.loads, pair) for pair in zip(*both, strict=True)):
        assert found.pop("score", 0) == pytest.approx(expected.pop("score"), abs=1e-4)  # the mean of rounded scores
        assert found == expected, "one format, whoever writes it"
    assert Path("by.tsv").read_text().splitlines()[20].startswith("-inf\t-inf\t-inf\t")


@pytest.mark.parametrize("name", ["t.talp", "t.naacl.gz", "t.jsonl", "t.tmx", "t.align"])
def test_names_of_files_tell_formats(there: Path, sample: Path, name: str) -> None:
    run("convert", sample / "test.wa", name, "--text", sample / "test", "-q")
    assert read_links(name) == read_links(sample / "test.wa")
    assert open_links(name).format == ("pharaoh" if name == "t.align" else name.split(".")[1])


def test_text_of_a_corpus(there: Path) -> None:
    write(there / "m.tmx", TMX)
    run("convert", "m.tmx", "out.en", "out.de.gz", "--source", "en", "--target", "de", "-q")
    assert Path("out.en").read_text() == "A <b> house\n\n"
    run("convert", "m.tmx", "f", "-", "--columns", "fr,de", "-q")
    assert run("convert", "m.tmx", "-", "g", "--columns", "de,fr", "-q").stdout == "Ein Haus\nNur & hier\n"
    assert Path("f").read_text() == Path("g").read_text() == "Une maison\n\n"
    assert run("convert", "-", "-", "h", stdin=b"a ||| b\n\n").stdout == "a\n\n"
    assert Path("h").read_text() == "b\n\n"
    Path("out.en").unlink()
    assert "has 3 languages, en, de, fr (choose two with --columns" in refused("convert", "m.tmx", "x", "y")
    assert "file exists" in refused("convert", "m.tmx", "out.en", "f", "--columns", "de,fr")
    write(there / "bad", "a ||| b", "c")
    assert "no ||| or tab" in refused("convert", "bad", "x", "y", line=2)
    (there / "bad").write_bytes(b"a ||| b\nc ||| \xff\n")
    assert "not valid UTF-8" in refused("convert", "bad", "x", "y", line=2)
    assert {path.name for path in there.iterdir()} == {"m.tmx", "out.de.gz", "f", "g", "h", "bad"}


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("j out", "the name 'out' does not tell the format (give --to)"),
        ("j x y --to talp", "--to has no effect on text (leave it or OUT2 out)"),
        ("j x y --from talp", "--from has no effect on text"), ("j x y --text j", "--text has no effect on text"),
        ("j x y --transpose", "--transpose has no effect on text"),
        ("l x.wa --columns a,b", "--columns is of a text, which is not there (give --text)"),
        ("j x x", "OUT and OUT2 are both x (name two files)"),
        (
            "m.tmx x.csv --source de",
            "--source chooses nothing: links of TMX are between its languages as they come (leave it out)",
        ),
    ],
)  # fmt: skip
def test_what_does_not_go_together(there: Path, words: str, what: str) -> None:
    write(there / "j", "a ||| b")
    write(there / "l", "0-0")
    write(there / "m.tmx", TMX)
    result = invoke("convert", *words.split())
    assert result.exit_code == 2
    assert what in " ".join(result.stderr.split())
    assert {path.name for path in there.iterdir()} == {"j", "l", "m.tmx"}


def test_a_translation_memory_in_a_pipe_is_refused(there: Path) -> None:
    message = refused("convert", "-", "x.wa", "--from", "tmx", stdin=TMX.encode())
    assert "is read more than once, as no pipe can be" in message
