"""`aligner align`, with a model and without: directions, pairs left empty, long pairs, a summary."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from commands import invoke, refused, run, write

from aligner.model.model import Model
from corpora.link_files import read_links
from corpora.skipping import MAX_LENGTH

if TYPE_CHECKING:
    from tests.aligner.cli.conftest import Desk


def with_and_without_a_model(desk: Desk) -> list[list[object]]:
    return [["-m", desk.model], []]


def test_of_a_pipe_without_a_model_no_copy_is_left(desk: Desk) -> None:
    expected, before = run("align", desk.source, desk.target, "-q").stdout, desk.contents()
    run("align", "-", "-q", "-o", desk.folder / "F", stdin="\n".join(desk.joint("\t")).encode())
    assert desk.contents() == {**before, "F": expected.encode()}


def test_empty_files_have_no_links_and_are_no_error(desk: Desk) -> None:
    """A missing file, or one beside a text, is."""
    out, empty = desk.folder / "out", [write(desk.folder / name) for name in ("e.en", "e.fr")]
    for options in (*with_and_without_a_model(desk), ["-m", desk.model, "--resume"]):
        told = run("align", *empty, *options, "-o", out, "--force").stderr
        assert told.startswith(f"{empty[0]}: has no lines to align\n") or "--resume" in options
        assert out.read_bytes() == b""
        assert "has 64 more lines" in refused("align", empty[0], desk.target, *options, "-o", desk.folder / "Z", "-q")
        if "--resume" not in options:
            assert not run("align", "-", "-q", *options).stdout_bytes


def test_directions(desk: Desk) -> None:
    out, prefix = desk.folder / "F", desk.folder / "P.gz"
    options = ["-q", "--format", "scored"]
    run("align", desk.text, "-o", out, "--directions", prefix, *options)
    assert out.read_text() == run("align", desk.text, *options).stdout
    for way, side in (("fwd", 1), ("rev", 0)):
        links = [pair.sure for pair in read_links(f"{prefix}.{way}")]
        assert max(map(len, links)) > 1
        assert all(len({link[side] for link in pair}) == len(pair) for pair in links), "a word has one link"
    assert f"{prefix}.fwd: file exists" in refused("align", desk.text, "--directions", prefix, *options)
    desk.source.rename(desk.folder / "t.fwd")
    message = refused("align", desk.folder / "t.fwd", desk.target, "--directions", desk.text, "--force", "-q")
    assert message.startswith(f"{desk.text}.fwd: is read here")


def test_directions_are_joined_by_symmetrize(desk: Desk) -> None:
    run("align", desk.text, "--unsupervised", "--directions", desk.folder / "B", "-q")
    ways = [desk.folder / "B.fwd", desk.folder / "B.rev"]
    bare = [run("align", desk.text, "--decoding", way, "-q").stdout for way in ("forward", "reverse", "gdfa")]
    assert [re.sub(r":\S+", "", way.read_text()) for way in ways] == bare[:2]
    assert run("symmetrize", *ways, "--method", "gdfa").stdout == bare[2]


@pytest.mark.parametrize("piped", [True, False])
def test_pairs_left_empty(desk: Desk, piped: bool) -> None:
    """One that is no pair, one that is not UTF-8, one without words, and one of eighty words."""
    lines = [line.encode() for line in desk.joint("\t")]
    lines[1:5] = [b"broken", b"\xff\tx", b"", b"w " * 80 + b"\tw"]
    (desk.folder / "tsv").write_bytes(b"\n".join(lines))
    source, stdin = ("-", b"\n".join(lines)) if piped else (str(desk.folder / "tsv"), b"")
    lines[1] = lines[2] = lines[4] = b""
    for more in with_and_without_a_model(desk):
        arguments = ["align", source, *more, "--skip-bad", "--max-length"]
        for quiet in ([], ["-q"]):
            result = run(*arguments, 79, *quiet, stdin=stdin)
            assert result.stdout == run("align", "-", "-q", *more, stdin=b"\n".join(lines)).stdout
            told = [line for line in result.stderr.splitlines() if "left empty: " in line]
            assert [line.split(" (")[0] for line in told] == [
                f"left empty: {source}:2: no ||| or tab between source and target",
                f"left empty: {source}:3: not valid UTF-8",
                f"pairs left empty: 3, the first at {source}:2; 2 broken, 1 with a side of more than 79 words",
            ]
        found = run(*arguments, 80, "--format", "jsonl", stdin=stdin).stdout.splitlines()[1:5]
        assert [len(json.loads(pair)["source"]) for pair in found] == [0, 0, 0, 80]


@pytest.mark.slow
def test_train_leaves_pairs_empty(desk: Desk) -> None:
    file = write(desk.folder / "tsv", "broken", *desk.joint("\t")[1:], f"{'w ' * 80}\tw")
    assert "tsv:1: no |||" in refused("train", file, "-m", desk.folder / "X", "-q", line=1)
    for more in ([], ["--gold", desk.text, "--set", "cross_validate=0"], ["--update", desk.model]):
        result = run("train", file, "-m", desk.folder / "X", "--force", "--skip-bad", "--max-length", 79, *more)
        assert "pairs left empty: 2, the first at" in result.stderr
        assert result.stderr.count("left empty: ") == 2


def test_long_pairs_are_left_empty_without_being_asked(desk: Desk, linked: Model) -> None:
    words = " ".join(["word"] * (MAX_LENGTH + 1))
    files = [write(desk.folder / name, "a house", words, "a") for name in ("a", "b")]
    for more in with_and_without_a_model(desk):
        result = run("align", *files, *more)
        assert [bool(line) for line in result.stdout.split("\n")] == [True, False, True, False]
        assert f"more than {MAX_LENGTH:,} words (--max-length; with {MAX_LENGTH:,} no pair" in result.stderr
    linked.save(desk.folder / "L")
    files[1] = write(files[1], "a", "b", "a")
    given = ["-m", desk.folder / "L", "--links", write(desk.folder / "links", *[""] * 3), "-q"]
    assert run("align", *files, *given).stdout.count("\n") == 3
    assert f"default: ({MAX_LENGTH}: at most" in " ".join(run("align", "--help-all").stdout.split())


@pytest.mark.parametrize("with_model", [True, False])
@pytest.mark.parametrize("piped", [True, False])
def test_what_becomes_of_long_pairs(desk: Desk, with_model: bool, piped: bool) -> None:
    lines = desk.joint(" ||| ")
    is_long = [max(len(side.split()) for side in line.split("|||")) > 12 for line in lines]
    text = write(desk.folder / "t.txt", *lines)
    stdin = text.read_bytes() if piped else b""
    model = ["-m", desk.model] if with_model else []
    options = ["align", "-" if piped else text, *model, "-q", "--max-length", 12, "--set"]
    empty, drop = (run(*options, f"long_pairs={what}", stdin=stdin) for what in ("empty", "drop"))
    found = list(zip(empty.stdout.splitlines(), is_long, strict=True))
    assert not any(links for links, long in found if long)
    assert drop.stdout.count("\n") == is_long.count(False)
    if with_model:
        assert drop.stdout.splitlines() == [links for links, long in found if not long]
    first = is_long.index(True) + 1
    for result, what in ((empty, "empty"), (drop, "empty, or out if they are long")):
        assert f"pairs left {what}: {sum(is_long)}, the first at {'-' if piped else text}:{first}; " in result.stderr
    message = invoke(*options, "long_pairs=error", stdin=stdin)
    assert message.exit_code == 1
    hint = "raise --max-length, or choose another way for --set long_pairs"
    assert f":{first}: a side has more than 12 words ({hint})" in message.stderr


def test_the_summary(desk: Desk) -> None:
    pattern = r"([\d,]+) pairs, ([\d,]+) links, ([\d,]+) of ([\d,]+) words without a link, [\d.]+ s, written to (.*)"
    words = sum(len(path.read_text("utf-8").split()) for path in (desk.source, desk.target))
    for more in (*with_and_without_a_model(desk), ["--decoding", "union"]):
        result = run("align", desk.source, desk.target, *more)
        pairs = [[link.split("-") for link in line.split()] for line in result.stdout.splitlines()]
        linked = sum(len({link[side] for link in pair}) for pair in pairs for side in (0, 1))
        numbers = [f"{number:,}" for number in (len(pairs), sum(map(len, pairs)), words - linked, words)]
        assert re.findall(pattern, result.stderr) == [(*numbers, "standard output")]
        assert "t.en = source, t.fr = target" in result.stderr or more[:1] == ["-m"]
        assert f"written to {desk.folder / 'F'}\n" in run("align", desk.text, *more, "-o", desk.folder / "F").stderr
        (desk.folder / "F").unlink()


def test_a_log_has_a_line_early(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before what takes long to import is there."""
    monkeypatch.setattr("aligner.progress.FIRST_LINE", 0.0)
    train = ["train", desk.source, desk.target, "-m", desk.folder / "X", "--force"]
    for arguments in (["align", desk.text], ["info", desk.model, "--features"], train):
        assert run(*arguments).stderr.startswith("starting: aligner ")
        assert not run(*arguments, "-q").stderr
