"""What a command line cannot have is refused in one line of our words, whatever the option."""

from __future__ import annotations

import inspect
import re
from typing import Any, get_args

import pytest
from commands import COMMANDS, invoke

from aligner.cli.messages import in_options, options_of

FOREIGN = re.compile(r"Value error|Input should|Traceback|valid integer|None|\bpydantic\b|\bstr\b|\bint\b|\bfloat\b|`")
"""Words of Python and of others' packages."""


def kinds(command: str, name: str) -> set[Any]:
    """The types of an option's values; a parser of ours counts as one."""
    annotation = inspect.signature(COMMANDS[command].callback).parameters[name].annotation
    if annotation.__metadata__[0].parser is not None:
        return {"parser"}
    kind = annotation.__origin__
    literals = {"choice"} if "Literal" in str(kind) else set()
    return {kind, *get_args(kind)} & {int, float} | literals


def bounds(option: Any) -> tuple[Any, Any]:
    """The least and the greatest value of an option; typer has them of the option, and before 0.29 of its type."""
    owner = option if hasattr(option, "min") else option.type
    return getattr(owner, "min", None), getattr(owner, "max", None)


def wrong_values() -> list[tuple[str, Any, str]]:
    """Commands, options and values that they do not take."""
    found = []
    for command, of in COMMANDS.items():
        for one in (one for one in of.params if one.param_type_name == "option"):
            own = kinds(command, one.name) if one.name not in ("help", "show_completion") else set()
            values = ["x", ""] * bool(own) + ["nan", "1e999"] * (int in own) + ["1.5", "9" * 400] * (int in own)
            least, most = bounds(one) if own & {int, float} else (None, None)
            values += [str(least - 1)] if least is not None else []
            values += [str(most + 1)] if most is not None else []
            found += [(command, one, value) for value in dict.fromkeys(values)]
    return found


def beginning(command: str) -> list[str]:
    """The command with all that it needs."""
    needed = [one for one in COMMANDS[command].params if one.required]
    return [command, *(part for one in needed for part in ([*one.opts[:1], "x"] if one.opts[0][0] == "-" else ["x"]))]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_value_is_named_in_one_line(command: str) -> None:
    tried = [(one, value) for name, one, value in wrong_values() if name == command]
    for option, value in tried:
        if value == "9" * 400 and bounds(option)[1] is None:
            continue
        result = invoke(*beginning(command), f"{max(option.opts, key=len)}={value}")
        assert (result.exit_code, result.stdout) == (2, ""), (option.opts, value, result.stderr)
        assert result.stderr.count("\n") == 1, result.stderr
        assert not FOREIGN.search(result.stderr), result.stderr
        assert set(re.findall(r"--[a-z_0-9-]+", result.stderr)) & {*option.opts}, result.stderr


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("wrong", [["--nonsense"], ["--nonsense=1"], ["--debug=1"], ["x"] * 9, []])
def test_a_wrong_command_line_is_one_line(command: str, wrong: list[str]) -> None:
    endless = any(one.nargs == -1 for one in COMMANDS[command].params)
    if (wrong == [] and len(beginning(command)) == 1) or (len(wrong) == 9 and endless):
        pytest.skip("nothing is wrong")
    result = invoke(command, *(wrong and beginning(command)[1:] + wrong))
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1), result.stderr
    assert re.fullmatch(r"\w+ [a-z-]+: .* \(.*\)\n", result.stderr)
    assert not FOREIGN.search(result.stderr), result.stderr


@pytest.mark.parametrize("line", ["", "--encoding", "--nonsense", "nonsense"])
def test_the_program_without_a_command(line: str) -> None:
    result = invoke(*line.split())
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1 or "Usage:" in result.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_messages_name_the_options_of_the_command(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aligner.cli.messages._command", COMMANDS[command].callback)
    options = {option for one in COMMANDS[command].params for option in one.opts} | {"--encoding"}
    for name in ("columns", "source", "target", "untranslated", "tokenize", "output", "force", "encoding", "remap"):
        said = in_options(f"`{name}`")
        assert said == (f"--{name}" if f"--{name}" in options else f"`{name}`")
    assert in_options("`candidates`") == ("--set candidates" if command in ("align", "train") else "`candidates`")
    assert {option.split()[0] for option in options_of(COMMANDS[command].callback).values()} <= options
