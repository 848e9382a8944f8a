"""Training on the sample: reproducible, certified, better than guessing, and clear about what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from whole_texts import aer

import aligner
from aligner.errors import SettingError
from aligner.model.default import default_weights
from aligner.progress import Hooks, Progress
from aligner.solvers import Status
from aligner.training.inputs import read_labelled
from aligner.training.settings import CountSettings, LearnSettings
from corpora.corpus import Corpus
from corpora.errors import CorpusError
from corpora.link_files import read_links
from corpora.links import Links, PairLinks
from corpora.normalize import Normalizer
from corpora.readers import open_corpus
from features import extractor
from features.extractor import FAMILIES
from features.table import gather

WriteCorpus = Callable[..., Path]


@pytest.fixture(scope="module")
def training(sample: Path) -> aligner.Training:
    return aligner.train(str(sample / "train"), learn=LearnSettings(loss="hinge"))


@pytest.fixture
def write_corpus(tmp_path: Path) -> WriteCorpus:
    """Write PREFIX.en, PREFIX.fr, and PREFIX.wa where there are links."""

    def write(name: str, source: str, target: str, links: str | None = None, languages: str = "en fr") -> Path:
        for suffix, text in zip([*languages.split(), "wa"], (source, target, links), strict=True):
            if text is not None:
                (tmp_path / f"{name}.{suffix}").write_text(text, "utf-8")
        return tmp_path / name

    return write


@pytest.mark.slow
def test_learning_by_the_statistics_of_a_model_is_training_of_its_text(
    training: aligner.Training, sample: Path
) -> None:
    model = training.model
    labelled = read_labelled([open_corpus(str(sample / "train"))], model.normalizers)
    learnt = aligner.learn(model.statistics, labelled, LearnSettings(loss="hinge")).model
    np.testing.assert_array_equal(learnt.weights, model.weights)
    times = {"seconds", "fold_seconds", "total_seconds"}
    assert {name for name, value in learnt.record.items() if value != model.record[name]} <= times
    with pytest.raises(SettingError, match=r"have no translation model of .*words.* \(count the text anew\)"):
        aligner.learn(replace(model.statistics, translation=None), labelled)


def test_the_sample_is_learnt(training: aligner.Training, sample: Path) -> None:
    test = open_corpus(str(sample / "test"))
    diagonal = Links.from_pairs(PairLinks(frozenset((j, j * K // J) for j in range(J))) for J, K in test.lengths())
    gold = Links.from_pairs(test.links())
    (trivial,) = aligner.compare(gold, [diagonal], gold_name="", names=["diagonal"], resamples=1)
    assert aer(training.model, test) < min(0.15, 0.4 * trivial.aer)


def test_convergence_is_certified(training: aligner.Training) -> None:
    assert training.result.status is Status.CONVERGED
    assert not training.interrupted
    record, last = training.model.record, training.result.trace[-1]
    assert record["converged"] is True
    assert 0 <= record["relative_gap"] == last.relative_gap <= 1e-3
    assert (record["primal"], record["dual"], record["passes"]) == (
        training.result.primal,
        training.result.dual,
        last.passes,
    )
    model = training.model
    further = [*np.diff(model.rewards.source, prepend=0.0), *np.diff(model.rewards.target, prepend=0.0)]
    np.testing.assert_allclose([*model.weights, *further], training.result.w)
    assert len(further) == 2 * (record["fertility"] - 1) > 0


def test_the_record_says_what_was_trained_on(training: aligner.Training, sample: Path) -> None:
    record = training.model.record
    text = [(sample / f"train.{language}").read_text("utf-8") for language in ("en", "fr")]
    assert record["pairs"] == record["labelled_pairs"] == record["labelled_pairs_available"] == text[0].count("\n")
    assert [record["source_tokens"], record["target_tokens"]] == [len(t.split()) for t in text]
    assert record["corpora"] == record["gold"] == [str(sample / "train")]
    assert record["features"] == len(training.model.weights) == sum(len(f.NAMES) for f in FAMILIES.values())
    assert 0 <= record["links_unlisted"] < record["edges"]
    # The training AER is that of the answers on the training text.
    assert record["training_aer"] == pytest.approx(100 * aer(training.model, open_corpus(str(sample / "train"))))


@pytest.mark.slow
def test_the_same_seed_gives_the_same_weights(sample: Path) -> None:
    settings: dict[str, Any] = {"max_passes": 4, "solver_options": {"order": "uniform"}, "max_labelled": 100}
    first, second, other = (
        aligner.train(sample / "train", learn=LearnSettings(seed=seed, **settings)).model.weights for seed in (3, 3, 99)
    )
    assert first.tobytes() == second.tobytes() != other.tobytes()


def test_memory_does_not_matter(training: aligner.Training, sample: Path) -> None:
    assert (
        aligner.train(str(sample / "train"), learn=LearnSettings(memory=0, loss="hinge")).model.weights
        == training.model.weights
    ).all()


def test_features_leave_solvers_room_for_the_longest_pair(
    write_corpus: WriteCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[np.ndarray] = []

    def remember(parts: Iterable[np.ndarray], columns: int, memory: int) -> np.ndarray:
        made.append(gather(parts, columns, memory))
        return made[-1]

    monkeypatch.setattr(extractor, "gather", remember)
    long = " ".join("abcdefghijklmnopqrst")
    corpus = write_corpus("t", f"{long}\n", f"{long}\n", "0-0\n")
    settings: dict[str, Any] = {"families": ["bias"], "max_passes": 1}
    for memory in (2 << 30, 4 * 20 * 20):
        aligner.train(corpus, learn=LearnSettings(memory=memory, **settings), gold=corpus)
    assert [isinstance(table, np.memmap) for table in made] == [False, True], "the second fits, but nothing beside it"


def test_labels_from_the_corpora_that_have_them(sample: Path, tmp_path: Path) -> None:
    for language in ("en", "fr"):
        (tmp_path / f"more.{language}").write_bytes((sample / f"train.{language}").read_bytes())
    record = aligner.train([tmp_path / "more", sample / "test"], learn=LearnSettings(cross_validate=0)).model.record
    n_train, n_test = (len(read_links(sample / f"{part}.wa")) for part in ("train", "test"))
    assert (record["pairs"], record["labelled_pairs"]) == (n_train + n_test, n_test)
    assert record["gold"] == [str(sample / "test")]


def test_one_path_or_many_as_strings_or_paths_and_gold_is_not_counted(sample: Path, training: aligner.Training) -> None:
    train, test, links = sample / "train", sample / "test", sample / "test.wa"
    learn = LearnSettings(cross_validate=0)
    first = aligner.train(train, learn=learn, gold=test, links=links).model
    again = aligner.train([str(train)], learn=learn, gold=[str(test)], links=[str(links)]).model
    assert (first.weights == again.weights).all()
    for name, path in {"corpora": train, "gold": test}.items():
        assert first.record[name] == again.record[name] == [str(path)]
    assert first.record["labelled_pairs"] == len(read_links(links))
    ours, theirs = training.model.statistics.to_arrays(), first.statistics.to_arrays()
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)


def test_a_sample_of_the_labels(sample: Path) -> None:
    record = aligner.train(str(sample / "train"), learn=LearnSettings(max_labelled=40, cross_validate=0)).model.record
    assert (record["labelled_pairs"], record["pairs"]) == (40, record["labelled_pairs_available"])
    # Links of other aligners are of the same pairs: they fit their gold perfectly.
    links = [sample / "train.wa"]
    guided = aligner.train(
        str(sample / "train"), learn=LearnSettings(max_labelled=40, cross_validate=0, families=("bias",)), links=links
    )
    assert guided.model.features.names == ("bias", "links:statistical-1", "links:statistical-1:pair")
    assert guided.model.record["labelled_pairs"] == 40
    weights = dict(zip(guided.model.features.names, guided.model.weights, strict=True))
    assert weights["bias"] < 0 < sum(weights.values())


def test_progress_is_told(sample: Path) -> None:
    told: list[Progress] = []
    corpora: list[Corpus] = []
    hooks = Hooks(on_corpus=corpora.append, on_progress=told.append)
    train, test = str(sample / "train"), str(sample / "test")
    training = aligner.train(train, learn=LearnSettings(loss="hinge", max_passes=20), gold=[test], hooks=hooks)
    record = training.model.record
    assert [corpus.name for corpus in corpora] == [train, test]
    done: dict[str, list[float]] = {}
    for progress in told:
        done.setdefault(progress.stage, []).append(progress.done)
    assert [*done] == ["reading", "counting", "translation", "features", "training"]
    assert done["reading"] == [record["pairs"], record["labelled_pairs"]]
    assert all(numbers == sorted(numbers) for stage, numbers in done.items() if stage != "reading")
    assert (done["counting"][-1], done["features"][-1]) == (1.0, record["labelled_pairs"])
    assert len(done["training"]) >= len(training.result.trace)
    assert {p.total for p in told if p.stage == "training"} == {record["folds"] + 1}


def test_families_and_words_are_as_asked_for(sample: Path) -> None:
    learn = LearnSettings(families=("association", "bias"), cross_validate=0)
    count = CountSettings(normalizers=(Normalizer(casefold=False), Normalizer()))
    model = aligner.train(str(sample / "train"), learn=learn, count=count).model
    assert model.features.names == (*FAMILIES["association"].NAMES, "bias")
    assert {"The", "the"} <= set(model.statistics.source_ids)
    assert "Le" not in model.statistics.target_ids


@pytest.mark.parametrize(
    "settings",
    [
        {"solver": "magic"}, {"solver_options": {"order": "magic"}}, {"solver_options": {"step": "magic"}},
        {"solver_options": {"average": "magic"}}, {"oracle": "magic"}, {"families": ["magic"]}, {"families": []},
        {"families": ["bias", "bias"]}, {"solver": "frank-wolfe", "solver_options": {"order": "uniform"}},
        {"regularization": 0.0}, {"regularization": nan}, {"miss_cost": -1.0}, {"false_cost": inf},
        {"max_labelled": 0}, {"max_passes": -1}, {"tolerance": -1e-3}, {"max_seconds": -1.0}, {"seed": -1},
        {"cross_validate": 1}, {"cross_validate": -1}, {"loss": "magic"}, {"words": -1}, {"words": 1001},
    ],
    ids=str,
)  # fmt: skip
def test_settings_that_cannot_work(sample: Path, settings: dict[str, Any]) -> None:
    with pytest.raises(SettingError):
        aligner.train(str(sample / "train"), learn=LearnSettings(**settings))


@pytest.mark.parametrize(
    ("links", "line", "what"),
    [
        ("0-0\n0-1\n0-0\n", 2, "link 0-1 is out of range for 1 source and 1 target"),
        ("0-0\n0-0\n1-0\n", 3, "link 1-0 is out of range"),
        ("0-0\n0-0\n", 2, "links end after 2 pairs"),
        ("0-0\n0-0\n\n0-0\n", 4, "text ends after 3 pairs"),
        ("0-0\n0-0\n0-0-0\n", 3, "0-0-0"),
    ],
)
def test_links_that_do_not_fit(write_corpus: WriteCorpus, links: str, line: int, what: str) -> None:
    corpus = write_corpus("text", "a\nb\nc\n", "d\ne\nf\n")
    gold = write_corpus("gold", "a\nb\nc\n", "d\ne\nf\n", links)
    with pytest.raises(CorpusError, match=what) as error:
        aligner.train(corpus, gold=gold)
    assert (error.value.path, error.value.line) == (f"{gold}.wa", line)
    fitting = write_corpus("fitting", "a\nb\nc\n", "d\ne\nf\n", "0-0\n" * 3)
    with pytest.raises(CorpusError, match=what) as error:
        aligner.train(corpus, gold=fitting, links=f"{gold}.wa")
    assert (error.value.path, error.value.line) == (f"{gold}.wa", line)


def test_languages_that_differ(write_corpus: WriteCorpus) -> None:
    corpus = write_corpus("text", "a\n", "b\n")
    crossed = write_corpus("crossed", "a\n", "b\n", "0-0\n", languages="de fr")
    with pytest.raises(CorpusError, match="source language is de, the corpus has en") as error:
        aligner.train(corpus, gold=crossed)
    assert error.value.path == str(crossed)


def test_gold_whose_sides_are_swapped(sample: Path, tmp_path: Path) -> None:
    for side, other in (("en", "fr"), ("fr", "en")):
        (tmp_path / f"gold.{side}").write_bytes((sample / f"test.{other}").read_bytes())
    turned = re.sub(r"(\d+)([-?])(\d+)", r"\3\2\1", (sample / "test.wa").read_text())
    (tmp_path / "gold.wa").write_text(turned)
    with pytest.warns(
        UserWarning, match=r"of the target words, the other way round .* \(are the sides of gold swapped"
    ):
        aligner.train(str(sample / "train"), str(tmp_path / "gold"))


def test_no_labels(write_corpus: WriteCorpus) -> None:
    corpus = write_corpus("text", "a\nb\n", "c\nd\n")
    with pytest.warns(UserWarning, match=r"no labelled pairs: .*default weights \(`gold`"):
        training = aligner.train(corpus)
    assert (training.result, training.interrupted) == (None, False)
    useless: dict[str, dict[str, Any]] = {
        "loss": {"learn": LearnSettings(loss="hinge")}, "max_passes": {"learn": LearnSettings(max_passes=3)},
        "links": {"links": f"{corpus}.wa"},
    }  # fmt: skip
    for name, given in useless.items():
        with pytest.raises(SettingError, match=f"`{name}` has no effect without labelled pairs"):
            aligner.train(corpus, **given)
    with pytest.raises(CorpusError, match="has no links"):
        aligner.train(corpus, gold=corpus)
    with pytest.raises(SettingError, match="no corpus"):
        aligner.train([])


def test_labels_of_pairs_without_words(write_corpus: WriteCorpus) -> None:
    # Empty sentences among the labelled pairs, and a pair that no link can be wrong in.
    corpus = write_corpus("text", "a b\n\n\nc\n", "d\ne\n\nf\n", "0-0 1?0\n\n\n0-0\n")
    assert aligner.train(corpus).result.status is Status.CONVERGED
    nothing, known = write_corpus("nothing", "\n", "\n", "\n"), default_weights().weights
    for loss in ("hinge", None):
        with pytest.warns(UserWarning, match="1 of 1 labelled pairs have no link"):
            training = aligner.train(nothing, learn=LearnSettings(loss=loss))
        assert training.result.status is Status.CONVERGED
        prior = [0.0 if loss else known[name] for name in training.model.features.names]
        assert training.model.weights.tolist() == prior
