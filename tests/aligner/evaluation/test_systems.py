"""Several systems: each pair tested with Holm's correction, short names, and lengths that the text tells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import refused, run

from aligner.evaluation.comparison import compare
from aligner.evaluation.tables import format_json, format_text
from corpora.alignment import Links
from corpora.errors import CorpusError


def test_all_pairs_of_systems_are_tested_with_correction() -> None:
    gold = Links.from_sets([(0, 0), (1, 1)] for _ in range(30))
    systems = [Links.from_sets([(0, 0), (1, int(n < k))] for n in range(30)) for k in (10, 12, 30)]
    first, *others = compare(gold, systems, names=["a", "b", "c"], all_pairs=True, resamples=200)
    assert not first.tests
    assert [[test.baseline for test in one.tests] for one in others] == [["a"], ["a", "b"]]
    alone = compare(gold, systems, names=["a", "b", "c"], resamples=200)
    assert [one.tests[0]._replace(holm=None) for one in others] == [one.paired for one in alone[1:]]
    tests = sorted((test for one in others for test in one.tests), key=lambda test: test.p_value)
    p_values = [test.p_value for test in tests]
    assert [test.holm for test in tests] == [
        min(1.0, max((3 - k) * p_values[k] for k in range(number + 1))) for number in range(3)
    ]
    assert tests[0].holm == 3 * tests[0].p_value < 0.05
    assert json.loads(format_json(others))[1]["tests"][1]["baseline"] == "b"
    assert "p by Holm" in format_text(others)


def test_files_have_their_shortest_names(tmp_path: Path) -> None:
    for name in ("one/test.links", "two/test.links", "gold.wa"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("0-0\n")
    files = [tmp_path / "one" / "test.links", tmp_path / "two" / "test.links"]
    for systems, names in (
        (files, ["one/test.links", "two/test.links"]),
        (files[:1], ["test.links"]),
        (files[:1] * 2, ["test.links"] * 2),
        ([files[0], [[(0, 0)]]], ["test.links", "system 2"]),
    ):
        assert [found.name for found in compare(tmp_path / "gold.wa", systems, resamples=1)] == names  # type: ignore[arg-type]


def test_the_text_tells_the_lengths(tmp_path: Path) -> None:
    for name, line in (
        ("t.en", "a b " * 6), ("t.fr", "c"), ("gold.wa", "0-0"), ("far.wa", "0-1"), ("more.wa", "0-0\n"),
    ):  # fmt: skip
        (tmp_path / name).write_text(f"{line}\n")
    gold, text = tmp_path / "gold.wa", tmp_path / "t"
    (found,) = compare(gold, [gold], text=text, resamples=1)
    assert (found.lengths, found.by_length[0].lengths) == ("text", "11-20")
    for wrong in ("far.wa", "more.wa"):
        with pytest.raises(CorpusError, match=wrong):
            compare(tmp_path / wrong, [gold], text=text, resamples=1)


def test_the_command_names_systems(sample: Path, tmp_path: Path) -> None:
    for name in ("a.links", "b=c.links"):
        (tmp_path / name).write_bytes((sample / "test.wa").read_bytes())
    given = [f"old system={tmp_path / 'a.links'}", tmp_path / "b=c.links"]
    found = json.loads(run("evaluate", sample / "test.wa", *given, "--format", "json").stdout)
    assert [one["name"] for one in found] == ["old system", str(tmp_path / "b=c.links")], "a file that exists is one"
    assert "old=: no such file" in refused("evaluate", sample / "test.wa", "old=")
    given[0] = tmp_path / "a.links"
    table = run("evaluate", sample / "test.wa", *given, *given, "--format", "csv", "--all-pairs").stdout.splitlines()
    assert [line.split(",")[0] for line in table] == ["name", *['"a.links"', '"b=c.links"'] * 2]
    assert "Source length" in run("evaluate", sample / "test.wa", given[0], "--text", sample / "test").stdout
