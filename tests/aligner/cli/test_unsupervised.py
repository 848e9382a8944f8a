"""``aligner align`` without a model: its lines, its formats, and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest
from commands import run, write

from aligner.cli import options
from corpora.symmetrize import METHODS
from features.translation.expectation import Pass
from features.translation.lexicon import KINDS
from features.translation.training import train_translation

if TYPE_CHECKING:
    pass


@pytest.fixture
def texts(sample: Path) -> list[Path]:
    return [sample / "test.en", sample / "test.fr"]


@pytest.mark.slow
def test_quick_start(sample: Path, tmp_path: Path) -> None:
    links = tmp_path / "F"
    files = [sample / "train.en", sample / "train.fr"]
    result = run("align", *files, "-o", links)
    assert not result.stdout
    assert "train.en = source, train.fr = target" in result.stderr
    assert len(links.read_text().splitlines()) == len(files[0].read_text().splitlines())
    assert [*tmp_path.iterdir()] == [links]
    (report,) = json.loads(run("evaluate", sample / "train.wa", links, "--format", "json").stdout)
    assert report["aer"] < 20
    for form in (files, [sample / "train"]):
        again = run("align", *form, "-q")
        assert again.stdout == links.read_text()
        assert not again.stderr


def test_formats_agree(texts: list[Path]) -> None:
    outputs = {f: run("align", *texts, "-q", "--format", f).stdout.splitlines() for f in get_args(options.Format)}
    pairs = zip(*(path.read_text().splitlines() for path in texts), strict=True)
    for pair, links, scored, line in zip(pairs, outputs["pharaoh"], outputs["scored"], outputs["jsonl"], strict=True):
        entry = json.loads(line)
        assert [entry["source"], entry["target"]] == [text.split() for text in pair], "as written, not as counted"
        assert links == " ".join(f"{j}-{k}" for j, k, _ in entry["links"])
        assert scored == " ".join(f"{j}-{k}:{score:.4f}" for j, k, score in entry["links"])
        assert all(0 < score < 1 for _, _, score in entry["links"])


@pytest.mark.parametrize("decoding", [None, "assignment", *METHODS])
def test_decodings_keep_empty_lines_and_score_above_zero(
    texts: list[Path], tmp_path: Path, decoding: str | None
) -> None:
    empty = {0: (True, True), 7: (True, False), 9: (False, True), 63: (True, True)}
    files = []
    for side, path in enumerate(texts):
        lines = [
            "" if empty.get(n, (False, False))[side] else line for n, line in enumerate(path.read_text().splitlines())
        ]
        files.append(write(tmp_path / path.name, *lines))
    way = ["--unsupervised"] if decoding is None else ["--decoding", decoding]
    lines = run("align", *files, "-q", *way, "--format", "scored").stdout.split("\n")
    assert lines.pop() == ""
    assert len(lines) == 64
    assert {n for n, line in enumerate(lines) if not line} == set(empty)
    values = [float(link.split(":")[1]) for line in lines for link in line.split()]
    assert all(0 < value <= 1 for value in values)
    jsonl = run("align", *files, "-q", *way, "--format", "jsonl").stdout.splitlines()
    assert [len(json.loads(line)["links"]) for line in jsonl] == [len(line.split()) for line in lines]


def test_thresholds_and_priors_of_null_arrive(texts: list[Path]) -> None:
    """The default weights know of words that NULL has taken, and make up for some."""

    def links(*more: object) -> int:
        return len(run("align", *texts, "-q", *more).stdout.split())

    alone = links("--unsupervised")
    assert links("--unsupervised", 0.9) < alone < links("--unsupervised=0.1")
    assert links("--set", "null=0.9") < links()
    assert links("--unsupervised", "--set", "null=0.9") < alone


@pytest.mark.slow
def test_iterations_and_seconds_decide_how_many_passes_are_made(
    texts: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Pass] = []

    def train(*arguments: Any, on_pass: Any, **settings: Any) -> Any:
        return train_translation(*arguments, on_pass=lambda found: (told.append(found), on_pass(found)), **settings)

    def passes(*more: str) -> int:
        told.clear()
        run("align", *texts, "-q", *(word for one in more for word in (["--set"] if "=" in one else []) + [one]))
        return sum(found.hmm for found in told)

    monkeypatch.setattr("aligner.model.unsupervised.train_translation", train)
    lexicons = len(KINDS)
    assert (
        passes("--unsupervised", "iterations=1")
        == passes("iterations=1")
        == passes("seconds=0")
        == passes()
        == lexicons
    )
    assert passes("iterations=3") == passes("iterations=3", "seconds=3600") == 3 * lexicons


@pytest.mark.parametrize("sides", ["one", "both"])
def test_a_text_that_shrinks_during_the_run(
    texts: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sides: str
) -> None:
    files = [write(tmp_path / text.name, *text.read_text().splitlines()) for text in texts]

    def train(*arguments: Any, **settings: Any) -> Any:
        for file in files[: 1 if sides == "one" else 2]:
            write(file, *file.read_text().splitlines()[:5])
        return train_translation(*arguments, **settings)

    monkeypatch.setattr("aligner.model.unsupervised.train_translation", train)
    result = run("align", *files, "--format", "jsonl", "-q", "-o", tmp_path / "links", code=1)
    assert re.fullmatch(rf".*{files[0].name}:5: ends here, but .*\n", result.stderr)
    assert not (tmp_path / "links").exists()


def test_bad_text_is_the_same_line_as_with_a_model(texts: list[Path], model: Path, tmp_path: Path) -> None:
    output = tmp_path / "F"
    short = write(tmp_path / "short.fr", *texts[1].read_text().splitlines()[:-3])
    latin = tmp_path / "latin.fr"
    latin.write_bytes(texts[1].read_text().encode("cp1252"))
    for target in (short, latin, tmp_path / "missing.fr", tmp_path):
        messages = {
            run("align", texts[0], target, "-o", output, *more, code=1).stderr for more in ([], ["-m", model], ["-q"])
        }
        assert len(messages) == 1
        assert re.fullmatch(r".+?(:\d+)?: .+ \(.+\)\n", messages.pop())
    empty = write(tmp_path / "empty.en"), write(tmp_path / "empty.fr")
    assert "empty" in run("align", *empty, "-o", output, code=1).stderr
    assert not output.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-m M --decoding union", "--decoding has no effect with --model"),
        ("-m M --unsupervised 0.5", "--unsupervised has no effect with --model"),
        ("-m M --set null=0.5", "--set null has no effect with --model"),
        ("--set null=0", "between 0 and 1, not 0.0"),
        ("--set seconds=-1", "--set seconds must be a number at least 0, not -1.0"),
        ("--set iterations=x", "'x' is not a number"),
        ("--set magic=1", "there is no setting magic (choose from candidates, iterations, null"),
        ("--set offset=1", "there is no setting offset"),
        ("--set null", "is not NAME=VALUE"),
        ("--set null=0.1 --set null=0.2", "each name once"),
        ("--unsupervised 1.5", "from 0 to 1, not 1.5"),
        ("--links c --skip-bad", "--skip-bad has no effect with --links"),
        ("-m M --directions P", "--directions has no effect with --model"),
        ("-m M --links c --resume", "--resume has no effect with --links"),
        ("-m M --links c --max-length 9", "--max-length has no effect with --links"),
        ("--decoding union --unsupervised", "no effect with --decoding union, which has no threshold"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: str, message: str) -> None:
    """What cannot be by itself is in the tests of the library and of all options."""
    result = run("align", "a", "b", *options.split(), code=2)
    assert not result.stdout
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
