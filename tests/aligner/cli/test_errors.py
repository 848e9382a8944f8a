"""What users get wrong: one line that names the place and the remedy, an exit code, and no half-made file."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commands import TIMEOUT, invoke, refused, start, write

from corpora.errors import CorpusError

if TYPE_CHECKING:
    from tests.aligner.cli.conftest import Desk


def train(desk: Desk, *corpora: object, gold: Sequence[object] = ()) -> list[object]:
    return ["train", *corpora, *(part for path in gold for part in ("--gold", path)), "-m", desk.folder / "X", "-q"]


def test_hints_name_no_option_that_the_command_does_not_have(desk: Desk) -> None:
    """`refused` looks at that: align has no --source, say."""
    write(desk.folder / "t.de", *["a"] * desk.n_pairs)
    for command in (["align", desk.text], train(desk, desk.text), ["evaluate", desk.text, desk.gold]):
        assert "choose the source and target language, or give two files" in refused(*command)
    assert "--force" in refused("align", desk.source, desk.target, "-o", desk.gold)
    assert "(give it as --text)" in refused("convert", desk.gold, "-", "--to", "giza")


def test_missing_files(desk: Desk) -> None:
    nothing, before = desk.folder / "nothing", desk.contents()
    for arguments in (
        train(desk, nothing),
        train(desk, f"{nothing}.en", f"{nothing}.fr"),
        train(desk, desk.text, gold=[nothing]),
        [*train(desk, desk.text), "--links", nothing],
        ["align", nothing, "-m", desk.model],
        ["align", desk.source, nothing, "-m", desk.model],
        ["align", desk.text, "-m", nothing],
        ["evaluate", nothing, desk.gold],
        ["evaluate", desk.gold, nothing],
        ["convert", nothing, "-", "--to", "talp"],
        ["convert", desk.gold, "-", "--to", "giza", "--text", nothing],
        ["symmetrize", nothing, desk.gold],
        ["symmetrize", desk.gold, nothing],
    ):
        assert "nothing" in refused(*arguments)
    assert desk.contents() == before


def test_folders_in_place_of_files(desk: Desk) -> None:
    folder = desk.folder / "folder"
    folder.mkdir()
    before = desk.contents()
    for arguments in (
        train(desk, folder),
        ["train", desk.text, "-m", folder, "-q"],
        ["align", folder, "-m", desk.model],
        ["align", desk.source, folder, "-m", desk.model],
        ["align", desk.text, "-m", folder],
        ["align", desk.text, "-m", desk.model, "-o", folder],
        ["evaluate", desk.gold, folder],
        ["convert", folder, "-", "--to", "talp"],
        ["convert", desk.gold, folder, "--to", "talp", "--force"],
        ["symmetrize", desk.gold, folder],
    ):
        assert str(folder) in refused(*arguments)
    assert "create" in refused("train", desk.text, "-m", desk.folder / "new" / "M", "-q")
    assert desk.contents() == before


def test_a_text_without_its_translation(desk: Desk) -> None:
    for arguments in (
        train(desk, desk.source),
        train(desk, desk.source, desk.folder / "misspelt", gold=[desk.text]),
        train(desk, desk.source, desk.gold),
        ["align", desk.source, "-m", desk.model],
    ):
        assert refused(*arguments).startswith(f"{desk.source}: is one text, without its translation")
    glued = write(desk.folder / "glued", "a house|||une maison")
    assert "||| needs a blank on each side" in refused("align", glued)


def test_existing_files_stay(desk: Desk) -> None:
    before = desk.contents()
    for arguments in (
        ["train", desk.text, "-m", desk.model, "-q"],
        [*train(desk, desk.text), "--trace", desk.gold],
        ["align", desk.text, "-m", desk.model, "-o", desk.gold],
        ["convert", desk.gold, desk.source, "--to", "talp"],
        ["symmetrize", desk.gold, desk.gold, "-o", desk.source],
    ):
        assert "--force" in refused(*arguments)
    assert desk.contents() == before


def test_an_empty_corpus(desk: Desk) -> None:
    for path in (desk.source, desk.target, desk.gold):
        path.write_bytes(b"")
    assert "empty" in refused(*train(desk, desk.text))
    assert "empty" in refused("align", desk.source, "-m", desk.model)
    assert "empty" in refused(*train(desk, desk.source, desk.target))
    assert "no sentence pairs" in refused("evaluate", desk.gold, desk.gold)
    assert "no lines" in refused("align", desk.text, "-m", desk.model)
    assert "no lines" in refused("align", desk.source, desk.target, "-m", desk.model)


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_side_that_is_one_line_short(desk: Desk, side: str) -> None:
    path: Path = getattr(desk, side)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    before = desk.contents()
    for arguments in (
        train(desk, desk.text),
        train(desk, desk.source, desk.target, gold=[desk.text]),
        ["align", desk.text, "-m", desk.model],
        ["align", desk.source, desk.target, "-m", desk.model, "-o", desk.folder / "F"],
        ["align", desk.text, "-m", desk.model, "-o", desk.gold, "--force"],
    ):
        message = refused(*arguments, line=desk.n_pairs - 1)
        assert message.startswith(f"{path}:")
        assert "1 more line" in message
    assert desk.contents() == before


@pytest.mark.parametrize("side", ["source", "target"])
def test_text_that_is_not_utf8(desk: Desk, side: str) -> None:
    path: Path = getattr(desk, side)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[6] = b"caf\xe9 " + lines[6]
    path.write_bytes(b"".join(lines))
    before = desk.contents()
    for arguments in (
        train(desk, desk.text),
        ["align", desk.text, "-m", desk.model],
        ["align", desk.source, desk.target, "-m", desk.model, "-o", desk.gold, "--force"],
    ):
        message = refused(*arguments, line=7)
        assert message.startswith(f"{path}:")
        assert "UTF-8" in message
    assert desk.contents() == before


@pytest.mark.parametrize(
    ("line", "what"),
    [(b"a ||| \xff", "UTF-8"), (b"a b", r"no \|\|\|"), (b"a ||| b ||| c", "more than"), (b"a\tb ||| c", "more than")],
)
def test_broken_lines_of_standard_input(desk: Desk, line: bytes, what: str) -> None:
    """Answers to the lines before stand on standard output, but not in a file that would not be whole."""
    arguments, text = ("align", "-", "-m", desk.model), b"the ||| la\n\n%s\nc ||| d\n" % line
    result = invoke(*arguments, stdin=text)
    assert (result.exit_code, result.stdout) == (1, "0-0\n\n")
    assert re.search(f"^-:3: .*{what}", result.stderr)
    assert re.search(what, refused(*arguments, "-o", desk.folder / "F", stdin=text, line=3))
    assert not (desk.folder / "F").exists()


@pytest.mark.parametrize(("token", "what"), [("99-2", "out of range"), ("2-99", "out of range"), ("9-x", "'9-x'")])
def test_broken_gold(desk: Desk, token: str, what: str) -> None:
    lines = desk.gold.read_text().splitlines()
    good = desk.folder / "good"
    good.write_text("\n".join(lines))
    lines[2] += f" {token}"
    desk.gold.write_text("\n".join(lines))
    before = desk.contents()
    commands = [
        train(desk, desk.text),
        train(desk, desk.source, desk.target, gold=[desk.text]),
        [*train(desk, desk.text), "--links", desk.gold],
        ["evaluate", desk.text, good],
        ["convert", desk.gold, desk.folder / "out", "--to", "giza", "--text", desk.text],
        ["convert", desk.text, good, "--to", "talp", "--force"],
    ]
    if what != "out of range":  # without text nothing is known to be out of range
        commands += [
            ["evaluate", desk.gold, good],
            ["evaluate", good, desk.gold],
            ["convert", desk.gold, desk.folder / "out", "--to", "talp"],
            ["symmetrize", desk.gold, good, "-o", desk.folder / "out"],
            ["symmetrize", good, desk.gold, "-o", desk.model, "--force"],
        ]
    for arguments in commands:
        message = refused(*arguments, line=3)
        assert what in message
        assert message.startswith(f"{desk.gold}:")
    assert desk.contents() == before


def test_links_to_judge_must_fit_the_text_where_it_is_known(desk: Desk) -> None:
    wrong = desk.folder / "wrong"
    lines = desk.gold.read_text().splitlines()
    wrong.write_text("\n".join([lines[0], "0-99", *lines[2:]]))
    assert "0-99 is out of range" in refused("evaluate", desk.text, wrong, line=2)


def test_what_a_message_quotes_is_short_and_does_nothing_to_a_terminal(desk: Desk) -> None:
    for good in (b"0-0", b"1 1 1"):  # Pharaoh and NAACL
        desk.gold.write_bytes(good + b"\n" + good + b" \x1b[2J\x00\r" + b"x" * 10_000 + b"\n")
        message = refused("evaluate", desk.gold, desk.gold, line=2)
        assert len(message) < 300 + len(str(desk.folder))
        assert "\\x1b[2J" in message
        assert message.isprintable()


def test_links_of_another_length(desk: Desk) -> None:
    short, n = desk.folder / "short", desk.n_pairs
    short.write_text("".join(desk.gold.read_text().splitlines(keepends=True)[:-1]))
    assert str(n) in refused("evaluate", desk.gold, short, line=n - 1)
    assert str(n) in refused("evaluate", short, desk.gold, line=n - 1)
    assert str(n) in refused("evaluate", desk.text, short, line=n - 1)
    later = desk.folder / "later"  # of which no link is where it belongs
    later.write_text("".join(desk.gold.read_text().splitlines(keepends=True)[1:]))
    assert f"{n - 1} lines" in refused("evaluate", desk.text, later, line=n - 1)
    message = invoke("convert", later, desk.folder / "out", "--to", "giza", "--text", desk.text).stderr
    assert f"there are links for {n - 1} pairs, but {n} pairs of text" in message
    for files in ((short, desk.gold), (desk.gold, short)):
        message = refused("symmetrize", *files, "-o", desk.folder / "out", line=n - 1)
        assert message.startswith(f"{short}:")
    refused(*train(desk, desk.text), "--links", short, line=n - 1)
    desk.gold.write_text(short.read_text())
    refused(*train(desk, desk.text), line=n - 1)
    assert not (desk.folder / "out").exists()


def test_links_that_the_model_does_not_know(desk: Desk) -> None:
    assert "--links" in refused("align", desk.text, "-m", desk.model, "--links", desk.gold)


def test_files_in_the_order_of_another_direction(desk: Desk) -> None:
    message = refused("align", desk.target, desk.source, "-m", desk.model)
    assert "fr-en" in message
    assert "other order" in message


def test_unknown_formats(desk: Desk) -> None:
    for option in (["--to", "foo"], ["--to", "giza", "--from", "foo"], ["--to", "talp", "--from", "foo"]):
        message = refused("convert", desk.gold, desk.folder / "out", *option)
        assert "unknown links format 'foo'" in message
        assert "naacl" in message, "it says which formats there are"
    assert "--text" in refused("convert", desk.gold, desk.folder / "out", "--to", "giza")
    assert not (desk.folder / "out").exists()


def test_broken_models(desk: Desk, model: Path) -> None:
    whole = model.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    noise = bytes(n * 73 % 251 for n in range(5000))
    newer = whole[:8] + struct.pack("<I", 1 + struct.unpack("<I", whole[8:12])[0]) + whole[12:]
    cases = {
        b"": "empty",
        whole[:5]: "cut off",
        whole[:1000]: "cut off",
        whole[:-10]: "cut off",
        bytes(flipped): "damaged",
        noise: "not a model",
        newer: "newer",
    }
    for content, what in cases.items():
        desk.model.write_bytes(content)
        message = refused("align", desk.text, "-m", desk.model, "-o", desk.folder / "F")
        assert what in message
        assert message.startswith(f"{desk.model}:")
    assert not (desk.folder / "F").exists()


@pytest.mark.parametrize(
    "wrong",
    [
        ["--bogus"],
        ["--set", "regularization=0"],
        ["--set", "regularization=-1"],
        ["--set", "regularization=nan"],
        ["--set", "miss_cost=-1"],
        ["--set", "center=here"],
        ["--set", "false_cost=inf"],
        ["--set", "tolerance=-1"],
        ["--set", "families=nonsense"],
        ["--set", "families=bias,bias"],
        ["--set", "families="],
        ["--set", "solver=nonsense"],
        ["--set", "oracle=nonsense"],
        ["--set", "solver=frank-wolfe", "--set", "solver_options.order=uniform"],
        ["--set", "memory=nonsense"],
        ["--set", "memory="],
        ["--set", "memory=-1"],
        ["--set", "memory=infG"],
        ["--set", "max_passes=x"],
        ["--set", "seed=-1"],
        ["--set", "loss=hinge"],
        ["--set", "solver_options=uniform"],
        ["--set", "solver.order=uniform"],
        ["--tokenize"],
        ["--set", "cross_validate=1"],
        ["--set", "cross_validate=1000000"],
    ],
)
def test_wrong_usage_of_train(desk: Desk, wrong: list[str]) -> None:
    before = desk.contents()
    result = invoke(*train(desk, desk.text), *wrong)
    assert result.exit_code == 2
    assert result.stderr.strip()
    assert not result.stdout
    assert desk.contents() == before


@pytest.mark.parametrize("option", ["--gold", "--links", "--trace", "--set", "--loss", "--source", "--stem"])
def test_options_that_do_nothing_are_refused(desk: Desk, option: str) -> None:
    """When a model is updated, and, unless they are of reading, where there are no labels."""
    value = {"--set": ["solver=bcfw"], "--loss": ["hinge"], "--source": ["en"], "--stem": []}.get(
        option, [desk.folder / "nowhere"]
    )
    before = desk.contents()
    commands = [train(desk, desk.source, desk.target, "--update", desk.model, option, *value)]
    if option not in ("--gold", "--source", "--stem"):
        commands.append(train(desk, desk.source, desk.target, option, *value))
    for command in commands:
        result = invoke(*command)
        assert (result.exit_code, result.stdout) == (2, "")
        assert re.match(rf"{option}( solver)? has no effect with", result.stderr)
        assert len(result.stderr.splitlines()) == 1
    assert desk.contents() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "info M", "info M --features -q", "priors M -q", "evaluate t.wa t.wa",
        "show t.en t.fr t.wa", "combine t.wa t.wa -q",
        "symmetrize t.wa t.wa -q", "convert t.wa - --to talp -q", "align t.en t.fr -q", "align t.en t.fr -m M -q",
        "score t.en t.fr t.wa -m M -q", "report t.en t.fr t.wa --gold t.wa -q --format csv", "train --help-all",
        "--version", "align --help",
    ],
)  # fmt: skip
def test_standard_output_that_is_full_is_named(desk: Desk, command: str) -> None:
    with Path("/dev/full").open("wb") as full:
        process = start(*command.split(), stdout=full, cwd=desk.folder)
        said = process.communicate(timeout=TIMEOUT)[1].decode()
    lines = [line for line in said.splitlines() if not line.startswith(("starting: ", "aligner: compiling"))]
    assert lines == ["-: No space left on device (check the disk)"]
    assert process.returncode == 1


def test_a_trace_in_the_place_of_the_model(desk: Desk) -> None:
    result = invoke(*train(desk, desk.text), "--trace", desk.folder / "." / "X")
    assert result.exit_code == 2
    assert "--trace" in result.stderr
    assert not (desk.folder / "X").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"], ["train"], ["align"], ["evaluate", "x"], ["convert", "a", "b"], ["align", "a", "b", "c"],
        ["align", "a", "--format", "x"], ["symmetrize", "a", "b", "--method", "x"], ["evaluate", "a", "b", "--seed=-1"],
    ],
)  # fmt: skip
def test_wrong_usage(arguments: list[str]) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert "Usage" in result.stderr
    assert not result.stdout


def test_debug_shows_the_traceback(desk: Desk) -> None:
    with pytest.raises(CorpusError, match="nothing"):
        invoke("evaluate", "nothing", desk.gold, "--debug")
