"""A model answers the same however it is asked, saved and loaded too; it says when a text is not of its languages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import invoke

import aligner
from aligner.errors import AlignerError
from aligner.model.acquaintance import FEWEST_WORDS, MOST_WORDS, Acquaintance
from aligner.model.decoding import Alignment
from aligner.model.file import ModelError, read_model, write_model
from aligner.model.model import Model
from aligner.training.settings import CountSettings, LearnSettings
from corpora.corpus import TextLine
from corpora.errors import CorpusError
from corpora.link_files import read_links
from corpora.links import Links
from corpora.normalize import Normalizer
from corpora.readers import open_corpus
from tests.model_files import rewrite

Pairs = list[tuple[list[str], list[str]]]


@pytest.fixture(scope="module")
def pairs(sample: Path) -> Pairs:
    lines = [(sample / f"test.{language}").read_text("utf-8").split("\n")[:-1] for language in ("en", "fr")]
    found = [(source.split(), target.split()) for source, target in zip(*lines, strict=True)]
    return [*found[:20], ([], found[0][1]), ([], []), *found[20:], (found[3][0], [])]


@pytest.fixture(scope="module")
def gold(sample: Path) -> Links:
    return read_links(sample / "test.wa")


def test_every_way_of_asking(model: Model, pairs: Pairs) -> None:
    one_by_one = [model.align(source, target) for source, target in pairs]
    builder = model.builder()
    for source, target in pairs:
        builder.add_lines([" ".join(source).encode()], [" ".join(target).encode()])
    assert list(model.align_many(pairs)) == one_by_one
    assert list(model.align_bitext(builder.bitext())) == one_by_one
    assert sum(map(len, one_by_one)) > 500
    assert list(model.align_many([])) == []
    assert model.align((), ()) == Alignment((), ())


def test_order_over_many_batches(model: Model, pairs: Pairs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aligner.model.model.PAIRS_AT_ONCE", 7)
    expected = [model.align(source, target) for source, target in pairs]
    n = 5 * len(pairs)
    stream = (pairs[i % len(pairs)] for i in range(n))
    assert list(model.align_many(stream)) == [expected[i % len(pairs)] for i in range(n)]


def test_a_stream_is_not_read_far_ahead(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aligner.model.model.PAIRS_AT_ONCE", 4)
    taken = 0

    def endless() -> Iterator[tuple[list[str], list[str]]]:
        nonlocal taken
        while True:
            taken += 1
            yield ["a", "red", "house"], ["une", "maison", "rouge"]

    answers = model.align_many(endless())
    first = next(answers)
    assert all(next(answers) == first for _ in range(20))
    assert taken < 200
    answers.close()  # type: ignore[attr-defined]


def test_odd_tokens(model: Model) -> None:
    assert (2, 2) in model.align(["", "\ud800", "x" * 500], ["\u2028", "\x00", "x" * 500])
    assert model.align(["caf\xe9"], ["CAF\xc9"]) == model.align(["cafe\u0301"], ["caf\xe9"])  # canonically equal


@pytest.mark.parametrize("pair", [(["a"], ["b", 3]), ([None], ["b"]), ([b"a", 1.5], ["b"])])
def test_tokens_are_strings(model: Model, pair: Any) -> None:
    for align in (lambda: model.align(*pair), lambda: list(model.align_many([pair])), lambda: aligner.align([pair])):
        with pytest.raises(TypeError, match=r"a token is a string, not (3|None|1\.5)"):
            align()


@pytest.mark.parametrize("pair", [("a house", ["une"]), (["a"], "une maison"), ("", "")])
def test_strings_are_no_tokens(model: Model, pair: Any) -> None:
    with pytest.raises(TypeError, match="split"):
        model.align(*pair)
    with pytest.raises(TypeError, match="split"):
        list(model.align_many([(["a"], ["b"]), pair]))


def test_links_of_other_aligners(linked: Model, gold: Links, pairs: Pairs) -> None:
    pairs = [pair for pair in pairs if pair[0] and pair[1]]
    links = [pair.sure for pair in gold]
    found = list(linked.align_many(pairs, [links]))
    assert found == [linked.align(*pair, [of]) for pair, of in zip(pairs, links, strict=True)]
    without = list(linked.align_many(pairs, [[()] * len(pairs)]))
    hits = [
        sum(len(set(alignment) & sure) for alignment, sure in zip(answers, links, strict=True))
        for answers in (found, without)
    ]
    assert linked.weights[linked.features.names.index("links:statistical-1")] > 0
    assert hits[0] > hits[1]


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ((), "1 files .* 0 are given"),
        (([(0, 0)], [(0, 0)]), "1 files .* 2 are given"),
        (([(0, 2)],), "link 0-2 .* out of range for 1 source and 2 target"),
        (([(1, 0)],), "link 1-0 .* out of range"),
        (([(0, 0), (-1, 0)],), "link -1-0 .* out of range"),
    ],
)
def test_links_that_do_not_fit(linked: Model, links: Any, message: str) -> None:
    with pytest.raises(AlignerError, match=message):
        linked.align(["a"], ["b", "c"], links)
    assert len(linked.align(["a"], ["b", "c"], [[(0, 1)]])) <= 1


def test_links_for_fewer_pairs(linked: Model, model: Model) -> None:
    with pytest.raises(AlignerError, match="1 lines of links for 2 sentence pairs"):
        list(linked.align_many([(["a"], ["b"])] * 2, [[[(0, 0)]]]))
    with pytest.raises(AlignerError, match="0 files"):
        model.align(["a"], ["b"], [[(0, 0)]])


def test_save_and_load(linked: Model, pairs: Pairs, tmp_path: Path) -> None:
    linked.save(tmp_path / "a.model")
    loaded = aligner.load(tmp_path / "a.model")
    assert loaded.weights.tobytes() == linked.weights.tobytes()
    assert (loaded.features, loaded.record) == (linked.features, linked.record)
    assert loaded.languages == ("en", "fr")
    ours, theirs = linked.statistics.to_arrays(), loaded.statistics.to_arrays()
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
    links = [[{(0, 0)} if source and target else () for source, target in pairs]]
    assert list(loaded.align_many(pairs, links)) == list(linked.align_many(pairs, links))
    loaded.save(tmp_path / "b.model")
    assert (tmp_path / "a.model").read_bytes() == (tmp_path / "b.model").read_bytes()


def test_words_are_kept(sample: Path, tmp_path: Path) -> None:
    model = aligner.train(
        sample / "train", learn=LearnSettings(families=("bias", "association"), words=2, cross_validate=0)
    ).model
    assert [len(words) for words in model.features.words] == [2, 2]
    model.save(tmp_path / "a.model")
    loaded = aligner.load(tmp_path / "a.model")
    assert loaded.features == model.features
    # Case and stems are those of the corpus, unknown vocabulary does not matter.
    word = model.features.words[0][0]
    assert loaded.align([word.upper(), "xyzzy"], ["la", "plugh"]) == model.align([word, "xyzzy"], ["la", "plugh"])


def test_normalizers_are_kept(sample: Path, tmp_path: Path) -> None:
    english, french = Normalizer(casefold=False, stem="en"), Normalizer(stem="french")
    model = aligner.train(
        str(sample / "train"), learn=LearnSettings(cross_validate=0), count=CountSettings(normalizers=(english, french))
    ).model
    model.save(tmp_path / "a.model")
    loaded = aligner.load(tmp_path / "a.model")
    assert loaded.normalizers == (english, french)
    assert loaded.align(["houses", "The"], ["maisons"]) == model.align(["houses", "The"], ["maisons"])


def test_saving_overwrites_nothing_unasked(model: Model, tmp_path: Path) -> None:
    file = tmp_path / "a.model"
    file.write_text("precious")
    with pytest.raises(CorpusError, match="exists"):
        model.save(file)
    assert file.read_text() == "precious"
    model.save(file, force=True)
    assert (aligner.load(file).weights == model.weights).all()
    assert list(tmp_path.iterdir()) == [file]


def test_a_save_that_fails_leaves_nothing(model: Model, tmp_path: Path) -> None:
    file = tmp_path / "a.model"
    model.save(file)
    before = file.read_bytes()
    broken = Model(**{**vars(model), "record": {"not JSON": object()}})
    for name in (file, tmp_path / "b.model"):
        with pytest.raises(TypeError):
            broken.save(name, force=True)
    assert list(tmp_path.iterdir()) == [file]
    assert file.read_bytes() == before
    with pytest.raises(CorpusError, match="folder"):
        model.save(tmp_path / "none" / "a.model")


@pytest.mark.parametrize(
    "change",
    [
        {"families": ["bias", "later invention"]}, {"families": ["bias"]}, {"families": None},
        {"words": [["the"], []]}, {"words": [[], [], []]}, {"words": None}, {"feature_names": ["other"]},
        {"normalizers": [{}]}, {"normalizers": [{"casefold": True, "later": 1}, {}]},
        {"normalizers": [{"stem": "klingon"}, {}]}, {"languages": []}, {"candidates": "later"},
    ],
)  # fmt: skip
def test_models_of_other_versions(model: Model, tmp_path: Path, change: dict[str, Any]) -> None:
    model.save(tmp_path / "a.model")
    rewrite(tmp_path / "a.model", tmp_path / "b.model", **change, version="9.9")
    with pytest.raises(ModelError, match=r"of version 9\.9, holds what .*train the model again"):
        aligner.load(tmp_path / "b.model")


@pytest.mark.parametrize("name", ["weights", "cooccurrence.targets", "source_words.letters", "target_words.flags"])
def test_models_with_missing_or_short_arrays(model: Model, tmp_path: Path, name: str) -> None:
    file = tmp_path / "a.model"
    model.save(file)
    header, arrays = read_model(file)
    for number, change in enumerate(({}, {name: arrays[name][:-1]})):
        kept = {key: array for key, array in arrays.items() if key != name}
        with (tmp_path / f"{number}.model").open("wb") as stream:
            write_model(stream, header, {**kept, **change})
        with pytest.raises(ModelError):
            aligner.load(tmp_path / f"{number}.model")


@pytest.fixture(scope="module")
def texts(sample: Path) -> list[TextLine]:
    return list(open_corpus(sample / "test").texts())


def told(model: Model, *parts: list[TextLine]) -> list[str]:
    """What is told of lines that arrive in these parts."""
    messages: list[str] = []
    watched = Acquaintance(model, messages.append)
    for part in parts:
        assert list(watched(part)) == part
    return messages


def test_of_a_text_of_its_languages_nothing_is_told(model: Model, texts: list[TextLine]) -> None:
    assert not told(model, texts)
    assert not told(model, [])


def test_sides_that_are_swapped(model: Model, texts: list[TextLine]) -> None:
    swapped = [(number, target, source) for number, source, target in texts]
    for parts in ([swapped], [[text] for text in swapped], [swapped, swapped]):
        (message,) = told(model, *parts)
        assert "sides swapped?" in message
    assert not told(model, swapped[: FEWEST_WORDS // 20]), "a few words tell nothing"


@pytest.mark.parametrize("side", [1, 2])
def test_words_of_another_language(model: Model, texts: list[TextLine], side: int) -> None:
    def reversed_words(line: bytes) -> bytes:
        return b" ".join(word[::-1] + b"\xff" for word in line.split())

    other = [(n, *(reversed_words(x) if s == side else x for s, x in enumerate(lines, 1))) for n, *lines in texts]
    (message,) = told(model, other)
    assert message.startswith(f"100% of the {('source', 'target')[side - 1]} words are new to the model (")


def test_what_looks_wrong_is_told_too(model: Model) -> None:
    (empty,) = told(model, [(n, b"a house", b"") for n in range(30)])
    assert empty.startswith("100% of the lines are empty on a side")
    same, unknown = told(model, [(n, b"quux foo", b"quux foo") for n in range(30)])
    assert same.startswith("100% of the lines are the same in source and target")
    assert unknown.startswith("100% of the source words are new to the model")


def test_few_words_are_looked_at(model: Model, texts: list[TextLine]) -> None:
    """A text may go wrong later: what it is is known after its first words."""
    good = texts * (1 + MOST_WORDS // 200)
    assert not told(model, [*good, *((n, b"quux " * 5000, b"quux " * 5000) for n in range(9))])


def test_the_command_warns_and_answers(sample: Path, request: pytest.FixtureRequest) -> None:
    model = request.getfixturevalue("once")("model", lambda folder: None) / "M"
    source, target = ((sample / f"test.{language}").read_bytes().splitlines() for language in ("fr", "en"))
    lines = b"".join(b"%s ||| %s\n" % pair for pair in zip(source, target, strict=True))
    for arguments, warned in (([], True), (["-q"], False)):
        found = invoke("align", "-", "-m", model, *arguments, stdin=lines)
        assert (found.exit_code, found.stdout.count("\n")) == (0, len(source))
        assert found.stderr.startswith("warning: the model knows ") == warned
        assert found.stderr.count("warning") == warned
    assert "warning" not in invoke("align", sample / "test", "-m", model).stderr
