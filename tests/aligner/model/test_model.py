"""A model answers the same however it is asked, saved and loaded too; it says when a text is not of its languages."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import run

import aligner
from aligner.errors import AlignerError
from aligner.model.acquaintance import FEWEST_WORDS, MOST_WORDS, Acquaintance
from aligner.model.decoding import Alignment
from aligner.model.model import Model
from aligner.training.settings import CountSettings, LearnSettings
from corpora.corpus import TextLine
from corpora.errors import CorpusError
from corpora.normalize import Normalizer
from corpora.readers import open_corpus

Pairs = list[tuple[list[str], list[str]]]


@pytest.fixture(scope="module")
def pairs(sample: Path) -> Pairs:
    lines = [(sample / f"test.{language}").read_text("utf-8").split("\n")[:-1] for language in ("en", "fr")]
    found = [(source.split(), target.split()) for source, target in zip(*lines, strict=True)]
    return [*found[:20], ([], found[0][1]), ([], []), *found[20:], (found[3][0], [])]


def test_every_way_of_asking(model: Model, pairs: Pairs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aligner.model.model.PAIRS_AT_ONCE", 7)
    one_by_one = [model.align(source, target) for source, target in pairs]
    builder = model.builder()
    for source, target in pairs:
        builder.add_lines([" ".join(source).encode()], [" ".join(target).encode()])
    assert list(model.align_many(iter(pairs))) == one_by_one
    assert list(model.align_bitext(builder.bitext())) == one_by_one
    assert sum(map(len, one_by_one)) > 500
    assert list(model.align_many([])) == []
    assert model.align((), ()) == Alignment((), ())


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


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ((["a"], ["b", 3]), "a token is a string, not 3"), (([None], ["b"]), "a token is a string, not None"),
        (([b"a", 1.5], ["b"]), r"a token is a string, not 1\.5"), (("a house", ["une"]), "split"),
        ((["a"], "une maison"), "split"), (("", ""), "split"),
    ],
)  # fmt: skip
def test_tokens_are_strings_in_lists(model: Model, pair: Any, message: str) -> None:
    for align in (lambda: model.align(*pair), lambda: [*model.align_many([pair])], lambda: aligner.align([pair])):
        with pytest.raises(TypeError, match=message if message != "split" else "split|not a string"):
            align()


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ((), "1 files .* 0 are given"), (([(0, 0)], [(0, 0)]), "1 files .* 2 are given"),
        (([(0, 2)],), "link 0-2 .* out of range for 1 source and 2 target"), (([(1, 0)],), "link 1-0 .* out of range"),
        (([(0, 0), (-1, 0)],), "link -1-0 .* out of range"),
    ],
)  # fmt: skip
def test_links_that_do_not_fit(linked: Model, model: Model, links: Any, message: str) -> None:
    with pytest.raises(AlignerError, match=message):
        linked.align(["a"], ["b", "c"], links)
    with pytest.raises(AlignerError, match="1 lines of links for 2 sentence pairs"):
        list(linked.align_many([(["a"], ["b"])] * 2, [[[(0, 0)]]]))
    with pytest.raises(AlignerError, match="0 files"):
        model.align(["a"], ["b"], [[(0, 0)]])


def test_save_and_load(linked: Model, pairs: Pairs, tmp_path: Path) -> None:
    linked.save(tmp_path / "a.model")
    loaded = aligner.load(tmp_path / "a.model")
    assert loaded.weights.tobytes() == linked.weights.tobytes()
    assert (loaded.features, loaded.record, loaded.languages) == (linked.features, linked.record, ("en", "fr"))
    links = [[{(0, 0)} if source and target else () for source, target in pairs]]
    assert list(loaded.align_many(pairs, links)) == list(linked.align_many(pairs, links))
    loaded.save(tmp_path / "b.model")
    assert (tmp_path / "a.model").read_bytes() == (tmp_path / "b.model").read_bytes()


def test_words_and_normalizers_are_kept(sample: Path, tmp_path: Path) -> None:
    normalizers = Normalizer(casefold=False, stem="en"), Normalizer(stem="french")
    learn = LearnSettings(families=("bias", "association"), words=2, cross_validate=0)
    model = aligner.train(sample / "train", learn=learn, count=CountSettings(normalizers=normalizers)).model
    assert [len(words) for words in model.features.words] == [2, 2]
    model.save(tmp_path / "a.model")
    loaded = aligner.load(tmp_path / "a.model")
    assert (loaded.features, loaded.normalizers) == (model.features, normalizers)
    pair = ["houses", "The", model.features.words[0][0], "xyzzy"], ["maisons", "la", "plugh"]
    assert loaded.align(*pair) == model.align(*pair)


def test_saving_overwrites_nothing_unasked_and_leaves_nothing_half_done(model: Model, tmp_path: Path) -> None:
    file = tmp_path / "a.model"
    file.write_text("precious")
    with pytest.raises(CorpusError, match="exists"):
        model.save(file)
    broken = Model(**{**vars(model), "record": {"not JSON": object()}})
    for name in (file, tmp_path / "b.model"):
        with pytest.raises(TypeError):
            broken.save(name, force=True)
    assert file.read_text() == "precious"
    model.save(file, force=True)
    assert (aligner.load(file).weights == model.weights).all()
    assert list(tmp_path.iterdir()) == [file]
    with pytest.raises(CorpusError, match="folder"):
        model.save(tmp_path / "none" / "a.model")


@pytest.fixture(scope="module")
def texts(sample: Path) -> list[TextLine]:
    return list(open_corpus(sample / "test").texts())


def told(model: Model, *parts: list[TextLine]) -> list[str]:
    """What is told of lines that arrive in these parts."""
    watched = Acquaintance(model)
    with warnings.catch_warnings(record=True, action="always") as messages:
        assert all(list(watched(part)) == part for part in parts)
    return [str(one.message) for one in messages]


def reversed_words(line: bytes) -> bytes:
    return b" ".join(word[::-1] + b"\xff" for word in line.split())


def test_of_a_text_of_its_languages_nothing_is_told(model: Model, texts: list[TextLine]) -> None:
    assert not told(model, texts)
    assert not told(model, [])
    good = texts * (1 + MOST_WORDS // 200)  # what it is is known after its first words
    assert not told(model, [*good, *((n, b"quux " * 5000, b"quux " * 5000) for n in range(9))])


def test_sides_that_are_swapped(model: Model, texts: list[TextLine]) -> None:
    swapped = [(number, target, source) for number, source, target in texts]
    for parts in ([swapped], [[text] for text in swapped], [swapped, swapped]):
        (message,) = told(model, *parts)
        assert "sides swapped?" in message
    assert not told(model, swapped[: FEWEST_WORDS // 20]), "a few words tell nothing"


def test_what_looks_wrong_is_told(model: Model, texts: list[TextLine]) -> None:
    for parts, *expected in (
        ([(n, reversed_words(s), t) for n, s, t in texts], "of the source words are new to the model ("),
        ([(n, s, reversed_words(t)) for n, s, t in texts], "of the target words are new to the model ("),
        ([(n, b"a house", b"") for n in range(30)], "of the lines are empty on a side"),
        (
            [(n, b"quux foo", b"quux foo") for n in range(30)],
            "of the lines are the same in source and target",
            "of the source words are new to the model",
        ),
    ):
        for message, what in zip(told(model, parts), expected, strict=True):
            assert message.startswith(f"100% {what}")


def test_the_command_warns_and_answers(sample: Path, request: pytest.FixtureRequest) -> None:
    model = request.getfixturevalue("once")("model", lambda folder: None) / "M"
    source, target = ((sample / f"test.{language}").read_bytes().splitlines() for language in ("fr", "en"))
    lines = b"".join(b"%s ||| %s\n" % pair for pair in zip(source, target, strict=True))
    for arguments, warned in (([], True), (["-q"], False)):
        found = run("align", "-", "-m", model, *arguments, stdin=lines)
        assert found.stdout.count("\n") == len(source)
        assert found.stderr.startswith("the model knows ") == warned
        assert found.stderr.count("the model knows") == warned
    assert "the model knows" not in run("align", sample / "test", "-m", model).stderr
