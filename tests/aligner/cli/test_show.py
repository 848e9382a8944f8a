"""`aligner show` and `aligner info`, with and without a terminal; the grids that they draw; the help of commands."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from commands import COMMANDS, on_terminal, refused, rest_of_terminal, run, start, write
from rich.cells import cell_len
from rich.text import Text

import aligner
from aligner.cli import _PANELS
from aligner.cli.grid import draw_grid
from aligner.cli.messages import settings_of
from corpora.links import Link, PairLinks

EVERY = [
    pytest.param(command, examples, id=command.__name__)
    for panel in _PANELS.values()
    for command, examples in panel.items()
]


def test_info_is_that_of_the_model(model: Path, sample: Path, tmp_path: Path) -> None:
    info = aligner.load(model).info()
    assert json.loads(run("info", model, "--format", "json").stdout) == info
    shown = dict(re.split(r" {2,}", line) for line in run("info", model).stdout.splitlines())
    assert [*shown] == [name.replace("_", " ") for name in info]
    assert (shown["languages"], shown["labelled pairs"], shown["aer"]) == ("en, fr", "313", "-")
    judged = run("info", model, sample / "test").stdout
    found = json.loads(run("info", model, sample / "test", "--format", "json").stdout)["report"]
    assert f"AER {found['aer']:.2f} %" in judged
    for name in ("t.en", "t.fr", "u.en", "u.fr"):
        write(tmp_path / name, "a b")
    write(tmp_path / "u.wa", "0-9")
    assert "no such file" in refused("info", "nothing")
    assert "no such file" in refused("info", model, "nothing")
    assert "has no links" in refused("info", model, tmp_path / "t")
    assert "out of range" in refused("info", model, tmp_path / "u", line=1)


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if re.search("[■×□▫·]", line) and " link;" not in line]


def test_show_draws_the_lines_asked_for(sample: Path) -> None:
    texts, gold = (sample / "test.en", sample / "test.fr"), sample / "test.wa"
    drawn = run("show", *texts, gold, "-n", 2, "--from", 4).stdout
    assert re.findall(r"(?m)^line (\d+)$", drawn) == ["4", "5"]
    words, links = (path.read_text().splitlines()[3:5] for path in (texts[0], gold))
    assert [row.split()[0] for row in rows(drawn)] == " ".join(words).split()
    assert "".join(rows(drawn)).count("■") == len(" ".join(links).split())
    assert "the links have no probabilities" in drawn
    assert rows(run("show", *texts, gold, "-n", 2, "--from", 4, "--gold", gold).stdout) == rows(drawn), "all is right"
    assert run("show", *texts, gold).stdout.count("line ") == 10
    assert "has no line 1000" in refused("show", *texts, gold, "--from", 1000)


def test_show_takes_words_and_probabilities_of_jsonl(tmp_path: Path) -> None:
    texts = write(tmp_path / "t.en", "ab"), write(tmp_path / "t.fr", "cd")
    answer = {"source": ["a", "b"], "target": ["c", "d"], "links": [[1, 1, 0.5]], "score": 0.5}
    links = write(tmp_path / "t.jsonl", json.dumps(answer))
    drawn = run("show", *texts, links).stdout
    assert rows(drawn) == ["a · · ", "b · ■ "]
    assert "green: 90 % sure or more" in drawn
    assert "out of range" in refused("show", *texts, write(tmp_path / "t.wa", "1-1"), line=1)
    texts[1].write_bytes(b"\xff\n")
    assert "not valid UTF-8" in refused("show", *texts, links, line=1)


@pytest.mark.slow
def test_colours_are_for_terminals_that_want_them(tmp_path: Path) -> None:
    texts = write(tmp_path / "t.en", "a b"), write(tmp_path / "t.fr", "c d")
    links = write(tmp_path / "t.links", "0-0:0.95 1-1:0.2")
    plain = run("show", *texts, links).stdout_bytes
    assert b"\x1b" not in plain
    for environment, colours in (({}, {b"32", b"31"}), ({"NO_COLOR": "1"}, set())):
        with on_terminal("show", *texts, links, stream="stdout", **environment) as (_, terminal):
            shown = rest_of_terminal(terminal)
        assert {*re.findall(rb"\x1b\[(3\d)m", shown)} == colours
        assert re.sub(rb"\x1b\[[\d;]*m|\r", b"", shown) == plain


@pytest.mark.parametrize(("command", "examples"), EVERY)
def test_help_has_two_examples(command: Any, examples: tuple[str, str, str]) -> None:
    result = run(command.__name__.replace("_", "-"), "--help")
    assert "Usage: " in result.stdout
    assert not result.stderr, "help is data"
    ends = [line.strip() for line in result.stdout.split("Examples:")[1].splitlines() if line.strip()]
    assert ends == [f"aligner {example}" for example in examples[:2]]
    assert len(examples) == 3


def test_all_commands_stand_in_four_panels() -> None:
    lines = run("--help").stdout.splitlines()
    assert len(lines) <= 29
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line.endswith(":")] == [f"{panel}:" for panel in _PANELS]
    shown = [line.split()[0] for line in lines if line.startswith("  ")]
    assert shown == [command.__name__.replace("_", "-") for panel in _PANELS.values() for command in panel]
    assert {*shown} == {*COMMANDS}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_few_options_and_shows_fewer(command: str) -> None:
    every = [one.opts[0] for one in COMMANDS[command].params if one.param_type_name == "option"]
    assert len({*every} - {"--help-all"}) <= 30
    ways = ["-h", "--help-all", "-h"] if "--help-all" in every else ["-h"]
    named = [re.findall(r"(?m)^  (?:-\w, )?(--?\w[\w-]*)", run(command, how).stdout) for how in ways]
    assert named[0] == named[-1]
    assert command == "fast-align" or len(named[0]) <= 14, "with --help and --help-all"
    assert len(named[len(ways) // 2]) > len(every), "with --help"


@pytest.mark.parametrize("command", ["align", "train"])
def test_help_all_lists_what_set_sets(command: str) -> None:
    listed = run(command, "--help-all").stdout.split("--set NAME=VALUE:\n")[1].splitlines()
    found = [name for name, _ in settings_of(COMMANDS[command].callback)]
    assert [line.split()[0] for line in listed] == found
    options = {one.name.rstrip("_") for one in COMMANDS[command].params}
    assert not options & {*found}, "one spelling for one thing"


@pytest.mark.slow
def test_examples_of_the_help_run(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in sample.glob("[et]*.*"):
        shutil.copy(file, tmp_path)
    for name in ("fwd", "rev", "test.scored"):
        shutil.copy(sample / "test.wa", tmp_path / name)
    write(tmp_path / "joint", "the old bridge . ||| le vieux pont .")
    monkeypatch.chdir(tmp_path)
    examples = [example for panel in _PANELS.values() for example in chain.from_iterable(panel.values())]
    for example in sorted(examples, key=lambda example: not example.startswith("train")):  # whose model others take
        words, _, output = example.partition(" > ")
        if words.startswith(("annotate", "serve")):
            process = start(*shlex.split(words))
            told = next(line for line in process.stderr if b"http://127.0.0.1:" in line)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
            assert process.returncode in (0, 128 + signal.SIGTERM), told
        else:
            result = run(*shlex.split(words))
            if output:
                Path(output).write_bytes(result.stdout_bytes)


SOURCE, TARGET = ["a", "red", "house"], ["une", "maison", "rouge"]
FOUND: dict[Link, float | None] = {(0, 0): 0.99, (1, 2): 0.6, (2, 2): 0.1}
GOLD = PairLinks(frozenset({(0, 0), (2, 1)}), frozenset({(1, 1), (1, 2)}))


def drawn(found: dict[Link, float | None] = FOUND, gold: PairLinks | None = GOLD, width: int = 80) -> list[Text]:
    return list(draw_grid(SOURCE, TARGET, found, gold, width))


def plain(lines: list[Text]) -> list[str]:
    return [line.plain.rstrip() for line in lines]


def test_a_row_for_each_source_word_and_a_column_for_each_target_word() -> None:
    *head, first, second, third = plain(drawn(gold=None))
    assert [first, second, third] == ["a     ■ · ·", "red   · · ■", "house · · ■"]
    columns = zip(*(line.ljust(12)[6::2] for line in head), strict=True)
    assert ["".join(column).strip() for column in columns] == TARGET


@pytest.mark.parametrize("probabilities", [True, False])
def test_gold_is_told_by_shapes_and_probabilities_by_colours(probabilities: bool) -> None:
    rows = drawn(FOUND if probabilities else dict.fromkeys(FOUND))[-3:]
    assert plain(rows) == ["a     ■ · ·", "red   · ▫ ■", "house · □ ×"]
    colours = [span.style for row in rows for span in row.spans if row.plain[span.start] in "■×"]
    assert colours == (["green", "yellow", "red"] if probabilities else ["green", "green", "red"])


def test_a_wide_grid_goes_on_below() -> None:
    whole, lines = plain(drawn())[-3:], plain(drawn(width=9))
    assert max(map(len, lines)) <= 9
    rows = [[line for line in lines if line.startswith(f"{word} ")] for word in SOURCE]
    assert [f"{parts[0][:6]}{' '.join(part[6:] for part in parts)}" for parts in rows] == whole


def test_wide_letters_marks_and_orders_to_the_terminal() -> None:
    source, target = ["\u6211\u5728", "e\u0301te"], ["\u5bb6", "\u0e14\u0e34", "\x1b[2J"]
    lines = list(draw_grid(source, target, {(1, 2): None}, None, 80))
    assert {cell_len(line.plain) for line in lines} == {5 + 2 * 3}, "columns stand below each other"
    assert "\x1b" not in "".join(plain(lines))
    assert lines[-1].plain.split()[-1] == "■"
    assert [*draw_grid([], [], {}, None, 80)] == []
