"""Families of features and solvers of other packages, which are found by entry points."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from commands import write

import aligner
from aligner.errors import SettingError
from aligner.solvers import make_solver
from aligner.training.settings import LearnSettings
from corpora.bitext import BitextBuilder
from corpora.normalize import Normalizer
from features.extractor import FeatureSet
from features.statistics import CorpusStatistics

THEIRS = """
from aligner.solvers.block import Block
from aligner.solvers.registry import Entry

NAMES = ("lexical",)
OF_WORD_PAIRS = True
LEXICONS = ("pieces",)

def fill(batch, out):
    assert {name.partition("-")[0] for name in batch.text.statistics.translation.lexicons} == {"pieces"}
    assert len(out) == len(batch.word_pairs.source)
    out[:] = 0.5

ENTRY = Entry(Block, {"cache": bool})
"""
ENTRY_POINTS = "[aligner.features]\nones = theirs_of_tests\n[aligner.solvers]\ntheirs = theirs_of_tests:ENTRY\n"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that has the family ``ones`` and the solver ``theirs``."""
    metadata = tmp_path / "theirs_of_tests-1.0.dist-info"
    metadata.mkdir()
    write(metadata / "METADATA", "Metadata-Version: 2.1", "Name: theirs-of-tests", "Version: 1.0")
    write(metadata / "entry_points.txt", ENTRY_POINTS)
    write(tmp_path / "theirs_of_tests.py", THEIRS)
    forget()
    monkeypatch.syspath_prepend(tmp_path)


def forget() -> None:
    from features import extractor

    extractor._elsewhere.cache_clear()
    sys.modules.pop("theirs_of_tests", None)


@pytest.mark.usefixtures("installed")
def test_they_are_found_by_name() -> None:
    assert FeatureSet(("bias", "ones")).names == ("bias", "lexical")
    assert make_solver("theirs") == make_solver("bcfw")
    assert make_solver("theirs", cache="yes") == make_solver("bcfw", cache=True)
    with pytest.raises(SettingError, match="theirs has no option order"):
        make_solver("theirs", order="gap")


@pytest.mark.usefixtures("installed")
def test_a_family_says_what_it_looks_at() -> None:
    features = FeatureSet(("bias", "ones"))
    assert features.lexicons == ("pieces",)
    bitext = BitextBuilder(Normalizer(), Normalizer()).add_pairs([(["a", "b", "a"], ["c", "c"])]).bitext()
    edges = features.extract(bitext, CorpusStatistics.from_bitext(bitext, lexicons=features.lexicons))
    assert (edges.features == [1.0, 0.5]).all()


def test_without_the_package_they_are_unknown() -> None:
    forget()
    with pytest.raises(SettingError, match="unknown feature family 'ones'"):
        FeatureSet(("bias", "ones"))
    with pytest.raises(SettingError, match="unknown solver 'theirs'"):
        make_solver("theirs")


@pytest.mark.slow
def test_a_model_names_the_family_that_is_missing(
    sample: Path, tmp_path: Path, installed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"families": ["association", "ones"], "solver": "theirs", "max_passes": 3}
    model = aligner.train(sample / "train", learn=LearnSettings(**settings)).model
    model.save(tmp_path / "M")
    pair = "a red house".split(), "une maison rouge".split()
    assert aligner.load(tmp_path / "M").align(*pair) == model.align(*pair)
    monkeypatch.undo()
    forget()
    with pytest.raises(aligner.AlignerError, match="unknown feature family 'ones'"):
        aligner.load(tmp_path / "M")
