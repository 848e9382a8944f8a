"""The reports say what the evaluation found, in percent; several systems, each pair tested, by their short names."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import refused, run

from aligner.evaluation.comparison import Evaluation, compare
from aligner.evaluation.tables import format_csv, format_json, format_text
from aligner.solvers import TracePoint
from aligner.training.figures import format_audit, format_interruption, format_training, summarize_training
from corpora.errors import CorpusError
from corpora.links import Links, PairLinks

METRICS = ("aer", "precision", "recall", "f1")


def links(*pairs: str) -> Links:
    """Each pair is a string such as ``0-0 1?2``."""
    parsed = []
    for pair in pairs:
        sure = {(int(item[0]), int(item[2])) for item in pair.split() if item[1] == "-"}
        possible = {(int(item[0]), int(item[2])) for item in pair.split() if item[1] == "?"}
        parsed.append(PairLinks(frozenset(sure), frozenset(possible)))
    return Links.from_pairs(parsed)


@pytest.fixture
def evaluations() -> list[Evaluation]:
    gold = links("0-0 1-1 2?1", "0-0 1?0", "0-1 1-0 2-2", "")
    first = links("0-0 2-1", "0-0 1-0", "0-1 2-2 2-3", "0-0")
    second = links("0-0 1-1", "0-0", "0-1 1-0 2-2", "")
    return compare(
        gold,
        [first, second],
        gold_name="gold.wa",
        names=["first.links", "second-system.links"],
        source_lengths=[3, 14, 25, 60],
        resamples=100,
        confidence=0.9,
    )


def test_text_shows_the_figures_in_percent(evaluations: list[Evaluation]) -> None:
    text = format_text(evaluations)
    head, main, lengths, paired, remark, signature = text.split("\n\n")
    assert remark == "Recall is of sure links, F1 of all; p is by a paired bootstrap over pairs."
    # By hand: |A| = 8, |S| = 6, |A∩S| = 4, |A∩P| = 6, |P| = 8.
    assert head == "Gold gold.wa: 4 sentence pairs, 6 sure links, 8 sure or possible links"
    header, first, second = main.splitlines()
    figures = re.sub(r" *\[.*?\] *", " ", first).split()
    assert figures == ["first.links", "8", "28.57", "75.00", "66.67", "75.00"]
    low, high = evaluations[0].intervals["aer"]
    assert f"[{100 * low:.2f}, {100 * high:.2f}]" in first
    assert second.split()[:3] == ["second-system.links", "6", "0.00"]
    assert "Source length" in lengths.splitlines()[0]
    assert lengths.splitlines()[1].split() == ["first.links", "0-10", "1", "2", "25.00", "100.00", "50.00", "80.00"]
    assert len(lengths.splitlines()) == 1 + 2 * 4
    assert paired.splitlines()[1].split()[:3] == ["second-system.links", "first.links", "-28.57"]
    assert signature == evaluations[0].signature == evaluations[1].signature
    for table in (main, lengths, paired):
        assert len({len(line) for line in table.splitlines()}) == 1, "columns line up"
    place = header.index("Links") + len("Links")
    assert [line[:place].split()[-1] for line in (first, second)] == ["8", "6"], "numbers to the right"
    gold = links("0-0")
    alone = format_text(compare(gold, [gold], gold_name="g", names=["h"], resamples=10))
    assert "Source length, at least" in alone, "it is inferred from links"
    assert "Compared with" not in alone


def test_json_holds_the_evaluation_in_percent(evaluations: list[Evaluation]) -> None:
    objects = json.loads(format_json(evaluations))
    for found, expected in zip(objects, evaluations, strict=True):
        for key in ("name", "links", "sure", "possible", "pairs", "signature"):
            assert found[key] == getattr(expected, key)
        for metric in METRICS:
            assert found[metric] == 100 * getattr(expected, metric)
            assert found["intervals"][metric] == [100 * bound for bound in expected.intervals[metric]]
        assert found["interval"] == found["intervals"]["aer"]
        assert [row["lengths"] for row in found["by_length"]] == ["0-10", "11-20", "21-30", "41+"]
    test = evaluations[1].paired
    assert test is not None
    assert [one["paired"] and one["paired"]["baseline"] for one in objects] == [None, "first.links"]
    assert objects[1]["paired"]["difference"] == 100 * test.difference
    assert objects[1]["paired"]["p_value"] == test.p_value
    empty = links("", "")
    results = compare(empty, [empty, empty], gold_name="g", names=["a", "b"], resamples=10)
    nothing = json.loads(format_json(results), parse_constant=lambda constant: pytest.fail(f"{constant} is not JSON"))
    assert nothing[1]["paired"]["p_value"] == 1.0


def record(**changes: Any) -> dict[str, Any]:
    """What a training records."""
    return {
        "pairs": 34567,
        "source_tokens": 1,
        "target_tokens": 2,
        "labelled_pairs": 1200,
        "labelled_pairs_available": 1200,
        "loss": "hinge",
        "links_lost": 3,
        "features": 32,
        "fertility": 2,
        "passes": 7,
        "oracle_calls": 8400,
        "audit_calls": 6000,
        "primal": 1.5,
        "dual": 1.49,
        "gap": 0.01,
        "relative_gap": 5e-3,
        "bound": None,
        "status": "the limit of passes was reached",
        "notes": [],
        "total_seconds": 12.34,
        "training_aer": 8.765,
        "regularization": 0.1,
        "folds": 0,
        "finished_folds": 0,
        "learnt_aer": None,
        "converged": True,
        "early_folds": 0,
        "fold_gap": None,
        **changes,
    }


def lines(text: str) -> dict[str, str]:
    return dict(re.split(r" {2,}", line, maxsplit=1) for line in text.split("\n\n")[0].splitlines())


def test_a_training_is_two_columns() -> None:
    given = record(notes=["one thing", "another"], feature_ranges=[[0, 1]], corpora=["a", "b"])
    found = lines(format_training(given))
    assert {*found} == {name.replace("_", " ") for name in given} - {"feature ranges"}
    assert (found["labelled pairs"], found["relative gap"], found["bound"]) == ("1200", "0.005", "-")
    assert (found["notes"], found["corpora"]) == ("one thing, another", "a, b")


def test_a_training_in_plain_words() -> None:
    """Of what was learnt only where it was compared, and of the default weights where they are kept."""
    judged = record(learnt_aer=3.456, standard_error=0.5, folds=5, finished_folds=5, default_aer=None)
    assert summarize_training(record()) == "1,200 pairs taught."
    held_out = "1,200 pairs taught. Held-out AER 3.46 %, 95 % interval [2.48, 4.44]"
    assert summarize_training(judged) == f"{held_out}."
    assert summarize_training(judged | {"default_aer": 3.9}) == f"{held_out}; of the default weights 3.90 %."
    kept = summarize_training(judged | {"default_aer": 3.0, "default_weights": {}})
    assert kept.startswith(f"{held_out}; of the default weights 3.00 %. The default weights are kept")
    assert "`weights`=learnt" in kept
    assert "\n" not in kept
    early = summarize_training(record(converged=False, relative_gap=0.98765))
    assert early == "1,200 pairs taught. Stopped early, at a relative gap of 0.99: the limit of passes was reached."
    folds = summarize_training(judged | {"early_folds": 2, "fold_gap": 0.0123})
    assert folds == f"{held_out}. 2 of 5 folds stopped early, at relative gaps of up to 0.012."
    assert "none labelled" in summarize_training({"pairs": 9})
    added = summarize_training(record(updates=[{"pairs": 7}, {"pairs": 1234}]))
    assert added == "1,234 pairs of text added; the weights stay."
    saved = "the best weights so far are saved"
    assert format_interruption(record()) == saved
    assert format_interruption(record(folds=5)) == f"{saved}; 0 of 5 folds were held out"
    assert summarize_training(record(folds=5)) == "1,200 pairs taught."


LAYOUT = {"markdown": r"(?m)^\| (.*?) \|", "latex": r"(?m)^(\S+) &"}


@pytest.mark.parametrize("layout", LAYOUT)
def test_tables_for_papers(evaluations: list[Evaluation], layout: str) -> None:
    evaluations = [replace(found, name=name) for found, name in zip(evaluations, ("a|b", "50%_x"), strict=True)]
    text = format_text(evaluations, layout)
    names = re.findall(LAYOUT[layout], text)
    expected = {"markdown": (r"a\|b", "50%_x"), "latex": ("a|b", r"50\%\_x")}[layout]
    for name in expected:
        assert names.count(name) == (5 if name == expected[0] else 6), "its figures, those by length, its test"
    bar, bars = {"markdown": ("|", 11), "latex": ("&", 9)}[layout]
    rows = [line for line in text.splitlines() if f" {bar} " in line]
    assert {len(re.findall(rf"(?<!\\)[{bar}]", row)) for row in rows[:3]} == {bars}
    first, *_, last = text.splitlines()
    assert [line.startswith("% ") for line in (first, last)] == [layout == "latex"] * 2


def test_csv_is_read_by_csv(evaluations: list[Evaluation]) -> None:
    rows = list(csv.DictReader(format_csv(evaluations).splitlines()))
    assert [row["name"] for row in rows] == ["first.links", "second-system.links"]
    assert [float(row["aer_low"]) for row in rows] == [100 * found.intervals["aer"][0] for found in evaluations]
    assert format_csv([]) == format_text([]) == ""
    assert json.loads(format_json([])) == []
    odd = replace(evaluations[0], name='the "old", one')
    assert [row["name"] for row in csv.DictReader(format_csv([odd]).splitlines())] == [odd.name]


def test_an_audit_is_a_line() -> None:
    point = TracePoint(3, 1500, 2000, 0.5, 1.25, 1.0, 0.25, 0.2)
    figures = (
        "passes 3, oracle calls 1500, audit calls 2000, seconds 0.5, primal 1.25, dual 1, gap 0.25, relative gap 0.2"
    )
    assert format_audit(point) == f"{figures}, cheap steps 0"
    assert format_audit(replace(point, bound=4.0)) == f"{figures}, bound 4, cheap steps 0"


def test_all_pairs_of_systems_are_tested_with_correction() -> None:
    gold = Links.from_sets([(0, 0), (1, 1)] for _ in range(30))
    systems = [Links.from_sets([(0, 0), (1, int(n < k))] for n in range(30)) for k in (10, 12, 30)]
    settings: dict[str, Any] = {"names": ["a", "b", "c"], "resamples": 200}
    first, *others = compare(gold, systems, all_pairs=True, **settings)
    assert [[test.baseline for test in one.tests] for one in (first, *others)] == [[], ["a"], ["a", "b"]]
    alone = compare(gold, systems, **settings)
    assert [one.tests[0]._replace(holm=None) for one in others] == [one.paired for one in alone[1:]]
    tests = sorted((test for one in others for test in one.tests), key=lambda test: test.p_value)
    corrected = np.maximum.accumulate([(3 - k) * test.p_value for k, test in enumerate(tests)])
    assert [test.holm for test in tests] == np.minimum(1.0, corrected).tolist()
    assert tests[0].holm is not None
    assert tests[0].holm < 0.05
    assert json.loads(format_json(others))[1]["tests"][1]["baseline"] == "b"
    assert "p by Holm" in format_text(others)


def test_files_have_their_shortest_names_and_the_text_tells_the_lengths(tmp_path: Path) -> None:
    for name, line in {
        "one/test.links": "0-0",
        "two/test.links": "0-0",
        "gold.wa": "0-0",
        "far.wa": "0-1",
        "more.wa": "0-0\n",
        "t.en": "a b " * 6,
        "t.fr": "c",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{line}\n")
    gold, text, files = (
        tmp_path / "gold.wa",
        tmp_path / "t",
        [tmp_path / f"{name}/test.links" for name in ("one", "two")],
    )
    for systems, names in (
        (files, ["one/test.links", "two/test.links"]),
        (files[:1] * 2, ["test.links"] * 2),
        ([files[0], [[(0, 0)]]], ["test.links", "system 2"]),
    ):
        assert [found.name for found in compare(gold, systems, resamples=1)] == names  # type: ignore[arg-type]
    (found,) = compare(gold, [gold], text=text, resamples=1)
    assert (found.lengths, found.by_length[0].lengths) == ("text", "11-20")
    for wrong in ("far.wa", "more.wa"):
        with pytest.raises(CorpusError, match=wrong):
            compare(tmp_path / wrong, [gold], text=text, resamples=1)


def test_the_command_names_systems(sample: Path, tmp_path: Path) -> None:
    gold, files = sample / "test.wa", [tmp_path / name for name in ("a.links", "b=c.links")]
    for file in files:
        file.write_bytes(gold.read_bytes())
    found = json.loads(run("evaluate", gold, f"old system={files[0]}", files[1], "--format", "json").stdout)
    assert [one["name"] for one in found] == ["old system", str(files[1])], "a file that exists is one"
    assert "old=: no such file" in refused("evaluate", gold, "old=")
    table = run("evaluate", gold, *files, *files, "--format", "csv", "--all-pairs").stdout.splitlines()
    assert [line.split(",")[0] for line in table] == ["name", *['"a.links"', '"b=c.links"'] * 2]
    assert "Source length" in run("evaluate", gold, files[0], "--text", sample / "test").stdout
