"""Which tokens links count, and what a pipe gives: the same words throughout, or an error."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commands import invoke, refused, run, write

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
    texts, links = [desk.folder / f"{name}.en", desk.folder / f"{name}.fr"], desk.folder / "L"
    aligned = run("align", *texts, "-m", tokenizing, "--format", "jsonl").stdout
    pairs = [json.loads(line) for line in aligned.splitlines()]
    assert "," in pairs[0]["source"]
    assert "--remap" in run("align", *texts, "-m", tokenizing, "-o", links).stderr
    assert not run("align", *texts, "-m", tokenizing, "-q").stderr
    assert run("score", *texts, links, "-m", tokenizing, "--format", "jsonl").stdout == aligned
    page = run("report", *texts, links, "--tokenize", "-o", "-").stdout
    assert "is out of range" not in page
    assert run("show", *texts, links, "--tokenize", "-n", "1").stdout.splitlines()[1].count(",") <= 2
    lexicon = desk.folder / "lexicon"
    run("lexicon", *texts, links, "--tokenize", "-o", lexicon)
    counted = {tuple(line.split("\t")[:2]) for line in Path(f"{lexicon}.tsv").read_text().splitlines()}
    assert counted >= {(p["source"][j], p["target"][k]) for p in pairs for j, k, _ in p["links"]}
    if name == "u":
        write(links, *["3-3"] * 3)
        for command in ("report", "show", "lexicon"):
            assert "--tokenize" in refused(command, *texts, links, line=1)
    result = invoke("align", *texts, "-m", tokenizing, "--links", links)
    assert result.exit_code == 2
    assert "count tokens split by spaces" in result.stderr


def test_tokens_without_a_model(desk: Desk) -> None:
    """`align --tokenize` of raw text is `align` of the same text in tokens."""
    normalizer = Normalizer(tokenize=True)
    raw = [desk.folder / f"raw.{suffix}" for suffix in ("en", "fr")]
    split = [desk.folder / f"split.{suffix}" for suffix in ("en", "fr")]
    for side, one, other in zip((desk.source, desk.target), raw, split, strict=True):
        lines = side.read_text("utf-8").replace(" ,", ",").replace(" .", ".").splitlines()
        write(one, *lines)
        write(other, *[" ".join(normalizer.tokens(line)) for line in lines])
    for options in ([], ["--format", "jsonl"], ["--sample", 60], ["--unsupervised", "--directions", desk.folder / "D"]):
        found = run("align", *raw, "--tokenize", "--force", *options)
        assert found.stdout == run("align", *split, "-q", "--force", *options).stdout
        assert ("--remap with the text itself" in found.stderr) == ("jsonl" not in options)
    assert "like 'house.' (--tokenize splits" in re.sub("'.*?'", "'house.'", run("align", *raw).stderr)
    assert "--tokenize splits" not in run("align", *split).stderr
    entry = write(desk.folder / "entries", "old, house\tmaison")
    assert run("align", *raw, "--tokenize", "--dictionary", entry).exit_code == 0
    links = write(desk.folder / "L", *[""] * 64)
    assert "count tokens split by spaces" in run("align", *raw, "--tokenize", "--links", links, code=2).stderr
    assert "--tokenize" in run("align", *raw, "--tokenize", "-m", desk.model, code=2).stderr


@pytest.mark.parametrize("suffix", ["links", "align", "pharaoh"])
def test_links_of_an_aligner_are_no_labels(desk: Desk, suffix: str) -> None:
    desk.gold.rename(desk.folder / f"t.{suffix}")
    found = run("train", desk.text, "-m", desk.folder / "N")
    assert f"t.{suffix}: is not learnt from" in found.stderr
    assert "--gold" in found.stderr
    assert json.loads(run("info", desk.folder / "N", "--format", "json").stdout)["labelled_pairs"] is None
    run("train", desk.text, "--gold", desk.text, "--set", "max_passes=1", "-m", desk.folder / "G")
    assert json.loads(run("info", desk.folder / "G", "--format", "json").stdout)["labelled_pairs"] == desk.n_pairs


def test_the_corpus_decides_the_order_of_gold(desk: Desk) -> None:
    """Of two files in the other order than the alphabet's, and of labels that count as they stand there."""
    turned = desk.folder / "g"
    run("convert", desk.gold, f"{turned}.wa", "--to", "pharaoh", "--transpose")
    for path in (desk.source, desk.target):
        write(turned.with_suffix(path.suffix), *path.read_text("utf-8").splitlines())
    found = run("train", desk.target, desk.source, "--gold", turned, "--set", "max_passes=1", "-m", desk.folder / "G")
    assert "g.fr = source, g.en = target" in found.stderr


@pytest.mark.parametrize("command", [
    ["lexicon", "M", "-o", "-"], ["lexicon", "M", "--to", "moses", "-o", "-"],
    ["align", "t", "--directions", "-"],
])  # fmt: skip
def test_several_files_do_not_go_to_standard_output(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.chdir(desk.folder)
    before = desk.contents()
    assert "PREFIX" in refused(*command)
    assert desk.contents() == before


def test_bad_lines_are_told_of_in_options(desk: Desk) -> None:
    both = write(desk.folder / "both", "a\tb", "c", "en\tfr")
    assert "--columns" in run("align", both, "--columns", "1,2", "-m", desk.model, "--skip-bad").stderr
