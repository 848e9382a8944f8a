"""Links with a guaranteed risk: the guarantee on drawn pairs, the curve by its definition, models that keep it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from commands import refused, run
from hypothesis import given
from hypothesis import strategies as st

import aligner
from aligner.errors import AlignerError, SettingError
from aligner.evaluation.comparison import evaluate
from aligner.model.calibration import judged
from aligner.model.default import default_model, with_links
from aligner.model.file import ModelError, read_model, write_model
from aligner.model.model import Model
from aligner.model.risk import WIDER, RiskCurve
from aligner.training.inputs import LabelledPairs, read_labelled
from aligner.training.risk import measure_risk, warn_of_lines
from aligner.training.settings import LearnSettings
from corpora.links import Links
from corpora.readers import open_corpus


def drawn(pairs: int, rng: np.random.Generator, hardness: float = 1.0) -> Links:
    """Links that are right with the logistic probability of their score; of each pair all are easier, or harder."""
    sizes = rng.integers(0, 12, pairs)
    scores = rng.gamma(2.0, 1.5, sizes.sum()) + np.repeat(rng.normal(0.0, 0.7, pairs), sizes)
    right = rng.random(len(scores)) < 1.0 / (1.0 + np.exp(-scores / hardness))
    words = np.arange(len(scores), dtype=np.int32)
    return Links(words, words, right, np.append(0, np.cumsum(sizes)), scores=scores)


def risk_above(links: Links, threshold: float) -> float:
    """The mean share of wrong links of a pair, of those with this score or more."""
    losses = []
    for pair in range(len(links)):
        part = links.part(pair, pair + 1)
        right = part.sure[part.known_scores >= threshold]
        losses.append(1.0 - right.mean() if len(right) else 0.0)
    return float(np.mean(losses))


@given(st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_the_curve_is_that_of_its_definition(pairs: int, seed: int) -> None:
    links = drawn(pairs, np.random.default_rng(seed))
    curve = RiskCurve.of(links, 7)
    greatest = np.zeros(pairs)
    for threshold, loss, kept in zip(curve.thresholds, curve.losses, curve.kept, strict=True):
        alone = [risk_above(links.part(pair, pair + 1), threshold) for pair in range(pairs)]
        greatest = np.maximum(greatest, alone)
        assert loss == pytest.approx(greatest.sum())
        assert kept == pytest.approx((links.known_scores >= threshold).sum() / 7)
    assert len(curve.thresholds) <= 60
    assert not len(links.source) or (links.known_scores >= curve.thresholds[-1]).all()


@given(st.integers(1, 60), st.integers(0, 2**32 - 1), st.floats(0.01, 0.5))
def test_the_threshold_is_the_loosest_that_keeps_the_risk(pairs: int, seed: int, risk: float) -> None:
    curve = RiskCurve.of(drawn(pairs, np.random.default_rng(seed)), 1)
    fits = [t for t, loss in zip(curve.thresholds, curve.losses, strict=True) if (loss + 1) / (pairs + 1) <= risk]
    if fits:
        assert curve.threshold(risk) == min(fits)
    else:
        with pytest.raises(SettingError, match=f"a risk of {risk:g} (needs at least|cannot be kept)"):
            curve.threshold(risk)


@pytest.mark.slow
@pytest.mark.parametrize("risk", [0.02, 0.05, 0.1])
@pytest.mark.parametrize("labels", [25, 50, 100])
@pytest.mark.parametrize("hardness", [0.7, 2.0])
def test_the_risk_of_further_pairs_is_at_most_what_was_asked(risk: float, labels: int, hardness: float) -> None:
    """Mean over calibrations, those that are refused among them, within three standard errors."""
    rng = np.random.default_rng([labels, round(100 * risk), round(10 * hardness)])
    found, repeats = np.zeros(400), 400
    for repeat in range(repeats):
        try:
            threshold = RiskCurve.of(drawn(labels, rng, hardness), 1).threshold(risk)
        except SettingError:
            continue
        found[repeat] = risk_above(drawn(200, rng, hardness), threshold)
    assert found.mean() <= risk + 3 * found.std() / np.sqrt(repeats)


def test_too_few_labels_and_too_many_errors_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(SettingError, match=r"0\.02 needs at least 49 labelled pairs, 40 labelled pairs are not"):
        RiskCurve.of(drawn(40, rng), 1).threshold(0.02)
    half = drawn(100, rng)
    half = replace(half, sure=rng.random(len(half.source)) < 0.5)
    with pytest.raises(SettingError, match=r"0.1 cannot be kept: of 100 labelled pairs .* \(0.\d+ is the least\)"):
        RiskCurve.of(half, 1).threshold(0.1)
    assert RiskCurve.of(half, 1).describe() == {"0.02": None, "0.05": None, "0.1": None}


@pytest.mark.parametrize(
    "wrong",
    [
        {"thresholds": (1.0, 2.0)}, {"losses": (2.0, 1.0)}, {"losses": (0.0,)}, {"kept": (0.5, np.nan)}, {"pairs": 0},
    ],
)  # fmt: skip
def test_a_curve_that_cannot_be_is_refused(wrong: dict) -> None:
    right = {"thresholds": (2.0, 1.0), "losses": (0.0, 1.0), "kept": (0.5, 1.0), "pairs": 10}
    RiskCurve(**right)
    with pytest.raises(ValueError, match="risk curve"):
        RiskCurve(**right | wrong)


@pytest.fixture(scope="module")
def labelled(model: Model, sample: Path) -> LabelledPairs:
    return read_labelled([open_corpus(sample / "test")], model.normalizers)


@pytest.fixture(scope="module")
def measured(model: Model, labelled: LabelledPairs) -> Model:
    return measure_risk(model, labelled)


def test_links_of_a_risk_are_those_of_more_links_above_a_threshold(measured: Model, labelled: LabelledPairs) -> None:
    careful = measured.with_risk(0.04)
    wider = replace(measured.with_offset(WIDER), calibration=None).align_bitext(labelled.bitext).links
    expected = wider.where(wider.known_scores >= careful.least)
    found = careful.align_bitext(labelled.bitext).links
    assert replace(found, scores=None) == replace(expected, scores=None)
    assert 0 < len(found.source) < len(wider.source)
    assert measured.risk is not None
    kept = len(found.source) / len(measured.align_bitext(labelled.bitext).links.source)
    place = measured.risk.thresholds.index(measured.risk.threshold(0.04))
    assert kept == pytest.approx(measured.risk.kept[place])
    mean = risk_above(judged(found, labelled.links), 0.0)
    assert evaluate(labelled.links, found).risk.mean == pytest.approx(mean)
    assert mean <= 0.04


def test_a_model_keeps_its_risks_until_text_is_added(
    measured: Model, labelled: LabelledPairs, sample: Path, tmp_path: Path
) -> None:
    measured.save(tmp_path / "M")
    loaded = aligner.load(tmp_path / "M")
    assert loaded.risk == measured.risk
    assert loaded.info()["risk_pairs"] == 64
    assert [*loaded.info()["risk"]] == ["0.02", "0.05", "0.1"]
    assert aligner.update_model(loaded, [sample / "test.en", sample / "test.fr"]).risk is None
    header, arrays = read_model(tmp_path / "M")
    with (tmp_path / "broken").open("wb") as file:
        write_model(file, header | {"risk": header["risk"] | {"pairs": 0}}, arrays)
    with pytest.raises(ModelError, match="risk curve"):
        aligner.load(tmp_path / "broken")
    measured.with_risk(0.04).save(tmp_path / "C")
    careful = aligner.load(tmp_path / "C")
    links = measured.with_risk(0.04).align_bitext(labelled.bitext).links
    assert careful.align_bitext(labelled.bitext).links == links
    shifted = careful.with_offset(0.5).align_bitext(labelled.bitext).links
    assert replace(shifted, scores=None) == replace(links, scores=None)


def test_what_was_measured_holds_for_these_scores_alone(measured: Model) -> None:
    default = replace(default_model(measured.statistics), risk=measured.risk)
    for other in (measured.with_offset(0.5), measured.with_risk(0.1), with_links(default, ["neural"])):
        with pytest.raises(AlignerError, match="no labelled pairs have said"):
            other.with_risk(0.1)
    assert with_links(default, []).risk is measured.risk
    assert measured.with_candidates("all").risk is None


def test_a_model_without_labels_knows_of_no_risk(model: Model, sample: Path) -> None:
    with pytest.raises(AlignerError, match="no labelled pairs have said"):
        model.with_risk(0.05)
    for risk in (0.0, 1.0, -1.0, float("nan")):
        with pytest.raises(SettingError, match="give a share of wrong links like"):
            model.with_risk(risk)
    taught = read_labelled([open_corpus(sample / "train")], model.normalizers)
    with pytest.raises(SettingError, match=r"there are no .* 313 of 313 labelled pairs have taught"):
        measure_risk(model, taught)
    with pytest.raises(SettingError, match="there are no labelled pairs"):
        measure_risk(model, taught.take(np.empty(0, np.int64)))


def test_single_pairs_that_have_taught_are_left_out(model: Model, labelled: LabelledPairs, measured: Model) -> None:
    known = replace(model, record={**model.record, "taught": labelled.digests[:10]})
    with pytest.warns(
        UserWarning, match="10 of 64 labelled pairs have taught this model its weights, and are left out"
    ):
        found = measure_risk(known, labelled)
    assert found.risk == measure_risk(model, labelled.take(np.arange(10, 64))).risk != measured.risk


def test_pairs_that_are_there_twice_stay_together(labelled: LabelledPairs) -> None:
    """Else they would teach the weights, and measure them."""
    twice = labelled.take(np.tile(np.arange(64), 2))
    left, apart = twice.divided(20, 0)
    assert not {*left.digests} & {*apart.digests}
    assert len(left.links) + len(apart.links) == 128
    assert 20 <= len(apart.links) <= 40


@pytest.mark.slow
def test_training_keeps_pairs_apart(sample: Path) -> None:
    learn = LearnSettings(apart=60, cross_validate=0)
    model = aligner.train(sample / "train", learn=learn).model
    assert (model.info()["risk_pairs"], model.info()["labelled_pairs"]) == (60, 253)
    every = read_labelled([open_corpus(sample / "train")], model.normalizers)
    taught = {*model.record["taught"]}
    assert sum(digest not in taught for digest in every.digests) == 60


def journal(prefix: Path, accepted: list[int]) -> None:
    entries = [{"works": {str(pair): {"links": [], "status": "accepted"}}} for pair in accepted]
    lines = [{"journal": "aligner annotate", "pairs": 1000}, *entries]
    Path(f"{prefix}.journal").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_lines_in_a_row_are_warned_of(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    journal(tmp_path / "fair", [3, 17, 18, 200, 512, 900])
    warn_of_lines([str(tmp_path / "fair"), str(tmp_path / "nothing")])
    assert not recwarn.list
    journal(tmp_path / "rows", [*range(40, 90)])
    with pytest.warns(UserWarning, match="rows.journal: 49 of 50 labelled pairs follow the one before in the text"):
        warn_of_lines([str(tmp_path / "rows")])


@pytest.mark.slow
def test_the_commands(model: Model, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model.save("M")
    align, gold = ["align", sample / "test.en", sample / "test.fr"], sample / "test.wa"
    told = run("calibrate", "M", sample / "test", "-o", "N").stderr
    assert re.search(r"risk 0\.05: \d+ % of the links\nrisk 0\.1: \d+ % of the links", told)
    shown = run("info", "N").stdout
    assert re.search(r"(?m)^risk pairs +64\nrisk +0\.02: \d+ % of the links, 0\.05: \d+ % of the links, 0", shown)
    assert "file exists" in refused("calibrate", "nowhere", sample / "test", "-o", "N", "-q")
    assert "M: is read here" in refused("calibrate", "M", sample / "test", "-o", "M", "--force", "-q")
    run(*align, "-m", "N", "--risk", "0.04", "-o", "careful", "-q")
    table = run("evaluate", gold, "careful", "--risk", "0.04", "-q").stdout
    assert re.search(r"^careful +\d\.\d\d +\[.*\] +4\.00 +yes$", table, re.MULTILINE)
    assert "M: no labelled pairs have said which" in refused(*align, "-m", "M", "--risk", "0.04", "-q", "-o", "x")
    for command, what in (
        (["evaluate", gold, "careful", "--format", "json", "--risk", "0.1"], "has no effect in JSON"),
        ([*align, "-m", "N", "--risk", "0.01", "-q", "-o", "x"], "needs at least 99 labelled pairs"),
        ([*align, "--risk", "0.04"], "--risk"),
        ([*align, "-m", "N", "--risk", "0.04", "--offset", "1"], "which decides how many links"),
    ):
        assert what in run(*command, code=2).stderr
    assert not Path("x").exists()
