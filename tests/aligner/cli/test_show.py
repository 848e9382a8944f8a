"""`aligner show` and `aligner info`, with and without a terminal; the grids that they draw; the help of commands."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from commands import COMMANDS, invoke, refused, rest_of_terminal, run, run_process, start, write
from rich.cells import cell_len
from rich.text import Text

import aligner
from aligner.cli import _PANELS
from aligner.cli.grid import draw_grid
from aligner.cli.messages import settings_of
from aligner.model.model import Model, load
from corpora.links import Link, PairLinks

EVERY = [
    pytest.param(command, examples, id=command.__name__)
    for panel in _PANELS.values()
    for command, examples in panel.items()
]


def test_info_is_that_of_the_model(model: Path) -> None:
    info = aligner.load(model).info()
    assert json.loads(run("info", model, "--format", "json").stdout) == info
    shown = dict(re.split(r" {2,}", line) for line in run("info", model).stdout.splitlines())
    assert [*shown] == [name.replace("_", " ") for name in info]
    assert (shown["languages"], shown["labelled pairs"], shown["aer"]) == ("en, fr", "313", "-")
    assert (shown["weights"], shown["text fingerprint"]) == ("learnt", info["text_fingerprint"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", shown["date"])
    assert "no such file" in refused("info", "nothing")


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if re.search("[■×□▫·]", line) and " link;" not in line]


def test_show_draws_the_lines_asked_for(sample: Path) -> None:
    texts, gold = (sample / "test.en", sample / "test.fr"), sample / "test.wa"
    drawn = run("show", *texts, gold, "-n", 2, "--from", 4).stdout
    assert re.findall(r"(?m)^line (\d+)$", drawn) == ["4", "5"]
    words = [line.split() for line in texts[0].read_text().splitlines()[3:5]]
    assert [row.split()[0] for row in rows(drawn)] == [word for line in words for word in line]
    links = gold.read_text().splitlines()[3:5]
    assert sum(row.count("■") for row in rows(drawn)) == sum(len(line.split()) for line in links)
    assert "the links have no probabilities" in drawn
    judged = run("show", *texts, gold, "-n", 2, "--from", 4, "--gold", gold).stdout
    assert rows(judged) == rows(drawn), "all is right"
    assert "\x1b" not in judged
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
    assert "not valid UTF-8" in refused("show", texts[0], _broken(tmp_path / "x.fr"), links, line=1)


def _broken(path: Path) -> Path:
    path.write_bytes(b"\xff\n")
    return path


@pytest.mark.slow
def test_colours_are_for_terminals_that_want_them(tmp_path: Path) -> None:
    texts = write(tmp_path / "t.en", "a b"), write(tmp_path / "t.fr", "c d")
    links = write(tmp_path / "t.links", "0-0:0.95 1-1:0.2")
    plain = run_process("show", *texts, links).stdout
    assert b"\x1b" not in plain
    for environment, colours in (({}, {b"32", b"31"}), ({"NO_COLOR": "1"}, set())):
        shown = _on_terminal("show", *texts, links, **environment)
        assert {*re.findall(rb"\x1b\[(3\d)m", shown)} == colours
        assert re.sub(rb"\x1b\[[\d;]*m|\r", b"", shown) == plain


def _on_terminal(*arguments: object, **environment: str) -> bytes:
    """What a command writes to a terminal that is its standard output."""
    import pty  # of POSIX

    ours, theirs = pty.openpty()
    variables = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    process = start(*arguments, stdout=theirs, env={**variables, "TERM": "xterm", **environment})
    os.close(theirs)
    shown = rest_of_terminal(ours)
    process.communicate()
    os.close(ours)
    return shown


@pytest.mark.parametrize(("command", "examples"), EVERY)
def test_help_has_two_examples(command: Any, examples: tuple[str, str, str]) -> None:
    result = run(command.__name__.replace("_", "-"), "--help")
    shown = result.stdout
    assert "Usage: " in shown
    assert not result.stderr, "help is data"
    ends = [line.strip() for line in shown.split("Examples:")[1].splitlines() if line.strip()]
    assert ends == [f"aligner {example}" for example in examples[:2]]
    assert len(examples) == 3


def test_all_commands_stand_in_four_panels() -> None:
    lines = run("--help").stdout.splitlines()
    assert len(lines) <= 29
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line.endswith(":")] == [f"{panel}:" for panel in _PANELS]
    shown = [line.split()[0] for line in lines if line.startswith("  ")]
    assert shown == [command.__name__.replace("_", "-") for commands in _PANELS.values() for command in commands]


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


def answers_until_ended(*arguments: str) -> None:
    process = start(*arguments)
    told = next(line for line in process.stderr if b"http://127.0.0.1:" in line)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode in (0, 128 + signal.SIGTERM), told


@pytest.mark.slow
def test_examples_of_the_help_run(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in sample.glob("[et]*.*"):
        shutil.copy(file, tmp_path)
    shutil.copy(sample / "test.wa", tmp_path / "fwd")
    shutil.copy(sample / "test.wa", tmp_path / "rev")
    shutil.copy(sample / "test.wa", tmp_path / "test.scored")
    (tmp_path / "joint").write_text("the old bridge . ||| le vieux pont .\n")
    monkeypatch.chdir(tmp_path)
    examples = [example for panel in _PANELS.values() for example in chain.from_iterable(panel.values())]
    for example in sorted(examples, key=lambda example: not example.startswith("train")):  # whose model others take
        words, _, output = example.partition(" > ")
        if words.startswith(("annotate", "serve")):
            answers_until_ended(*shlex.split(words))
            continue
        result = invoke(*shlex.split(words))
        assert result.exit_code == 0, (example, result.stderr)
        if output:
            Path(output).write_bytes(result.stdout_bytes)


SOURCE, TARGET = ["a", "red", "house"], ["une", "maison", "rouge"]
FOUND: dict[Link, float | None] = {(0, 0): 0.99, (1, 2): 0.6, (2, 2): 0.1}
GOLD = PairLinks(frozenset({(0, 0), (2, 1)}), frozenset({(1, 1), (1, 2)}))


def plain(lines: list[Text]) -> list[str]:
    return [line.plain.rstrip() for line in lines]


def test_a_row_for_each_source_word_and_a_column_for_each_target_word() -> None:
    *head, first, second, third = plain(list(draw_grid(SOURCE, TARGET, FOUND, None, 80)))
    assert [first, second, third] == ["a     ■ · ·", "red   · · ■", "house · · ■"]
    columns = zip(*(line.ljust(12)[6::2] for line in head), strict=True)
    assert ["".join(column).strip() for column in columns] == TARGET


def test_gold_is_told_by_shapes() -> None:
    rows = plain(list(draw_grid(SOURCE, TARGET, FOUND, GOLD, 80)))[-3:]
    assert rows == ["a     ■ · ·", "red   · ▫ ■", "house · □ ×"]


@pytest.mark.parametrize("probabilities", [True, False])
def test_colours_are_probabilities_where_there_are_some(probabilities: bool) -> None:
    found = FOUND if probabilities else dict.fromkeys(FOUND)
    rows = list(draw_grid(SOURCE, TARGET, found, GOLD, 80))[-3:]
    colours = [span.style for row in rows for span in row.spans if row.plain[span.start] in "■×"]
    assert colours == (["green", "yellow", "red"] if probabilities else ["green", "green", "red"])


def test_a_wide_grid_goes_on_below() -> None:
    whole = plain(list(draw_grid(SOURCE, TARGET, FOUND, GOLD, 80)))[-3:]
    lines = plain(list(draw_grid(SOURCE, TARGET, FOUND, GOLD, 9)))
    assert max(map(len, lines)) <= 9
    rows = [[line for line in lines if line.startswith(f"{word} ")] for word in SOURCE]
    assert [len(parts) for parts in rows] == [3, 3, 3]
    assert [f"{parts[0][:6]}{' '.join(part[6:] for part in parts)}" for parts in rows] == whole


def test_wide_letters_marks_and_orders_to_the_terminal() -> None:
    source, target = ["\u6211\u5728", "e\u0301te"], ["\u5bb6", "\u0e14\u0e34", "\x1b[2J"]
    lines = list(draw_grid(source, target, {(1, 2): None}, None, 80))
    assert {cell_len(line.plain) for line in lines} == {5 + 2 * 3}, "columns stand below each other"
    assert "\x1b" not in "".join(plain(lines))
    assert lines[-1].plain.split()[-1] == "■"
    assert [*draw_grid([], [], {}, None, 80)] == []


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory, sample: Path) -> Path:
    path = tmp_path_factory.mktemp("model") / "M"
    families = "bias,association,position,competition"
    run("train", sample / "train", "-m", path, "-q", "--set", "cross_validate=0", "--set", f"families={families}")
    return path


def test_features_of_a_model(small: Path, sample: Path) -> None:
    plain = run("info", small, "--features")
    assert "without" not in plain.stdout
    assert not plain.stderr
    names = load(small).features.names
    assert sorted(line.split()[0] for line in plain.stdout.split("\n\n")[2].splitlines()[1:]) == sorted(names)
    judged = run("info", small, sample / "test")
    assert "AER without" in judged.stdout
    found = json.loads(run("info", small, sample / "test", "--format", "json").stdout)["report"]
    assert f"AER {found['aer']:.2f} %" in judged.stdout
    assert {feature["name"] for feature in found["features"]} == {*names}
    # The same links are judged as `evaluate` judges them.
    links = small.parent / "F"
    run("align", sample / "test", "-m", small, "-o", links, "--force")
    (report,) = json.loads(run("evaluate", sample / "test.wa", links, "--format", "json").stdout)
    assert found["aer"] == pytest.approx(report["aer"])
    both = run("info", small, sample / "test", sample / "train", "--format", "json")
    assert json.loads(both.stdout)["report"]["pairs"] == report["pairs"] + load(small).record["labelled_pairs"]


def test_features_with_links_of_others(linked: Model, sample: Path, tmp_path: Path) -> None:
    linked.save(tmp_path / "L")
    given = "info", tmp_path / "L", sample / "test"
    found = json.loads(run(*given, "--links", sample / "test.wa", "--format", "json").stdout)["report"]
    assert "links" in {family["name"] for family in found["families"]}
    assert "--links" in refused(*given)


def test_what_features_refuses(small: Path, tmp_path: Path) -> None:
    for name in ("t.en", "t.fr", "u.en", "u.fr"):
        write(tmp_path / name, "a b")
    write(tmp_path / "u.wa", "0-9")
    for arguments in ([tmp_path / "nothing"], [small, tmp_path / "nothing"]):
        assert "nothing" in refused("info", *arguments)
    assert "has no links" in refused("info", small, tmp_path / "t")
    assert "out of range" in refused("info", small, tmp_path / "u", line=1)
    for arguments in ([], [small, "--format", "x"]):
        assert run("info", *arguments, code=2).stderr
