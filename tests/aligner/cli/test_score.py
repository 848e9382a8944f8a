"""Scores of pairs and of given links, and links on other tokens, as commands write them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from commands import refused, run, write

from aligner.model.model import load
from corpora.link_files import read_links
from features.translation.posteriors import Decoder

if TYPE_CHECKING:
    from tests.aligner.cli.conftest import Desk

OPTIONS = [["-m", "M"], [], ["--unsupervised"]]


@pytest.fixture(autouse=True)
def _there(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(desk.folder)


def scored(command: str, *arguments: object) -> tuple[np.ndarray, list[str]]:
    """Numbers (n, 5) and links of each line."""
    rows = [line.split("\t") for line in run(*command.split(), *arguments).stdout.split("\n")[:-1]]
    return np.array([row[:5] for row in rows], np.float64), [row[5] for row in rows]


def text_of(desk: Desk) -> list[list[list[str]]]:
    return [[line.split() for line in path.read_text("utf-8").splitlines()] for path in (desk.source, desk.target)]


def test_numbers_of_pairs(desk: Desk) -> None:
    """They are what the translation model says of each pair alone, and what the other formats say of its links."""
    numbers, links = scored("align t -m M --format tsv")
    objects = [json.loads(line) for line in run(*"align t -m M --format jsonl".split()).stdout.splitlines()]
    assert links == [" ".join(f"{j}-{k}" for j, k, _ in pair["links"]) for pair in objects]
    model = load(desk.model)
    assert model.statistics.translation is not None
    for found, source, target, pair in zip(numbers, *text_of(desk), objects, strict=True):
        bitext = model.builder().add_pairs([(source, target)]).bitext()
        alone = Decoder(bitext, model.statistics.translation).posteriors(0, 1).log_likelihoods[:, 0]
        words = len(source) + len(target)
        linked = len({j for j, _, _ in pair["links"]}) + len({k for _, k, _ in pair["links"]})
        likely = alone[0] / len(target), alone[1] / len(source), alone.sum() / words
        np.testing.assert_allclose(found, [*likely, 1 - linked / words, pair["score"]], atol=1e-4)


@pytest.mark.parametrize("options", OPTIONS[1:])
def test_numbers_without_a_model(desk: Desk, options: list[str]) -> None:
    write(desk.source, *desk.source.read_text("utf-8").splitlines()[:-1], "")
    numbers, links = scored("align t --format tsv", *options)
    assert "\n".join(links) + "\n" == run("align", "t", *options).stdout
    assert np.isfinite(numbers[:-1]).all()
    assert numbers[-1].tolist() == [-np.inf, -np.inf, -np.inf, 1.0, 0.0]


def test_links_that_are_given(desk: Desk) -> None:
    run(*"align t -m M --set candidates=all -o F".split())
    aligned = run(*"align t -m M --set candidates=all --format tsv".split()).stdout
    assert run(*"score t.en t.fr F -m M".split()).stdout == aligned
    right, found = scored("score t.en t.fr t.wa -m M")
    assert [{*links.split()} for links in found] == [
        {f"{j}-{k}" for j, k in pair.sure | pair.possible} for pair in read_links(desk.gold)
    ]
    write(desk.folder / "F", *[" ".join(f"{j}-0" for j in range(len(line))) for line in text_of(desk)[0]])
    wrong, _ = scored("score t.en t.fr F -m M")
    assert (right[:, :3] == wrong[:, :3]).all(), "the text is the same"
    assert right[:, 4].mean() > wrong[:, 4].mean() + 0.3


@pytest.mark.parametrize("options", OPTIONS)
def test_links_on_other_tokens(desk: Desk, options: list[str]) -> None:
    """Those of long words are those of both their halves; see the tests of remapping for the rest."""
    text = text_of(desk)
    halves = [
        [[(word[a:b], j) for j, word in enumerate(line) for a, b in ((0, 4), (4, None)) if word[a:b]] for line in side]
        for side in text
    ]
    pieces = [[" ".join(piece for piece, _ in line) for line in side] for side in halves]
    write(desk.folder / "P", *map(" ||| ".join, zip(*pieces, strict=True)))
    words, same, parts = (
        [json.loads(line) for line in run("align", "t", *options, *more, "--format", "jsonl").stdout.splitlines()]
        for more in ([], ["--remap", "t"], ["--remap", "P"])
    )
    assert words == same
    for pair, found, source, target in zip(words, parts, *halves, strict=True):
        assert found["source"] == [piece for piece, _ in source]
        linked = {(j, k) for j, k, _ in pair["links"]}
        assert {(a, b) for a, b, _ in found["links"]} == {
            (a, b) for a, (_, j) in enumerate(source) for b, (_, k) in enumerate(target) if (j, k) in linked
        }


def test_the_worst_pairs_come_first(desk: Desk) -> None:
    """Of 64 pairs, 8 got the translation of another: most of them are among the first 12."""
    sources, targets = (path.read_text("utf-8").splitlines() for path in (desk.source, desk.target))
    places = range(3, 64, 8)
    targets[3::8] = [*targets[11::8], targets[3]]
    write(desk.target, *targets[:-2], "", "")
    write(desk.source, *sources[:-1], "")
    for options in OPTIONS[:2]:
        header, *rows = run("score", "t", "--format", "worst", "-q", *options).stdout.splitlines()
        assert header.split("\t") == ["line", "support", "faults", "source", "target"]
        cells = [row.split("\t") for row in rows]
        assert sorted(int(row[0]) for row in cells) == [*range(1, 64)], "the last pair has no words"
        assert cells[0][:3] == ["63", "0.0", "no translation"]
        assert [float(row[1]) for row in cells] == sorted(float(row[1]) for row in cells)
        assert len({int(row[0]) - 1 for row in cells[1:13]} & {*places}) >= 6
        assert all(row[3] == sources[int(row[0]) - 1] for row in cells)


def test_scores_without_links_are_those_of_align(desk: Desk) -> None:
    write(desk.folder / "joint", *desk.joint("\t"))
    for text, options in (("t", OPTIONS[0]), ("joint", OPTIONS[1])):
        assert run("score", text, *options).stdout == run("align", text, "--format", "tsv", *options).stdout
    assert "aligner.model: no such file" in refused(*"score t.en t.fr t.wa".split())
    for more in ([], ["--format", "worst"]):
        assert "is read here, and would be replaced" in refused(*"score t.en t.fr -o t.en --force".split(), *more)
