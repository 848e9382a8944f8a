"""`aligner align`, with a model and without: pipes, directions, pairs left empty, a summary, formats, refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from commands import invoke, refused, run, write

from aligner.model.model import Model
from corpora.link_files import read_links
from corpora.skipping import MAX_LENGTH
from features.translation.expectation import Pass
from features.translation.lexicon import KINDS, variants
from features.translation.training import train_translation

if TYPE_CHECKING:
    from tests.aligner.cli.conftest import Desk
if TYPE_CHECKING:
    pass


def lines(desk: Desk, between: str) -> bytes:
    """The text of the desk, a pair a line."""
    texts = (path.read_text("utf-8").splitlines() for path in (desk.source, desk.target))
    return "".join(f"{source}{between}{target}\n" for source, target in zip(*texts, strict=True)).encode()


def test_of_a_pipe_without_a_model_no_copy_is_left(desk: Desk) -> None:
    expected, before = run("align", desk.source, desk.target, "-q").stdout, desk.contents()
    run("align", "-", "-q", "-o", desk.folder / "F", stdin=lines(desk, "\t"))
    assert desk.contents() == {**before, "F": expected.encode()}
    assert run("align", "-", desk.target, "-q", stdin=desk.source.read_bytes()).stdout == expected


def test_a_pipe_is_refused_as_a_file_is(desk: Desk) -> None:
    assert "more than one ||| or tab" in refused("align", "-", line=2, stdin=b"a\tb\na\tb ||| c\n")
    assert "no ||| or tab" in refused("align", "-", "--format", "jsonl", line=2, stdin=b"a\tb\na b\n")


@pytest.mark.parametrize("more", [[], ["-m"], ["-m", "--resume"]])
def test_empty_files_have_no_links_and_are_no_error(desk: Desk, tmp_path: Path, more: list[str]) -> None:
    """A missing file, or one beside a text, is."""
    one, other, out = (tmp_path / name for name in ("e.en", "e.fr", "out"))
    options: list[object] = ["-m", desk.model, *more[1:]] if more else []
    for path in (one, other):
        path.touch()
    for _ in range(2 if "--resume" in more else 1):
        assert len(run("align", one, other, *options, "-o", out).stderr.splitlines()) >= 1
        assert out.read_bytes() == b""
    if "--resume" not in more:
        assert not run("align", "-", "-q", *options).stdout_bytes
        assert not run("align", one, "-q", *options).stdout_bytes
        assert "is empty" in refused("align", desk.source, desk.target, *options, "-o", tmp_path / "Z", "--remap", one)
    assert "has 64 more lines" in refused("align", one, desk.target, *options, "-o", tmp_path / "Z", "-q")
    assert "no such file" in refused("align", one, tmp_path / "missing", *options, "-o", tmp_path / "Z", "-q")


def test_directions(desk: Desk) -> None:
    out, prefix = desk.folder / "F", desk.folder / "P.gz"
    options = ["-q", "--format", "scored"]
    run("align", desk.text, "-o", out, "--directions", prefix, *options)
    assert out.read_text() == run("align", desk.text, *options).stdout
    one, other = (desk.folder / f"P.gz.{way}" for way in ("fwd", "rev"))
    assert refused("align", desk.text, "--directions", prefix, *options).startswith(f"{one}: file exists")
    for links, side in ((read_links(one), 1), (read_links(other), 0)):
        assert max(len(pair.sure) for pair in links) > 1
        assert all(len({link[side] for link in pair.sure}) == len(pair.sure) for pair in links), "a word has one link"
    bare = [run("align", desk.text, "--decoding", way, *options).stdout for way in ("forward", "reverse", "gdfa")]
    run("align", desk.text, "--unsupervised", "--directions", desk.folder / "B", *options)
    assert [(desk.folder / f"B.{way}").read_text() for way in ("fwd", "rev")] == bare[:2]
    for method in ("gdfa", "grow-diag-final-and"):
        joined = run("symmetrize", desk.folder / "B.fwd", desk.folder / "B.rev", "--method", method).stdout
        assert joined == re.sub(r":\S+", "", bare[2])


def test_directions_may_not_replace_the_text(desk: Desk) -> None:
    desk.source.rename(desk.folder / "t.fwd")
    message = refused("align", desk.folder / "t.fwd", desk.target, "--directions", desk.text, "--force", "-q")
    assert message.startswith(f"{desk.text}.fwd: is read here")


def broken(desk: Desk) -> list[bytes]:
    """The text with a line that is no pair, one that is not UTF-8, and one of ten words or more; that is line 5."""
    text = lines(desk, "\t").splitlines()
    text[1:5] = [b"broken", b"\xff\tx", b"", b"w " * 80 + b"\tw"]
    return text


def expected_links(desk: Desk, *arguments: object) -> list[str]:
    """The links of the sound lines, with empty ones for the others."""
    text = broken(desk)
    text[1] = text[2] = text[4] = b""
    return str(run("align", "-", "-q", *arguments, stdin=b"\n".join(text)).stdout).splitlines()


@pytest.mark.parametrize("with_model", [True, False])
@pytest.mark.parametrize("piped", [True, False])
@pytest.mark.parametrize("quiet", [["-q"], []])
def test_pairs_left_empty(desk: Desk, with_model: bool, piped: bool, quiet: list[str]) -> None:
    more = ["-m", desk.model] if with_model else []
    file = desk.folder / "tsv"
    file.write_bytes(b"\n".join(broken(desk)))
    source, stdin = ("-", file.read_bytes()) if piped else (str(file), b"")
    arguments = ["align", source, *more, "--max-length", 79, "--skip-bad", *quiet]
    result = run(*arguments, stdin=stdin)
    found = result.stdout.splitlines()
    assert found == expected_links(desk, *more)
    assert len(found) == desk.n_pairs
    assert [found[n] for n in (1, 2, 3, 4)] == [""] * 4
    assert found[5]
    told = [line for line in result.stderr.splitlines() if "left empty: " in line]
    assert [line.split(" (")[0] for line in told[:2]] == [
        f"left empty: {source}:2: no ||| or tab between source and target",
        f"left empty: {source}:3: not valid UTF-8",
    ]
    assert told[2:] == [
        f"pairs left empty: 3, the first at {source}:2; 2 broken, 1 with a side of more than 79 words "
        f"(--max-length; with {MAX_LENGTH:,} no pair takes more than 1 GiB)"
    ]
    result = invoke(*arguments[:-1] if quiet else arguments, "--max-length", 80, "--format", "jsonl", stdin=stdin)
    objects = [json.loads(line) for line in result.stdout.splitlines()]
    assert [len(pair["source"]) for pair in objects[1:5]] == [0, 0, 0, 80]


def test_long_pairs_are_left_empty_without_being_asked(desk: Desk, linked: Model) -> None:
    words = " ".join(["word"] * (MAX_LENGTH + 1))
    files = [write(desk.folder / name, "a house", words, "a") for name in ("a", "b")]
    for more in (["-m", desk.model], []):
        result = run("align", *files, *more)
        assert [bool(line) for line in result.stdout.split("\n")] == [True, False, True, False]
        assert "pairs left empty: 1, the first at" in result.stderr
        assert "broken" not in result.stderr
        assert f"more than {MAX_LENGTH:,} words (--max-length; with {MAX_LENGTH:,} no pair" in result.stderr
    assert f"default: ({MAX_LENGTH}: at most" in " ".join(run("align", "--help-all").stdout.split())
    with_links = write(desk.folder / "links", *[""] * 3)
    model = desk.folder / "L"
    linked.save(model)
    files = [write(path, "a", " ".join(["word"] * 3000), "a") for path in files]
    files[1] = write(files[1], "a", "b", "a")
    assert run("align", *files, "-m", model, "--links", with_links, "-q").stdout.count("\n") == 3


@pytest.mark.slow
def test_train_leaves_pairs_empty(desk: Desk) -> None:
    file = desk.folder / "tsv"
    file.write_bytes(b"\n".join(broken(desk)))
    assert "tsv:2: no |||" in refused("train", file, "-m", desk.folder / "X", "-q", line=2)
    lenient = ["--skip-bad", "--max-length", 79, "--gold", desk.text, "--set", "cross_validate=0"]
    for more in (lenient[:3], lenient, [*lenient[:3], "--update", desk.model]):
        result = run("train", file, "-m", desk.folder / "X", "--force", *more)
        assert "pairs left empty: 3, the first at" in result.stderr
        assert result.stderr.count("left empty: ") == 3


def test_the_summary(desk: Desk) -> None:
    pattern = r"([\d,]+) pairs, ([\d,]+) links, ([\d,]+) of ([\d,]+) words without a link, [\d.]+ s, written to (.*)"
    text = [path.read_text("utf-8").splitlines() for path in (desk.source, desk.target)]
    words = sum(len(line.split()) for side in text for line in side)
    for arguments, stdin in (
        ([desk.text, "-m", desk.model], b""),
        (["-", "-m", desk.model], lines(desk, "\t")),
        ([desk.text], b""),
        ([desk.text, "--decoding", "union"], b""),
    ):
        result = run("align", *arguments, stdin=stdin)
        pairs = [[link.split("-") for link in line.split()] for line in result.stdout.splitlines()]
        linked = sum(len({link[side] for link in pair}) for pair in pairs for side in (0, 1))
        numbers = [len(pairs), sum(map(len, pairs)), words - linked, words]
        (found,) = re.findall(pattern, result.stderr)
        assert found == (*(f"{number:,}" for number in numbers), "standard output")
    (found,) = re.findall(pattern, run("align", desk.text, "-m", desk.model, "-o", desk.folder / "F").stderr)
    assert found[-1] == str(desk.folder / "F")


def test_a_log_has_a_line_early(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before what takes long to import is there."""
    monkeypatch.setattr("aligner.progress.FIRST_LINE", 0.0)
    train = ["train", desk.source, desk.target, "-m", desk.folder / "X", "--force"]
    for arguments in (
        ["align", desk.text],
        ["align", desk.text, "-m", desk.model],
        ["info", desk.model, "--features"],
        train,
    ):
        assert run(*arguments).stderr.startswith("starting: aligner ")
        assert not run(*arguments, "-q").stderr


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

    monkeypatch.setattr("features.statistics.train_translation", train)
    lexicons = len(variants(KINDS))
    assert (
        passes("--unsupervised", "iterations=1")
        == passes("iterations=1")
        == passes("seconds=0")
        == passes()
        == lexicons
    )
    assert passes("iterations=3") == passes("iterations=3", "seconds=3600") == 3 * lexicons


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
    assert not output.exists()
    assert run("align", *empty, "-o", output).stderr == f"{empty[0]}: has no lines to align\n"
    assert output.read_bytes() == b""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-m M --decoding union", "--decoding has no effect with --model"),
        ("-m M --unsupervised 0.5", "--unsupervised has no effect with --model"),
        ("-m M --set null=0.5", "--set null has no effect with --model"),
        ("--set null=0", "between 0 and 1, not 0.0"),
        ("--set seconds=-1", "--set seconds must be a number at least 0, not -1.0"),
        ("--set iterations=x", "'x' is not a number"),
        ("--set magic=1", "there is no setting magic (choose from candidates, iterations, long_pairs"),
        ("--set offset=1", "there is no setting offset"),
        ("--set null", "is not NAME=VALUE"),
        ("--set null=0.1 --set null=0.2", "each name once"),
        ("--unsupervised 1.5", "--unsupervised takes a number from 0 to 1"),
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
