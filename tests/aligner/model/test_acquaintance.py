"""A model says when a text is not of its languages, or has its sides swapped; the text goes on as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import invoke

from aligner.model.acquaintance import FEWEST_WORDS, MOST_WORDS, Acquaintance
from aligner.model.model import Model
from corpora.corpus import TextLine
from corpora.readers import open_corpus


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
