"""What users get wrong: one line that names the place and the remedy, an exit code, and no half-made file."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commands import invoke, refused, run, write

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


@pytest.mark.parametrize(
    ("words", "commands"),
    [
        ("nothing: no such file", [
            "train nothing -m X -q", "train t --gold nothing -m X -q", "train t -m X -q --links nothing",
            "align nothing -m M", "align t.en nothing -m M", "align t -m nothing", "evaluate nothing t.wa",
            "evaluate t.wa nothing", "convert nothing - --to talp", "convert t.wa - --to giza --text nothing",
            "symmetrize nothing t.wa", "symmetrize t.wa nothing", "convert nothing a b", "show t.en t.fr nothing",
            "report t.en t.fr nothing", "lexicon t.en t.fr nothing", "info M nothing",
            "train t.en t.fr -m X -q --priors nothing",
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
        ("t.en: is one text, without its translation", [
            "train t.en -m X -q", "train t.en misspelt --gold t -m X -q", "train t.en t.wa -m X -q", "align t.en -m M",
        ]),
        ("||| needs a blank on each side", ["align glued"]),
        ("'0-0:0' has no probability", ["align t --links neural=wrong-p", "train t --links neural=wrong-p -m X -q"]),
        ("is empty", ["train empty empty -m X -q", "align t.en t.fr --remap empty -o Z"]),
        ("no sentence pairs", ["evaluate empty empty"]),
        ("the text ends after 0 pairs", ["evaluate t.wa t.wa --text -"]),
        ("choose the source and target language, or give two files", [
            "align u", "train u -m X -q", "evaluate u t.wa",
        ]),
        ("(give it as --text)", ["convert t.wa - --to giza"]),
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
    write(desk.folder / "wrong-p", lines[0], "0-0:0", *lines[2:])
    write(desk.folder / "glued", "a house|||une maison")
    for language in ("de", "en", "fr"):
        write(desk.folder / f"u.{language}", "a")
    write(desk.folder / "empty")
    before = desk.contents()
    for command in commands:
        assert words in said(command, line=2 if "wrong" in command else "--text -" in command), command
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


def test_what_a_message_quotes_is_short_and_does_nothing_to_a_terminal(desk: Desk) -> None:
    for good in (b"0-0", b"1 1 1"):  # Pharaoh and NAACL
        desk.gold.write_bytes(good + b"\n" + good + b" \x1b[2J\x00\r" + b"x" * 10_000 + b"\n")
        message = said("evaluate t.wa t.wa", line=2)
        assert len(message) < 300
        assert "\\x1b[2J" in message
        assert message.isprintable()


def test_debug_shows_the_traceback() -> None:
    with pytest.raises(CorpusError, match="nothing"):
        invoke("evaluate", "nothing", "t.wa", "--debug")


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
            "align t.en t.fr -o F",
            "align t -m M -o t.wa --force",
        ):
            assert re.match(f"{path.name}:.*{what}", said(command, line))
        assert desk.contents() == before


@pytest.mark.parametrize(
    ("place", "broken", "what", "line"),
    [
        (2, "{} 99-2", "out of range", 3), (2, "{} 2-99", "out of range", 3), (2, "{} 9-x", "'9-x'", 3),
        (-1, "", "", 63),
    ],
)  # fmt: skip
def test_links_that_do_not_fit(desk: Desk, place: int, broken: str, what: str, line: int) -> None:
    """Beyond their words, no links, or for a pair less; without text nothing is known to be out of range."""
    lines = desk.gold.read_text().splitlines()
    write(desk.folder / "good", *lines)
    lines[place : place + 1 or None] = [broken.format(lines[place])] if broken else []
    write(desk.gold, *lines)
    before = desk.contents()
    with_text = [
        "train t -m X -q", "train t.en t.fr --gold t -m X -q", "train t -m X -q --links t.wa", "evaluate t good",
        "combine good t.wa --text t", "score t.en t.fr t.wa -m M", "lexicon t.en t.fr t.wa -o out",
        "convert t.wa out --to comtrans --text t",
    ]  # fmt: skip
    without = [
        "evaluate t.wa good", "evaluate good t.wa", "symmetrize t.wa good -o out", "symmetrize good t.wa -o M --force",
        "combine good t.wa",
    ]  # fmt: skip
    if "x" in broken:
        without += ["convert t.wa out --to talp"]
    for command in [*with_text, *(without if what != "out of range" else [])]:
        message = said(command, line)
        assert what in message
        assert broken == "" or message.startswith("t.wa:")
    assert desk.contents() == before


def test_broken_models(desk: Desk) -> None:
    """As the library names them: see the tests of model files."""
    desk.model.write_bytes(desk.model.read_bytes()[:1000])
    assert re.match("M: .*cut off", said("align t -m M -o F"))
    assert not (desk.folder / "F").exists()


def test_suffixes_that_are_of_both_sides_are_no_other_direction(desk: Desk) -> None:
    replace(load(desk.model), languages=("txt", "txt")).save(desk.folder / "T")
    for name, text in (("a.txt", desk.source), ("b.txt", desk.target)):
        text.rename(desk.folder / name)
    assert run("align", "a.txt", "b.txt", "-m", "T").stderr.count("\n") == 1, "the summary"


def test_a_pair_that_does_not_fit_into_memory(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    words = 2 * max(len(line.split()) for line in desk.joint(" "))
    monkeypatch.setattr("corpora.corpus.usable_memory", lambda: BYTES_A_WORD_PAIR * (words**2 - 1))
    for text in (desk.source, desk.target):
        lines = text.read_text().splitlines()
        write(text, *lines[:4], "word " * words, *lines[5:])
    for command in ("align t -m M", "align t.en t.fr", "train t.en t.fr -m X -q", "train t.en t.fr --gold t -m X -q"):
        assert said(command, line=5).startswith(
            f"t.en:5: {words} source and {words} target words need more memory than"
        )
    found = invoke("align", "-", "-m", "M", stdin=b"a ||| b\n%s ||| %s\n" % ((b"word " * words,) * 2))
    assert (found.exit_code, found.stdout.count("\n")) == (1, 1)
    assert found.stderr.startswith(f"-:2: {words} source and")
