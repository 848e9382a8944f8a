"""Scores of pairs and of given links, probabilities of links, and links on other tokens, as commands write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from commands import refused, run, write

from aligner.model.model import load
from corpora.link_files import read_links
from features.translation.posteriors import Decoder

if TYPE_CHECKING:
    from tests.aligner.cli.conftest import Desk


def read(lines: str) -> tuple[np.ndarray, list[str]]:
    """Numbers (n, 5) and links of each line."""
    rows = [line.split("\t") for line in lines.split("\n")[:-1]]
    return np.array([row[:5] for row in rows], np.float64), [row[5] for row in rows]


def text_of(desk: Desk) -> list[list[list[str]]]:
    return [[line.split() for line in path.read_text("utf-8").splitlines()] for path in (desk.source, desk.target)]


def test_numbers_of_pairs(desk: Desk) -> None:
    """They are what the translation model says of each pair alone, and what the other formats say of its links."""
    numbers, links = read(run("align", desk.text, "-m", desk.model, "--format", "tsv", "-q").stdout)
    objects = [
        json.loads(line) for line in run("align", desk.text, "-m", desk.model, "--format", "jsonl").stdout.splitlines()
    ]
    assert links == [" ".join(f"{j}-{k}" for j, k, _ in pair["links"]) for pair in objects]
    model = load(desk.model)
    assert model.statistics.translation is not None
    for (forward, reverse, both, unlinked, confidence), source, target, pair in zip(
        numbers, *text_of(desk), objects, strict=True
    ):
        bitext = model.builder().add_pairs([(source, target)]).bitext()
        alone = Decoder(bitext, model.statistics.translation).posteriors(0, 1).log_likelihoods[:, 0]
        words = len(source) + len(target)
        expected = alone[0] / len(target), alone[1] / len(source), alone.sum() / words
        np.testing.assert_allclose([forward, reverse, both], expected, atol=6e-5)
        linked = len({j for j, _, _ in pair["links"]}) + len({k for _, k, _ in pair["links"]})
        assert unlinked == pytest.approx(1 - linked / words, abs=6e-5)
        assert confidence == pytest.approx(pair["score"], abs=1e-4)


def test_pairs_that_translate_each_other_score_higher(desk: Desk) -> None:
    good, _ = read(run("align", desk.text, "-m", desk.model, "--format", "tsv").stdout)
    lines = desk.target.read_text("utf-8").splitlines()
    write(desk.target, *lines[1:], lines[0])
    bad, _ = read(run("align", desk.text, "-m", desk.model, "--format", "tsv").stdout)
    assert (good[:, :3] > bad[:, :3]).mean(axis=0).min() > 0.9
    assert good[:, 4].mean() > bad[:, 4].mean()


@pytest.mark.parametrize("options", [[], ["--unsupervised"]])
def test_numbers_without_a_model(desk: Desk, options: list[str]) -> None:
    write(desk.source, *desk.source.read_text("utf-8").splitlines()[:-1], "")
    numbers, links = read(run("align", desk.text, "--format", "tsv", *options).stdout)
    assert "\n".join(links) + "\n" == run("align", desk.text, *options).stdout
    assert np.isfinite(numbers[:-1]).all()
    assert numbers[-1].tolist() == [-np.inf, -np.inf, -np.inf, 1.0, 0.0]


def test_links_that_are_given(desk: Desk) -> None:
    links = desk.folder / "F"
    aligned = run("align", desk.text, "-m", desk.model, "--set", "candidates=all", "--format", "tsv").stdout
    run("align", desk.text, "-m", desk.model, "--set", "candidates=all", "-o", links)
    assert run("score", desk.source, desk.target, links, "-m", desk.model).stdout == aligned
    gold = run("score", desk.source, desk.target, desk.gold, "-m", desk.model, "--format", "jsonl").stdout
    found = [{(j, k) for j, k, _ in json.loads(line)["links"]} for line in gold.splitlines()]
    assert found == [pair.sure | pair.possible for pair in read_links(desk.gold)]
    write(links, *[" ".join(f"{j}-0" for j in range(len(pair))) for pair in text_of(desk)[0]])
    right, wrong = (
        read(run("score", desk.source, desk.target, file, "-m", desk.model).stdout)[0] for file in (desk.gold, links)
    )
    assert (right[:, :3] == wrong[:, :3]).all(), "the text is the same"
    assert right[:, 4].mean() > wrong[:, 4].mean() + 0.3


def in_pieces(desk: Desk) -> tuple[Path, list[list[list[int]]]]:
    """The text of the desk with long words in two, and the word of each piece, by side and line."""
    pieces, owners = [], []
    for side in text_of(desk):
        cut = [
            [(word[a:b], j) for j, word in enumerate(line) for a, b in ((0, 4), (4, None)) if word[a:b]]
            for line in side
        ]
        pieces.append([" ".join(piece for piece, _ in line) for line in cut])
        owners.append([[j for _, j in line] for line in cut])
    return write(desk.folder / "P", *map(" ||| ".join, zip(*pieces, strict=True))), owners


@pytest.mark.parametrize("options", [["-m", "M"], [], ["--unsupervised"]])
def test_links_on_other_tokens(desk: Desk, options: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(desk.folder)
    pieces, owners = in_pieces(desk)
    for format_ in ("pharaoh", "jsonl", "tsv"):
        plain = run("align", "t", *options, "--format", format_)
        assert run("align", "t", *options, "--format", format_, "--remap", "t").stdout == plain.stdout, (
            "the same tokens"
        )
    run("align", "t", *options, "-o", "F")
    run("align", "t", *options, "--remap", pieces, "-o", "G")
    words, parts = read_links("F"), read_links("G")
    for pair, links, source, target in zip(words, parts, *owners, strict=True):
        whole = {(j, k) for j in range(len(source)) for k in range(len(target)) if (source[j], target[k]) in pair.sure}
        assert links.sure == whole
    objects = run("align", "t", *options, "--remap", pieces, "--format", "jsonl").stdout.splitlines()
    assert [" ".join(json.loads(line)["source"]) for line in objects] == [
        line.split(" ||| ")[0] for line in pieces.read_text("utf-8").splitlines()
    ]


def test_probabilities_decide(tmp_path: Path) -> None:
    one = write(tmp_path / "one", "0-0:0.99 1-1:.9 2-2:1e-2", "", "0-0")
    other = write(tmp_path / "other", "0-0 2-3:2e-1", "1-0", "")
    assert run("combine", one, other).stdout == "0-0 1-1\n1-0\n0-0\n"


@pytest.mark.slow
def test_probabilities_of_links_are_checked_before_the_work(model: Path, sample: Path, tmp_path: Path) -> None:
    lines = (sample / "test.wa").read_text().splitlines()
    broken = write(tmp_path / "broken", lines[0], "0-0:0", *lines[2:])
    for command in (
        ["align", sample / "test", "--links", f"neural={broken}"],
        ["train", sample / "test", "--links", f"neural={broken}", "-m", tmp_path / "M", "-q"],
    ):
        assert "'0-0:0' has no probability" in refused(*command, line=2)
    # Scores of links that are to be judged are of any kind.
    scored = write(tmp_path / "scored", lines[0], "0-0:-3.5", *lines[2:])
    assert run("score", sample / "test.en", sample / "test.fr", scored, "-m", model).stdout.count("\n") == len(lines)


def test_the_worst_pairs_come_first(desk: Desk) -> None:
    """Of 64 pairs, 8 got the translation of another: most of them are among the first 12."""
    lines = desk.target.read_text("utf-8").splitlines()
    places = range(3, 64, 8)
    moved = [lines[place] for place in places]
    for place, line in zip(places, [*moved[1:], moved[0]], strict=True):
        lines[place] = line
    write(desk.target, *lines[:-2], "", "")
    write(desk.source, *desk.source.read_text("utf-8").splitlines()[:-1], "")
    for options in ([], ["-m", desk.model]):
        header, *rows = run("score", desk.text, "--format", "worst", "-q", *options).stdout.splitlines()
        assert header.split("\t") == ["line", "support", "faults", "source", "target"]
        cells = [row.split("\t") for row in rows]
        assert sorted(int(row[0]) for row in cells) == [*range(1, 64)], "the last pair has no words"
        assert cells[0][:3] == ["63", "0.0", "no translation"]
        supports = [float(row[1]) for row in cells]
        assert supports == sorted(supports)
        assert len({int(row[0]) - 1 for row in cells[1:13]} & {*places}) >= 6
        sources, targets = ([" ".join(words) for words in side] for side in text_of(desk))
        assert all((sources[int(n) - 1], targets[int(n) - 1]) == (a, b) for n, _, _, a, b in cells)


def test_scores_without_links_are_those_of_align(desk: Desk) -> None:
    for options in ([], ["-m", desk.model]):
        assert run("score", desk.text, *options).stdout == run("align", desk.text, "--format", "tsv", *options).stdout
    write(joint := desk.folder / "joint", "a b\tx y", "c\tz")
    assert run("score", joint, "-q").stdout == run("align", joint, "--format", "tsv", "-q").stdout
    texts = desk.source, desk.target
    of_one = run("score", *texts, desk.gold, "-m", desk.model, "--columns", "1,2", code=2).stderr
    assert "--columns is of one file" in of_one
    assert "aligner.model: no such file" in refused("score", *texts, desk.gold)
    assert "is read here, and would be replaced" in refused("score", *texts, "-o", desk.source, "--force")
    assert "is read here, and would be replaced" in refused(
        "score", *texts, "--format", "worst", "-o", desk.source, "--force"
    )
