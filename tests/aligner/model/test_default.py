"""The default model: no label is needed, and what it says follows from the text and the weights of the package."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from commands import run
from whole_texts import posteriors

import aligner
from aligner.evaluation.counts import error_rate
from aligner.model.aligning import Part, align
from aligner.model.decoding import Alignment, decode_edges
from aligner.model.default import REWARDS, default_model, default_weights, with_links
from aligner.model.model import Model
from aligner.training.train import update_model
from corpora.bitext import Bitext, read_bitext
from corpora.link_files import KINDS, read_links
from corpora.links import Links
from corpora.normalize import Normalizer
from corpora.readers import open_corpus
from features.extractor import FAMILIES, FeatureSet
from features.families.links import NAMES, numbered
from features.statistics import CorpusStatistics


@pytest.fixture(scope="module")
def text(sample: Path) -> Bitext:
    return read_bitext([open_corpus(str(sample / "train"))], Normalizer(), Normalizer(), lambda pairs: None)


def counted(text: Path) -> Model:
    """The model of a text without labels."""
    with pytest.warns(UserWarning, match="no labelled pairs"):
        return aligner.train([f"{text}.en", f"{text}.fr"]).model


@pytest.fixture(scope="module")
def model(sample: Path) -> Model:
    return counted(sample / "train")


def links_of(model: Model, bitext: Bitext) -> Links:
    return Links.from_sets(model.align_bitext(bitext))


def alignments(model: Model, bitext: Bitext) -> list[Alignment]:
    return [one for _, found in align([Part(bitext)], model) for one in found]


def test_the_weights_are_those_of_the_features() -> None:
    assert set(default_weights().weights) == {name for family in FAMILIES.values() for name in family.NAMES}
    assert all(np.isfinite(weight) for weight in default_weights().weights.values())


def test_the_unsupervised_decoder_is_a_linear_score(text: Bitext) -> None:
    """With up to three links a word, but for posteriors so near to a half that they are rounded."""
    statistics = CorpusStatistics.from_bitext(text)
    assert statistics.translation is not None
    edges = FeatureSet(("bias", "hmm"), candidates="all").extract(text, statistics)
    prior = {"hmm_soft": 8.0, "bias": -4.0}
    weights = np.array([prior.get(name, 0.0) for name in edges.names])
    ours = decode_edges(edges, weights, REWARDS)
    theirs = posteriors(statistics.translation, text).soft_links(0.5)
    soft = posteriors(statistics.translation, text).soft
    compared = 0
    for i, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        if (abs(soft[edges.lists.offsets[i] : edges.lists.offsets[i + 1]] - 0.5) < 0.01).any():
            continue
        most = np.bincount([j for j, _ in other.sure], minlength=1).max(initial=0)
        most = max(most, np.bincount([k for _, k in other.sure], minlength=1).max(initial=0))
        if most <= len(REWARDS.source) + 1:
            assert set(mine.links) == other.sure
            compared += 1
    assert compared > len(text) / 2


def test_it_aligns_without_labels(sample: Path, text: Bitext, model: Model) -> None:
    gold = Links.from_pairs(open_corpus(str(sample / "train")).links())
    statistics = model.statistics.translation
    assert statistics is not None
    both = [links_of(model, text), posteriors(statistics, text).soft_links()]
    ours, theirs = aligner.compare(gold, both, gold_name="", names=["default", "soft"], resamples=1)
    assert ours.aer < theirs.aer + 0.02
    assert "default_weights" in model.record
    assert "labelled_pairs" not in model.record


def test_more_links_are_found_among_more_candidates(text: Bitext, model: Model) -> None:
    """Fewer candidates change no score and no link of this text; who wants more links gets the others back."""
    more, wanting = model.with_candidates("likely"), model.with_offset(0.5)
    assert (model.features.candidates, wanting.features.candidates) == ("fewer", "likely")
    assert model.with_offset(0.5, of_text=True).features.candidates == model.with_offset(-0.5).features.candidates
    assert list(model.align_bitext(text)) == list(more.align_bitext(text))
    assert list(wanting.align_bitext(text)) == list(more.with_offset(0.5).align_bitext(text))
    fewer, every = (m.features.encode(text, m.statistics, to_align=True).batch(0, len(text)) for m in (model, more))
    assert len(fewer.cells) < 0.8 * len(every.cells)


def test_candidates_have_all_that_is_linked(text: Bitext, model: Model) -> None:
    every = model.with_candidates("all")
    assert every.features.candidates == "all"
    assert alignments(every, text) == alignments(model, text)


def test_the_offset_asks_for_links(text: Bitext, model: Model) -> None:
    sizes = [len(links_of(model.with_offset(offset), text).source) for offset in (-2.0, -0.5, 0.0, 0.5, 2.0)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def test_an_update_adds_a_corpus(sample: Path, text: Bitext, tmp_path: Path) -> None:
    lines = {side: (sample / f"train.{side}").read_text("utf-8").splitlines(keepends=True) for side in ("en", "fr")}
    for name, part in (("first", slice(0, 90)), ("second", slice(90, None))):
        for side in ("en", "fr"):
            (tmp_path / f"{name}.{side}").write_text("".join(lines[side][part]), "utf-8")
    first = counted(tmp_path / "first")
    both = update_model(first, str(tmp_path / "second"))
    assert both.weights.tobytes() == first.weights.tobytes()
    assert len(both.record["updates"]) == 1
    whole = default_model(CorpusStatistics.from_bitext(text))
    assert both.statistics.cooccurrence.pairs == whole.statistics.cooccurrence.pairs
    assert set(both.statistics.source_ids) == set(whole.statistics.source_ids)
    gold = Links.from_pairs(open_corpus(str(sample / "train")).links())
    answers = [links_of(m, text) for m in (first, both, whole)]
    before, updated, at_once = aligner.compare(gold, answers, resamples=1)
    assert updated.aer < before.aer
    assert updated.aer < at_once.aer + 0.05
    both.save(tmp_path / "both.model")
    assert alignments(aligner.load(tmp_path / "both.model"), text) == alignments(both, text)


@pytest.fixture(scope="module")
def gold(sample: Path) -> Links:
    return read_links(sample / "train.wa")


def test_links_of_other_aligners(model: Model, text: Bitext, gold: Links) -> None:
    """Whoever denies what they say is wrong more often, and the more so the surer the kind of aligner is."""
    wrong = [
        error_rate(gold, with_links(model, kinds).align_bitext(text, [gold] * len(kinds)).links)
        for kinds in ([], ["statistical"], ["neural"], ["statistical", "neural"])
    ]
    assert wrong == sorted(wrong, reverse=True)
    assert wrong[0] > 1.2 * wrong[2]


def test_aligners_that_say_nothing_change_nothing(model: Model, text: Bitext, gold: Links) -> None:
    nothing = Links.from_sets([()] * len(text))
    assert Links.from_sets(with_links(model, ["neural"]).align_bitext(text, [nothing])) == links_of(model, text)
    both = with_links(model, ["neural", "statistical"]).align_bitext(text, [gold, nothing])
    alone = with_links(model, ["neural"]).align_bitext(text, [gold])
    assert Links.from_sets(both) == Links.from_sets(alone)


def test_links_are_probabilities_of_1(model: Model, text: Bitext, gold: Links) -> None:
    certain, half = (
        replace(gold, scores=np.full(len(gold.source), probability, np.float32)) for probability in (1.0, 0.5)
    )
    found = [with_links(model, ["neural"]).align_bitext(text, [one]) for one in (gold, certain, half)]
    assert np.array_equal(found[0].links.scores, found[1].links.scores)
    assert found[0].links == found[1].links != found[2].links


def test_a_kind_of_aligner_has_weights() -> None:
    names = {f"links:{kind}{column}" for kind in KINDS for column in NAMES}
    assert set(default_weights().links) == names
    columns = FeatureSet((), links=numbered([*KINDS, KINDS[1]])).names
    assert (default_weights().of(columns)[[0, 2, 4]] >= 0).all()
    assert (default_weights().of(columns)[[1, 3, 5]] <= 0).all()
    assert default_weights().links["links:neural"] > 1


@pytest.mark.slow
def test_text_is_aligned_beside_links(sample: Path, tmp_path: Path) -> None:
    """As the default model does that has counted it."""
    text = [f"{sample}/train.{language}" for language in ("en", "fr")]
    named = f"neural={sample / 'train.wa'}"
    found = aligner.align(*text, settings=aligner.AlignSettings(links=(named,)))
    counted(sample / "train").save(tmp_path / "M")
    lines = run("align", *text, "-m", tmp_path / "M", "--links", named, "-q").stdout
    assert lines == found.lines().decode() == run("align", *text, "--links", named, "-q").stdout
    assert lines != run("align", *text, "--links", sample / "train.wa", "-q").stdout
    sampled = run("align", *text, "--links", named, "-q", "--sample", 1000).stdout
    assert sampled == lines
