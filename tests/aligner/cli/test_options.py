"""The options of the commands: they are those of the registries, each in a group of the help, and all are used."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
from commands import COMMAND, invoke

from aligner.cli import app
from aligner.cli.outputs import Format
from aligner.matching import ORACLES
from aligner.model.output_formats import FORMATS
from aligner.model.settings import Candidates, Decoding, Symmetrization
from aligner.solvers import SOLVERS
from aligner.training.settings import LOSSES, LossName, OracleName
from corpora.settings import parse_size
from corpora.symmetrize import METHODS
from features.candidates import CANDIDATES

SOLVER_OPTIONS = dict(
    option.split("=")
    for option in "order=uniform step=decreasing average=weighted cache=false repeats=2 batch=5 error=0.5 share=0.5 "
    "sample=0.5 projection=entropic radius=1 l1_radius=1 smoothing=lipschitz restarts=false kernel=rbf degree=2 "
    "bandwidth=1".split()
)


def parameters(command: str) -> list[Any]:
    return typer.main.get_command(app).commands[command].params  # type: ignore[attr-defined, no-any-return]


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


@pytest.mark.parametrize(
    ("size", "n_bytes"),
    [("0", 0), ("12", 12), ("3k", 3 << 10), ("500M", 500 << 20), ("1.5G", 3 << 29), ("2GB", 2 << 30)],
)
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
    for parameter in parameters(command):
        if parameter.param_type_name == "option":
            assert parameter.rich_help_panel, parameter.name
            assert parameter.help.endswith("."), parameter.name


def test_every_option_of_a_solver_can_be_given() -> None:
    of_solvers = {option for make in SOLVERS.values() for option in make.options}
    assert of_solvers <= set(SOLVER_OPTIONS)


@pytest.mark.parametrize("option", SOLVER_OPTIONS)
def test_an_option_that_a_solver_does_not_have_is_refused(sample: Path, tmp_path: Path, option: str) -> None:
    solver = next(name for name, make in SOLVERS.items() if option not in make.options)
    given = f"solver_options.{option}={SOLVER_OPTIONS[option]}"
    result = invoke("train", sample / "train", "-m", tmp_path / "M", "-q", "--set", f"solver={solver}", "--set", given)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"{solver} has no option {option} (")
    assert result.stderr.count("\n") == 1
    assert not [*tmp_path.iterdir()]
