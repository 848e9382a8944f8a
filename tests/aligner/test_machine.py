"""The word alignment model for machine.py, used as machine.py uses those of its Thot."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

import aligner
from aligner.errors import AlignerError

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # of what machine.py imports
    pytest.mark.skipif(importlib.util.find_spec("machine") is None, reason="sil-machine is not installed"),
]


def corpus_of(*stems: Path) -> Any:
    from machine.corpora import TextFileTextCorpus

    return TextFileTextCorpus(f"{stems[0]}.en").align_rows(TextFileTextCorpus(f"{stems[0]}.fr"))


def pairs_of(stem: Path) -> list[tuple[list[str], list[str]]]:
    sides = [Path(f"{stem}.{language}").read_text("utf-8").splitlines() for language in ("en", "fr")]
    return [(source.split(), target.split()) for source, target in zip(*sides, strict=True)]


@pytest.fixture(scope="module")
def trained(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A model of the sample, and what its trainer told."""
    from aligner.machine import AlignerWordAlignmentModel

    told: list[Any] = []
    model = AlignerWordAlignmentModel(tmp_path_factory.mktemp("machine") / "verses.model")
    with model.create_trainer(corpus_of(sample / "train")) as trainer:
        trainer.train(told.append)
        trainer.save()
        told.append(trainer.stats.train_corpus_size)
    return model, told


def test_its_links_are_those_of_the_command(trained: Any, sample: Path, tmp_path: Path) -> None:
    """Of a model with the default weights; and a stored model is opened again, whoever wrote it."""
    from aligner.machine import AlignerWordAlignmentModel

    model, told = trained
    pairs = pairs_of(sample / "test")
    found = [
        {(int(i), int(j)) for i, j in zip(*matrix._matrix.nonzero(), strict=True)}
        for matrix in model.align_batch(pairs)
    ]
    with pytest.warns(UserWarning, match="default weights"):
        ours = aligner.train([f"{sample}/train.en", f"{sample}/train.fr"]).model
    assert found == [set(alignment) for alignment in ours.align_many(pairs)]
    assert aligner.evaluate(f"{sample}/test.wa", found).aer < 0.1
    ours.save(tmp_path / "M")
    for path in (model.path, tmp_path / "M"):
        with AlignerWordAlignmentModel(path) as again:
            assert again.align(*pairs[4]) == model.align(*pairs[4])
    assert told[-1] == 313
    assert [status.step for status in told[:-1]] == [*range(1, len(told))]
    assert "pass 1" in told[0].message


def test_translations_are_shares_of_a_words_links(trained: Any) -> None:
    model, _ = trained
    words = list(model.target_words)
    assert words[0] == "NULL"
    assert words.index("maison") == model.target_words.index("Maison") == model.target_words.index("maison")
    assert model.source_words.index("no-such-word") == -1
    shares = {words[place]: share for place, share in model.get_translations("house")}
    assert max(shares, key=shares.__getitem__) == "maison"
    assert 0.5 < sum(shares.values()) <= 1.0 + 1e-9  # the rest is NULL's
    assert shares["maison"] == model.get_translation_score("House", "maison")
    assert all(share > 0.2 for _, share in model.get_translations("house", 0.2))
    assert 0.0 < model.get_translation_score(None, "de") < 1.0
    assert model.get_translation_score("no-such-word", "de") == model.get_translation_score("de", None) == 0.0
    table = model.get_translation_table(0.1)
    assert len(table) == len(model.source_words)
    assert not table["NULL"] or "NULL" not in table["NULL"]


def test_scores_of_pairs_of_words(trained: Any, sample: Path) -> None:
    """As machine.py writes them: of links, and of words without one."""
    model, _ = trained
    source, target = pairs_of(sample / "test")[4]
    pairs = list(model.align(source, target).to_aligned_word_pairs(include_null=True))
    model.compute_aligned_word_pair_scores(source, target, pairs)
    for pair in pairs:
        assert 0.0 <= pair.translation_score <= 1.0
        linked = min(pair.source_index, pair.target_index) >= 0
        assert 0.0 < pair.alignment_score < 1.0 if linked else pair.alignment_score == 0.0
    assert model.get_avg_translation_score(source, target, model.align(source, target)) > 0.0


def test_rows_that_cannot_be_learnt_from_are_left_out(sample: Path, tmp_path: Path) -> None:
    from machine.corpora import ParallelTextCorpus, ParallelTextRow

    from aligner.machine import AlignerTrainer, AlignerWordAlignmentModel

    rows = [ParallelTextRow("t", [n], [n], *pair) for n, pair in enumerate(pairs_of(sample / "train")[:40], 1)]
    odd = [ParallelTextRow("t", [41], [41], ["a"], []), ParallelTextRow("t", [42], [42], ["a"] * 3000, ["b"])]
    model = AlignerWordAlignmentModel()
    with model.create_trainer(ParallelTextCorpus.from_parallel_rows([*odd, *rows])) as trainer:
        with pytest.raises(AlignerError, match="call train first"):
            trainer.save()
        trainer.train()
        with pytest.raises(AlignerError, match="is not trained"):
            model.align(["a"], ["b"])
        trainer.save()
        assert trainer.stats.train_corpus_size == 40
    assert model.align(*rows[0]).row_count == len(rows[0].source_segment)
    assert model.align([], ["b"]).column_count == 1
    with pytest.raises(AlignerError, match="no row with text"):
        AlignerTrainer(ParallelTextCorpus.from_parallel_rows(odd[:1])).train()


def test_cancelling_leaves_no_file(sample: Path, tmp_path: Path) -> None:
    from aligner.machine import AlignerTrainer

    calls = 0

    def cancel() -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt

    with AlignerTrainer(corpus_of(sample / "train"), tmp_path / "M") as trainer, pytest.raises(KeyboardInterrupt):
        trainer.train(check_canceled=cancel)
    assert not list(tmp_path.iterdir())
