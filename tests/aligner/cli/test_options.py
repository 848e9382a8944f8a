"""The options of the commands: they are those of the registries, each in a group of the help, and all are used."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from typing import Any, get_args

import pytest
from commands import COMMAND, COMMANDS

from aligner.cli.outputs import Format
from aligner.matching import ORACLES
from aligner.model.output_formats import FORMATS
from aligner.model.settings import Candidates, Decoding, Symmetrization
from aligner.training.settings import LOSSES, LossName, OracleName
from corpora.settings import parse_size
from corpora.symmetrize import METHODS
from features.candidates import CANDIDATES


@pytest.mark.parametrize(
    ("option", "registry"),
    [
        (Candidates, CANDIDATES), (OracleName, ORACLES), (LossName, LOSSES),
        (Format, FORMATS), (Symmetrization, METHODS),
        (Decoding, ["assignment", *METHODS]),
    ],
)  # fmt: skip
def test_the_names_an_option_takes_are_those_of_the_registry(option: Any, registry: Any) -> None:
    assert [way for part in get_args(option) for way in get_args(part) or [part]] == list(registry)


@pytest.mark.parametrize(("size", "n_bytes"), [("12", 12), ("500M", 500 << 20), ("1.5G", 3 << 29), ("2GB", 2 << 30)])
def test_sizes_are_read_in_powers_of_1024(size: str, n_bytes: int) -> None:
    assert parse_size(size) == n_bytes


BARE = "import typer; app = typer.Typer(rich_markup_mode=None); app.command()(lambda: None); app(['--help'])"


@pytest.mark.nightly
def test_help_answers_at_once() -> None:
    """Within twice the time of the least program of its kind."""

    def seconds(command: list[str]) -> float:
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start

    runs = [(seconds([*COMMAND, "--help"]), seconds([sys.executable, "-c", BARE])) for _ in range(5)]
    ours, theirs = (statistics.median(times) for times in zip(*runs, strict=True))
    assert ours < 2 * theirs


@pytest.mark.parametrize("command", ["train", "align", "evaluate", "convert", "symmetrize"])
def test_every_option_has_a_group_in_the_help(command: str) -> None:
    for parameter in COMMANDS[command].params:
        if parameter.param_type_name == "option":
            assert parameter.rich_help_panel, parameter.name
            assert parameter.help.endswith("."), parameter.name
