"""What a caller holds can be copied and sent to another process, before it was used and after."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from solver_configurations import CONFIGURATIONS, Configuration, MakeProblem, Multiclass, of_corners, run

import aligner
from aligner.errors import OracleError, ScoreError
from aligner.model.file import ModelError
from aligner.pages.annotate.annotation import AnnotationError
from aligner.pages.annotate.store import ConflictError
from aligner.solvers import Stop, make_solver
from aligner.training.settings import LearnSettings
from corpora import AlignerError, SettingError
from corpora.errors import BrokenLine, CorpusError

WAYS: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}
each_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
PAIR = "a red house".split(), "une maison rouge".split()


@pytest.fixture(scope="module")
def training(sample: Path) -> aligner.Training:
    return aligner.train(sample / "test", learn=LearnSettings(cross_validate=2, max_passes=5))


@each_way
@pytest.mark.parametrize("kind", [AlignerError, SettingError, ScoreError, OracleError, AnnotationError, ConflictError])
def test_errors_of_one_line(way: Callable[[Any], Any], kind: type[AlignerError]) -> None:
    found = way(kind("what is wrong (what to do)"))
    assert (type(found), str(found)) == (kind, "what is wrong (what to do)")


@each_way
@pytest.mark.parametrize("kind", [CorpusError, BrokenLine, ModelError])
def test_errors_of_files(way: Callable[[Any], Any], kind: type[CorpusError]) -> None:
    """Among them those that a worker of a pool raises, which would not come back without."""
    error = kind("a.en", 7, "is cut off", hint="copy it again")
    found = way(error)
    assert (type(found), str(found)) == (kind, "a.en:7: is cut off (copy it again)")
    assert vars(found) == vars(error)


@each_way
def test_a_model_and_its_training(way: Callable[[Any], Any], training: aligner.Training) -> None:
    unused = way(training.model)
    expected = training.model.align(*PAIR)
    for model in (unused, way(training.model), way(training).model):
        assert model.align(*PAIR) == expected
        assert model.record == training.model.record


@each_way
def test_a_model_that_was_loaded(way: Callable[[Any], Any], training: aligner.Training, tmp_path: Path) -> None:
    training.model.save(tmp_path / "M")
    loaded = aligner.load(tmp_path / "M")
    assert way(loaded).align(*PAIR) == training.model.align(*PAIR)
    assert way(loaded).align(*PAIR) == training.model.align(*PAIR)  # it was used now
    assert way(loaded).info() == loaded.info()


@each_way
def test_links_and_what_they_score(way: Callable[[Any], Any], sample: Path) -> None:
    found = aligner.align(sample / "test.en", sample / "test.fr")
    assert way(found).lines() == found.lines()
    assert way(found[0]) == found[0]
    scored = aligner.evaluate(sample / "test.wa", found)
    assert way(scored) == scored
    compared = aligner.compare(sample / "test.wa", {"one": found, "other": found})
    assert str(way(compared)) == str(compared)


@each_way
def test_hooks_and_stops(way: Callable[[Any], Any]) -> None:
    assert way(aligner.Hooks()) == aligner.Hooks()
    assert way(Stop(passes=3)) == Stop(passes=3)


@each_way
@pytest.mark.parametrize("configuration", of_corners(CONFIGURATIONS), ids=str)
def test_solvers_and_results(
    way: Callable[[Any], Any], configuration: Configuration, make_problem: MakeProblem
) -> None:
    problem = make_problem()
    unused = way(problem)
    first = run(problem, configuration.solver, passes=2)
    for again in (
        run(unused, way(configuration.solver), passes=2),
        run(way(problem), configuration.solver, passes=2),
        way(first),
    ):
        assert again.w.tobytes() == first.w.tobytes()
        assert (again.status, again.signature, again.notes) == (first.status, first.signature, first.notes)


@each_way
def test_problems_of_ones_own(way: Callable[[Any], Any]) -> None:
    problem, solver = Multiclass.random(), make_solver("bcfw")
    unused = way(problem)
    found = [run(one, solver, passes=3).w.tobytes() for one in (problem, unused, way(problem))]
    assert len({*found}) == 1
