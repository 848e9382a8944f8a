"""Which tokens links count, and what a pipe gives: the same words throughout, or an error."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commands import refused, run, write

from aligner.model.model import load
from corpora.normalize import Normalizer

if TYPE_CHECKING:
    from tests.aligner.cli.conftest import Desk

pytestmark = pytest.mark.slow


@pytest.fixture
def tokenizing(desk: Desk) -> Path:
    """A model that tokenises, beside text in which a tokeniser finds more tokens than there are between spaces."""
    run("train", desk.text, "--gold", desk.text, "--tokenize", "--set", "max_passes=2", "-m", desk.folder / "T")
    for name, sides in {"u": ("the house, the", "la maison, la"), "fits": ("a, b c d e", "a, b c d e")}.items():
        for suffix, line in zip(("en", "fr"), sides, strict=True):
            write(desk.folder / f"{name}.{suffix}", *[line] * 3)
    return desk.folder / "T"


@pytest.mark.parametrize("name", ["u", "fits"])
def test_links_mean_the_same_words(desk: Desk, tokenizing: Path, name: str) -> None:
    texts, links, lexicon = (
        [desk.folder / f"{name}.en", desk.folder / f"{name}.fr"],
        desk.folder / "L",
        desk.folder / "X",
    )
    aligned = run("align", *texts, "-m", tokenizing, "--format", "jsonl").stdout
    pairs = [json.loads(line) for line in aligned.splitlines()]
    assert "," in pairs[0]["source"]
    assert "need --tokenize, too" in run("align", *texts, "-m", tokenizing, "-o", links).stderr
    assert not run("align", *texts, "-m", tokenizing, "-q").stderr
    assert run("score", *texts, links, "-m", tokenizing, "--format", "jsonl").stdout == aligned
    run("report", *texts, links, "--tokenize", "-o", desk.folder / "page", "-q")
    run("show", *texts, links, "--tokenize")
    run("lexicon", *texts, links, "--tokenize", "-o", lexicon)
    counted = {tuple(line.split("\t")[:2]) for line in Path(f"{lexicon}.tsv").read_text().splitlines()}
    assert counted >= {(p["source"][j], p["target"][k]) for p in pairs for j, k, _ in p["links"]}
    assert "count tokens split by spaces" in run("align", *texts, "-m", tokenizing, "--links", links, code=2).stderr
    if name == "u":
        write(links, *["9-9"] * 3)
        for command in ("report", "show", "lexicon"):
            assert "--tokenize" in refused(command, *texts, links, line=1)


def test_tokens_without_a_model(desk: Desk) -> None:
    """`align --tokenize` of raw text is `align` of the same text in tokens."""
    normalizer = Normalizer(tokenize=True)
    raw, split = ([desk.folder / f"{name}.{suffix}" for suffix in ("en", "fr")] for name in ("raw", "split"))
    for side, one, other in zip((desk.source, desk.target), raw, split, strict=True):
        lines = side.read_text("utf-8").replace(" ,", ",").replace(" .", ".").splitlines()
        write(one, *lines)
        write(other, *[" ".join(normalizer.tokens(line)) for line in lines])
    for options in ([], ["--format", "jsonl"], ["--sample", 60], ["--unsupervised", "--directions", desk.folder / "D"]):
        found = run("align", *raw, "--tokenize", "--force", *options)
        assert found.stdout == run("align", *split, "-q", "--force", *options).stdout
        assert ("need --tokenize, too" in found.stderr) == ("jsonl" not in options)
    told = run("align", *raw).stderr
    assert re.search(r"like '\w+\.' \(--tokenize splits", told)
    assert "--tokenize splits" not in run("align", *split).stderr
    run("align", *raw, "--tokenize", "--dictionary", write(desk.folder / "entries", "old, house\tmaison"))
    links = write(desk.folder / "L", *[""] * 64)
    assert "count tokens split by spaces" in run("align", *raw, "--tokenize", "--links", links, code=2).stderr


@pytest.mark.parametrize("options", [[], ["-m", "M"], ["--unsupervised"]])
def test_languages_go_along_in_jsonl(desk: Desk, options: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(desk.folder)
    run("align", "t.en", "t.fr", *options, "--format", "jsonl", "-o", "j", "-q")
    assert {tuple(json.loads(line)["languages"]) for line in Path("j").read_text("utf-8").splitlines()} == {
        ("en", "fr")
    }
    for ends, place in (("tmx", r'xml:lang="(\w+)"'), ("conllu", r"# sent_id = 1/(\w+)")):
        run("convert", "j", f"c.{ends}", "-q")
        assert {*re.findall(place, Path(f"c.{ends}").read_text("utf-8"))} >= {"en", "fr"}


def test_apostrophes_that_are_letters(tmp_path: Path) -> None:
    """Of a text that uses them so, by itself; of any, by --keep: links, what is drawn and the model agree."""
    rng = random.Random(0)
    words = ["".join(rng.choices([a + b for a in "bdfgklmnprst" for b in "aeiou"], k=3)) for _ in range(90)]
    words = [w[:2] + "'" + w[3:] if i % 3 == 0 else w for i, w in enumerate(words)]
    lines = [[*rng.choices(words, k=5), "l'a"] for _ in range(60)]
    sides = [" ".join(line) + "." for line in lines]
    texts = write(tmp_path / "t.aa", *sides), write(tmp_path / "t.bb", *(s.upper().replace("'", "") for s in sides))
    model, links = tmp_path / "M", tmp_path / "L"
    assert 'as --keep "\'’‘," says' in run("train", *texts, "--tokenize", "-m", model).stderr
    assert json.loads(run("info", model, "--format", "json").stdout)["keep"] == "'’‘,"
    for options in (["-m", model], ["--tokenize"]):
        assert 'need --tokenize --keep "\'’‘,", too' in run("align", *texts, *options, "-o", links, "--force").stderr
        found = run("align", *texts, *options, "--format", "jsonl").stdout
        assert [json.loads(pair)["source"] for pair in found.splitlines()] == [[*line, "."] for line in lines]
    counts = []
    for name, keep in (("X", []), ("Y", ["--keep", "',"])):
        assert run("lexicon", *texts, links, "--tokenize", *keep, "-o", tmp_path / name, "-q").stderr == ""
        counts.append((tmp_path / f"{name}.tsv").read_bytes())
    assert counts[0] == counts[1]
    joint = "\n".join(map(" ||| ".join, zip(*(text.read_text("utf-8").splitlines() for text in texts), strict=True)))
    piped = run("align", "-", "--tokenize", "--format", "jsonl", stdin=joint.encode()).stdout
    assert [json.loads(pair)["source"] for pair in piped.splitlines()] == [[*line, "."] for line in lines]
    split = run("align", *texts, "--tokenize", "--keep", "", "--format", "jsonl").stdout
    assert "'" in json.loads(split.splitlines()[0])["source"]


@pytest.mark.parametrize("suffix", ["links", "align", "pharaoh"])
def test_links_of_an_aligner_are_no_labels(desk: Desk, suffix: str) -> None:
    desk.gold.rename(desk.folder / f"t.{suffix}")
    found = run("train", desk.text, "-m", desk.folder / "N")
    assert f"t.{suffix}: is not learnt from" in found.stderr
    assert "--gold" in found.stderr
    assert load(desk.folder / "N").info()["labelled_pairs"] is None


@pytest.mark.parametrize("command", ["lexicon M -o -", "lexicon M --to moses -o -", "align t --directions -"])
def test_several_files_do_not_go_to_standard_output(desk: Desk, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.chdir(desk.folder)
    before = desk.contents()
    assert "PREFIX" in refused(*command.split())
    assert desk.contents() == before


def test_bad_lines_are_told_of_in_options(desk: Desk) -> None:
    both = write(desk.folder / "both", "a\tb", "c", "en\tfr")
    assert "--columns" in run("align", both, "--columns", "1,2", "-m", desk.model, "--skip-bad").stderr
