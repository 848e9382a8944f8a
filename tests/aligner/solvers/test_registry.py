"""Solvers by their names: options are checked, and nothing is imported before its time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from aligner.errors import SettingError
from aligner.losses.kernel_functions import Polynomial
from aligner.solvers import SOLVERS, make_solver
from aligner.solvers.averages import Average
from aligner.solvers.block import Block
from aligner.solvers.extragradient import Extragradient, Projection
from aligner.solvers.kernel import KernelBlock
from aligner.solvers.orders import ByGap, Uniform
from aligner.solvers.randomized_away import RandomizedAway
from aligner.solvers.steps import Away, Forward

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("name", SOLVERS)
def test_every_name_makes_a_solver(name: str) -> None:
    assert make_solver(name).signature
    assert make_solver(name, **dict.fromkeys(SOLVERS[name].options)) == make_solver(name), "None is the default"


def test_options_are_read_as_a_user_writes_them() -> None:
    assert make_solver() == Block()
    assert make_solver("bcfw", order="uniform", average="suffix") == Block(Uniform(), Forward(), Average.SUFFIX)
    assert make_solver("bcfw-away") == make_solver("bcfw", order="gap", step="away", cache="yes")
    assert make_solver("bcfw-away", cache="no") == make_solver("bcfw-away", cache=False) == Block(ByGap(), Away())
    assert make_solver("randomized-away", sample="0.5") == RandomizedAway(sample=0.5)
    given = make_solver("extragradient", projection="entropic", radius="2", restarts="true")
    assert given == Extragradient(Projection.ENTROPIC, 2.0, True)
    assert make_solver("kernel-bcfw", kernel="polynomial", degree="3") == KernelBlock(Polynomial(3))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("simplex", {}, "unknown solver 'simplex' (choose from frank-wolfe, "),
        (
            "bcfw",
            {"sample": "1"},
            "bcfw has no option sample (it has order, step, average, cache, repeats, batch)",
        ),
        ("cutting-plane", {"order": "gap"}, "cutting-plane has no option order (it has none)"),
        ("bcfw", {"order": "x"}, "unknown order 'x' (choose from uniform, permuted, cyclic, gap)"),
        (
            "bcfw",
            {"step": "spectral"},
            "unknown step 'spectral' (choose from line-search, decreasing, away, pairwise, blended)",
        ),
        ("bcfw", {"cache": "maybe"}, "unknown cache 'maybe' (choose from true, yes, on, 1, false, no, off, 0)"),
        ("randomized-away", {"sample": "half"}, "sample must be a number, not 'half'"),
        ("kernel-bcfw", {"kernel": "polynomial", "degree": "2.5"}, "degree must be a whole number, not '2.5'"),
        ("kernel-bcfw", {"kernel": "polynomial", "degree": 2.5}, "degree must be a whole number, not 2.5"),
        ("excessive-gap", {"smoothing": "0"}, "smoothing must be a number above 0, not 0.0"),
        ("randomized-away", {"sample": "0"}, "sample must be a share above 0 and at most 1, not 0.0"),
    ],
)
def test_what_cannot_work_is_told_in_one_line(name: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(SettingError) as error:
        make_solver(name, **options)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def loaded(code: str) -> set[str]:
    """What is in memory after this code, in a process of its own."""
    code += "; import sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_names_are_had_without_anything_slow() -> None:
    assert not loaded("from aligner.solvers import SOLVERS; list(SOLVERS)") & {"numpy", "numba", "scipy"}


EVERYTHING = """
import importlib, pkgutil
for library in ("solvers", "losses", "matching"):
    package = importlib.import_module(f"aligner.{library}")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"aligner.{library}.{module.name}")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "ground"),
    [
        ("import aligner.solvers", {"corpora.threads"}),
        ("from aligner.solvers import solve, Stop", {"corpora.threads", "corpora.ragged"}),
        (f"exec({EVERYTHING!r})", {"corpora.threads", "corpora.ragged", "corpora.compiled"}),
    ],
)
def test_the_library_stands_alone(code: str, ground: set[str]) -> None:
    """Of corpora it needs the ground modules, that of kernels with them only; nothing of features or the product."""
    ours = {name for name in loaded(code) if name.split(".")[0] in ("aligner", "corpora", "features")}
    library = {name for name in ours if name.split(".")[1:2] in (["solvers"], ["losses"], ["matching"])}
    assert ours - library <= {
        "aligner",
        "aligner._version",
        "aligner.errors",
        "aligner.problem",
        "aligner.templates",
        "corpora",
        *ground,
    }
