"""What users get wrong: one line that names the place and the remedy, an exit code, and no half-made file."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commands import TIMEOUT, invoke, refused, start, write

from aligner.model.model import load
from corpora.corpus import BYTES_A_WORD_PAIR
from corpora.errors import CorpusError

if TYPE_CHECKING:
    from tests.aligner.cli.conftest import Desk


@pytest.fixture(autouse=True)
def _there(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands are run in the folder of the desk, so that its files have short names."""
    (desk.folder / "box").mkdir()
    monkeypatch.chdir(desk.folder)


def said(command: str, line: int = 0) -> str:
    return refused(*command.split(), line=line)


def test_hints_name_no_option_that_the_command_does_not_have(desk: Desk) -> None:
    """`refused` looks at that: align has no --source, say."""
    write(desk.folder / "t.de", *["a"] * desk.n_pairs)
    for command in ("align t", "train t -m X -q", "evaluate t t.wa"):
        assert "choose the source and target language, or give two files" in said(command)
    assert "(give it as --text)" in said("convert t.wa - --to giza")


@pytest.mark.parametrize(
    ("words", "commands"),
    [
        ("nothing: no such file", [
            "train nothing -m X -q", "train t --gold nothing -m X -q", "train t -m X -q --links nothing",
            "align nothing -m M", "align t.en nothing -m M", "align t -m nothing", "evaluate nothing t.wa",
            "evaluate t.wa nothing", "convert nothing - --to talp", "convert t.wa - --to giza --text nothing",
            "symmetrize nothing t.wa", "symmetrize t.wa nothing", "convert nothing a b",
        ]),
        ("nothing.en: no such file", ["train nothing.en nothing.fr -m X -q"]),
        ("box: ", [
            "train box -m X -q", "train t -m box -q", "align box -m M", "align t.en box -m M", "align t -m box",
            "align t -m M -o box", "evaluate t.wa box", "convert box - --to talp",
            "convert t.wa box --to talp --force", "symmetrize t.wa box",
        ]),
        ("create", ["train t -m new/M -q"]),
        ("--force", [
            "train t -m M -q", "train t -m X -q --trace t.wa", "align t -m M -o t.wa", "align t.en t.fr -o t.wa",
            "convert t.wa t.en --to talp", "symmetrize t.wa t.wa -o t.en",
        ]),
        ("is read here", [  # what would be lost is not to be had again, so that --force does not help
            "align t.en t.fr -m M -o t.en --force", "align t -m M -o t.fr --force", "align t.en t.fr -m M -o M --force",
            "align - -m M -o M --force", "align t.en t.fr -o t.fr --force", "convert t.wa t.wa --to talp --force",
            "convert t.wa t.en --to giza --text t --force", "convert t out t.fr --force",
            "convert t t.fr --to giza --force",
            "symmetrize t.wa t.wa -o t.wa --force", "train t.en t.fr -m t.en -q --force",
            "train t -m t.wa -q --force", "train t.en t.fr --gold t -m X --trace t.wa -q --force",
            "train t.en t.fr --update M -m M -q --force", "align t --remap t -o t.en --force",
        ]),
        ("out of range", ["evaluate t wrong"]),
        ("was trained with 0 --links", ["align t -m M --links t.wa"]),
        ("other order", ["align t.fr t.en -m M"]),
        ("unknown links format 'foo' (known are pharaoh, talp, naacl", [
            "convert t.wa out --to foo", "convert t.wa out --to giza --from foo",
            "convert t.wa out --to talp --from foo",
        ]),
    ],
)  # fmt: skip
def test_what_cannot_be_read_or_written_is_named_and_nothing_changes(
    desk: Desk, words: str, commands: list[str]
) -> None:
    lines = desk.gold.read_text().splitlines()
    write(desk.folder / "wrong", lines[0], "0-99", *lines[2:])
    before = desk.contents()
    for command in commands:
        assert words in said(command, line=2 if "wrong" in command else 0), command
    assert desk.contents() == before


def test_a_text_without_its_translation(desk: Desk) -> None:
    for command in (
        "train t.en -m X -q",
        "train t.en misspelt --gold t -m X -q",
        "train t.en t.wa -m X -q",
        "align t.en -m M",
    ):
        assert said(command).startswith("t.en: is one text, without its translation")
    write(desk.folder / "glued", "a house|||une maison")
    assert "||| needs a blank on each side" in said("align glued")


def test_an_empty_corpus(desk: Desk) -> None:
    for path in (desk.source, desk.target, desk.gold):
        path.write_bytes(b"")
    for command in ("train t -m X -q", "train t.en t.fr -m X -q"):
        assert "empty" in said(command)
    assert "no sentence pairs" in said("evaluate t.wa t.wa")
    write(desk.folder / "some", "0-0")
    assert "the text ends after 0 pairs" in said("evaluate some some --text -", line=1)


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_side_that_is_one_line_short_or_not_utf8(desk: Desk, side: str) -> None:
    path: Path = getattr(desk, side)
    lines = path.read_bytes().splitlines(keepends=True)
    for spoilt, line, what in (
        (lines[:-1], desk.n_pairs - 1, "1 more line"),
        ([*lines[:6], b"caf\xe9 " + lines[6], *lines[7:]], 7, "UTF-8"),
    ):
        path.write_bytes(b"".join(spoilt))
        before = desk.contents()
        for command in (
            "train t -m X -q",
            "train t.en t.fr --gold t -m X -q",
            "align t -m M",
            "align t.en t.fr -m M -o F",
            "align t -m M -o t.wa --force",
        ):
            message = said(command, line)
            assert message.startswith(f"{path.name}:")
            assert what in message
        assert desk.contents() == before


@pytest.mark.parametrize(
    ("line", "what"),
    [(b"a ||| \xff", "UTF-8"), (b"a b", r"no \|\|\|"), (b"a ||| b ||| c", "more than"), (b"a\tb ||| c", "more than")],
)
def test_broken_lines_of_standard_input(desk: Desk, line: bytes, what: str) -> None:
    """Answers to the lines before stand on standard output, but not in a file that would not be whole."""
    arguments, text = ("align", "-", "-m", "M"), b"the ||| la\n\n%s\nc ||| d\n" % line
    result = invoke(*arguments, stdin=text)
    assert (result.exit_code, result.stdout) == (1, "0-0\n\n")
    assert re.search(f"^-:3: .*{what}", result.stderr)
    assert re.search(what, refused(*arguments, "-o", "F", stdin=text, line=3))
    assert not (desk.folder / "F").exists()


@pytest.mark.parametrize(("token", "what"), [("99-2", "out of range"), ("2-99", "out of range"), ("9-x", "'9-x'")])
def test_broken_gold(desk: Desk, token: str, what: str) -> None:
    lines = desk.gold.read_text().splitlines()
    write(desk.folder / "good", *lines)
    write(desk.gold, *lines[:2], f"{lines[2]} {token}", *lines[3:])
    before = desk.contents()
    commands = [
        "train t -m X -q", "train t.en t.fr --gold t -m X -q", "train t -m X -q --links t.wa", "evaluate t good",
        "convert t.wa out --to comtrans --text t", "convert t good --to talp --force", "combine good t.wa --text t",
        "score t.en t.fr t.wa -m M", "lexicon t.en t.fr t.wa -o out",
    ]  # fmt: skip
    if what != "out of range":  # without text nothing is known to be out of range
        commands += [
            "evaluate t.wa good",
            "evaluate good t.wa",
            "convert t.wa out --to talp",
            "symmetrize t.wa good -o out",
            "symmetrize good t.wa -o M --force",
            "combine good t.wa",
        ]
    for command in commands:
        message = said(command, line=3)
        assert what in message
        assert message.startswith("t.wa:")
    assert desk.contents() == before


def test_what_a_message_quotes_is_short_and_does_nothing_to_a_terminal(desk: Desk) -> None:
    for good in (b"0-0", b"1 1 1"):  # Pharaoh and NAACL
        desk.gold.write_bytes(good + b"\n" + good + b" \x1b[2J\x00\r" + b"x" * 10_000 + b"\n")
        message = said("evaluate t.wa t.wa", line=2)
        assert len(message) < 300
        assert "\\x1b[2J" in message
        assert message.isprintable()


def test_links_of_another_length(desk: Desk) -> None:
    n, lines = desk.n_pairs, desk.gold.read_text().splitlines()
    write(desk.folder / "short", *lines[:-1])
    write(desk.folder / "later", *lines[1:])  # of which no link is where it belongs
    for command in ("evaluate t.wa short", "evaluate short t.wa", "evaluate t short"):
        assert str(n) in said(command, line=n - 1)
    assert f"{n - 1} lines" in said("evaluate t later", line=n - 1)
    message = invoke(*"convert later out --to comtrans --text t".split()).stderr
    assert f"there are links for {n - 1} pairs, but {n} of text" in message
    for files in ("short t.wa", "t.wa short"):
        assert said(f"symmetrize {files} -o out", line=n - 1).startswith("short:")
        assert said(f"combine {files} -o out", line=n - 1).startswith("short:")
    assert "the links end" in said("score t.en t.fr short -m M", line=n - 1)
    said("train t -m X -q --links short", line=n - 1)
    write(desk.gold, *lines[:-1])
    said("train t -m X -q", line=n - 1)
    assert not (desk.folder / "out").exists()


def test_broken_models(desk: Desk) -> None:
    """As the library names them: see the tests of model files."""
    whole = desk.model.read_bytes()
    for content, what in ((whole[:1000], "cut off"), (bytes(n * 73 % 251 for n in range(5000)), "not a model")):
        desk.model.write_bytes(content)
        message = said("align t -m M -o F")
        assert what in message
        assert message.startswith("M:")
    assert not (desk.folder / "F").exists()


@pytest.mark.parametrize(
    "wrong",
    [
        "--bogus", "--set center=here", "--set families=", "--set memory=nonsense", "--set memory=", "--set memory=-1",
        "--set memory=infG", "--set max_passes=x", "--set loss=none", "--set solver_options=uniform",
        "--set solver.order=uniform", "--tokenize", "--set cross_validate=1000000", "--trace ./X",
    ],
)  # fmt: skip
def test_wrong_usage_of_train(desk: Desk, wrong: str) -> None:
    """What the library refuses is in the tests of training."""
    before = desk.contents()
    result = invoke(*f"train t -m X -q {wrong}".split())
    assert result.exit_code == 2
    assert result.stderr.strip()
    assert not result.stdout
    assert desk.contents() == before


@pytest.mark.parametrize(
    "option",
    ["--gold t", "--links t.wa", "--trace T", "--set solver=bcfw", "--set loss=hinge", "--source en", "--stem"],
)
def test_options_that_do_nothing_are_refused(desk: Desk, option: str) -> None:
    """When a model is updated, and, unless they are of reading, where there are no labels."""
    before, name = desk.contents(), option.split()[0]
    for more in ("--update M", "")[: 1 if name in ("--gold", "--source", "--stem") else 2]:
        result = invoke(*f"train t.en t.fr -m X -q {option} {more}".split())
        assert (result.exit_code, result.stdout) == (2, "")
        assert re.match(rf"{name}( solver| loss)? has no effect with", result.stderr)
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


@pytest.mark.parametrize(
    "command",
    [
        "nonsense", "train", "align", "evaluate x", "convert a b", "align a b c", "align a --format x",
        "symmetrize a b --method x", "evaluate a b --seed=-1", "align a b --unsupervised=x",
        "align a b --decoding best", "align a b --decoding soft",
    ],
)  # fmt: skip
def test_wrong_usage(command: str) -> None:
    result = invoke(*command.split())
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert re.fullmatch(r"\w+( [a-z]+)?: .*\(.*\)", result.stderr.strip())


def test_debug_shows_the_traceback() -> None:
    with pytest.raises(CorpusError, match="nothing"):
        invoke("evaluate", "nothing", "t.wa", "--debug")


def test_suffixes_that_are_of_both_sides_are_no_other_direction(desk: Desk) -> None:
    replace(load(desk.model), languages=("txt", "txt")).save(desk.folder / "T")
    for name, text in (("a.txt", desk.source), ("b.txt", desk.target)):
        shutil.copyfile(text, desk.folder / name)
    found = invoke("align", desk.folder / "a.txt", desk.folder / "b.txt", "-m", desk.folder / "T")
    assert (found.exit_code, found.stderr.count("\n")) == (0, 1), "the summary"


@pytest.mark.parametrize("offset", ["inf", "-inf", "nan", "1e308", "1001"])
def test_offsets_beyond_all_scores(desk: Desk, offset: str) -> None:
    for arguments in (["align", desk.text, "-m", desk.model], ["align", "nothing"]):  # before anything is read
        result = invoke(*arguments, f"--offset={offset}")
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith(f"an offset of {float(offset)} is not possible (give one from")


def test_a_pair_that_does_not_fit_into_memory(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    words = 2 * max(len(line.split()) for text in (desk.source, desk.target) for line in text.read_text().splitlines())
    monkeypatch.setattr("corpora.corpus.usable_memory", lambda: BYTES_A_WORD_PAIR * (words**2 - 1))
    for text in (desk.source, desk.target):
        lines = text.read_text().splitlines()
        text.write_text("\n".join([*lines[:4], " ".join(["word"] * words), *lines[5:]]))
    for arguments in (
        ["align", desk.text, "-m", desk.model],
        ["align", desk.source, desk.target],
        ["train", desk.source, desk.target, "-m", desk.folder / "X", "-q"],
        ["train", desk.source, desk.target, "--gold", desk.text, "-m", desk.folder / "X", "-q"],
    ):
        message = refused(*arguments, line=5)
        assert message.startswith(f"{desk.source}:5: {words} source and {words} target words need more memory than")
    long = b"a ||| b\n%s ||| %s\n" % ((b"word " * words,) * 2)
    found = invoke("align", "-", "-m", desk.model, stdin=long)
    assert (found.exit_code, found.stdout.count("\n")) == (1, 1)
    assert found.stderr.startswith(f"-:2: {words} source and")
