"""``aligner align`` without a model: its lines, its formats, and what it refuses."""

from __future__ import annotations

import gzip
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


def test_the_decodings_are_those_of_the_library() -> None:
    assert [way for part in get_args(options.Decoding) for way in get_args(part) or [part]] == ["assignment", *METHODS]


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


def test_the_threshold_is_used(texts: list[Path]) -> None:
    for decoding in ([], ["--decoding", "assignment"]):
        few, default, many = (
            run("align", *more, *texts, "-q", *decoding).stdout.split()
            for more in (["--unsupervised", 0.9], ["--unsupervised"], ["--unsupervised=0.1"])
        )
        assert len(few) < len(default) < len(many)


def test_a_higher_prior_of_null_gives_fewer_links(texts: list[Path]) -> None:
    def links(*more: object) -> int:
        return len(run("align", *texts, "-q", *more).stdout.split())

    assert links("--set", "null=0.9") < links()
    alone = ["--unsupervised"]  # the default weights know of words that NULL has taken, and make up for some
    assert links(*alone, "--set", "null=0.9") < links(*alone) <= links(*alone, "--set", "null=0.02")


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


def test_every_form_of_the_text_gives_the_same_links(texts: list[Path], tmp_path: Path) -> None:
    expected = run("align", *texts, "-q").stdout
    source, target = (path.read_bytes() for path in texts)
    zipped = tmp_path / "z.en.gz"
    zipped.write_bytes(gzip.compress(source))
    odd = tmp_path / "z.fr"
    odd.write_bytes(b"\xef\xbb\xbf" + target.replace(b"\n", b"\r\n"))
    joint = tmp_path / "joint"
    joint.write_bytes(
        b"".join(b"%s ||| %s\n" % pair for pair in zip(source.splitlines(), target.splitlines(), strict=True))
    )
    for form in ([zipped, odd], [joint]):
        assert run("align", *form, "-q").stdout == expected
    assert run("align", "-", texts[1], "-q", stdin=source).stdout == expected


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


def test_an_old_file_is_kept_without_force(texts: list[Path], tmp_path: Path) -> None:
    output = write(tmp_path / "F", "old")
    run("align", *texts, "-o", output, "-q", code=1)
    assert output.read_text() == "old\n"
    run("align", *texts, "-o", output, "-q", "--force")
    assert output.read_text() == run("align", *texts, "-q").stdout
    assert [*tmp_path.iterdir()] == [output]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a", "b", "-m", "M", "--decoding", "union"], "--decoding has no effect with --model"),
        (["a", "b", "-m", "M", "--unsupervised", "0.5"], "--unsupervised has no effect with --model"),
        (["a", "b", "-m", "M", "--set", "null=0.5"], "--set null has no effect with --model"),
        (["a", "b", "-m", "M", "--set", "iterations=5"], "--set iterations has no effect with --model"),
        (["a", "b", "-m", "M", "--set", "seconds=5"], "--set seconds has no effect with --model"),
        (["a", "b", "--set", "null=0"], "between 0 and 1, not 0.0"),
        (["a", "b", "--set", "null=nan"], "between 0 and 1, not nan"),
        (["a", "b", "--set", "seconds=-1"], "--set seconds must be a number at least 0, not -1.0"),
        (["a", "b", "--set", "seconds=nan"], "--set seconds must be a number at least 0, not nan"),
        (["a", "b", "--set", "iterations=0"], "from 1 to 1000, not 0"),
        (["a", "b", "--set", "iterations=x"], "'x' is not a number"),
        (["a", "b", "--set", "magic=1"], "there is no setting magic (choose from candidates, iterations, null"),
        (["a", "b", "--set", "offset=1"], "there is no setting offset"),
        (["a", "b", "--set", "null"], "is not NAME=VALUE"),
        (["a", "b", "--set", "null=0.1", "--set", "null=0.2"], "each name once"),
        (["a", "b", "--unsupervised", "1.5"], "from 0 to 1, not 1.5"),
        (["a", "b", "--unsupervised=-1"], "from 0 to 1, not -1.0"),
        (["a", "b", "--links", "c", "--skip-bad"], "--skip-bad has no effect with --links"),
        (["a", "b", "--links", "c", "--unsupervised"], "--links has no effect with --unsupervised"),
        (["a", "b", "-m", "M", "--directions", "P"], "--directions has no effect with --model"),
        (["a", "b", "-m", "M", "--links", "c", "--resume"], "--resume has no effect with --links"),
        (["a", "b", "-m", "M", "--links", "c", "--max-length", "9"], "--max-length has no effect with --links"),
        (
            ["a", "b", "--decoding", "union", "--unsupervised"],
            "no effect with --decoding union, which has no threshold",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(arguments: list[str], message: str) -> None:
    result = run("align", *arguments, code=2)
    assert not result.stdout
    assert result.stderr.count("\n") == 1
    assert message in result.stderr


@pytest.mark.parametrize("more", [["--unsupervised=x"], ["--decoding", "best"], ["--decoding", "soft"]])
def test_wrong_usage(more: list[str]) -> None:
    assert "Usage" in run("align", "a", "b", *more, code=2).stderr
