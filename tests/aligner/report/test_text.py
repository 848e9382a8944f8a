"""The reports say what the evaluation found, in percent."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import Any

import pytest

from aligner.report.comparison import Evaluation, compare
from aligner.report.text import format_audit, format_interruption, format_json, format_text, format_training
from aligner.solvers import TracePoint
from corpora.alignment import Links, PairLinks

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
    head, main, lengths, paired, signature = text.split("\n\n")
    # By hand: |A| = 8, |S| = 6, |A∩S| = 4, |A∩P| = 6, |P| = 8.
    assert head == "Gold gold.wa: 4 sentence pairs, 6 sure links, 8 sure or possible links"
    header, first, second = main.splitlines()
    assert header.split() == [
        *("System", "Links"),
        *(word for title in ("AER", "Precision", "Recall", "F1") for word in (title, "90", "%", "interval")),
    ]
    cells = first.replace("[", "").replace("]", "").replace(",", "").split()
    assert cells[:3] == ["first.links", "8", "28.57"]
    assert [cells[i] for i in (5, 8, 11)] == ["75.00", "66.67", "75.00"]
    low, high = evaluations[0].intervals["aer"]
    assert f"[{100 * low:.2f}, {100 * high:.2f}]" in first
    assert second.split()[:3] == ["second-system.links", "6", "0.00"]
    assert "Source length" in lengths.splitlines()[0]
    assert lengths.splitlines()[1].split() == [
        "first.links",
        "0-10",
        "1",
        "2",
        "25.00",
        "100.00",
        "50.00",
        "80.00",
    ]
    assert len(lengths.splitlines()) == 1 + 2 * 4
    assert paired.splitlines()[1].split()[:3] == ["second-system.links", "first.links", "-28.57"]
    assert signature == evaluations[0].signature == evaluations[1].signature


def test_text_columns_line_up(evaluations: list[Evaluation]) -> None:
    for table in format_text(evaluations).split("\n\n")[1:4]:
        assert len({len(line) for line in table.splitlines()}) == 1
    header, first, second = format_text(evaluations).split("\n\n")[1].splitlines()
    end_of_links = header.index("Links") + len("Links")
    assert first[:end_of_links].split() == ["first.links", "8"]
    assert second[:end_of_links].endswith("  6")
    assert first[:end_of_links].endswith("  8")


def test_text_says_when_lengths_are_only_inferred() -> None:
    gold = links("0-0")
    [result] = compare(gold, [gold], gold_name="g", names=["h"], resamples=10)
    text = format_text([result])
    assert "Last linked source word" in text
    assert "Source length" not in text
    assert "Compared with" not in text


def test_json_holds_the_evaluation_in_percent(evaluations: list[Evaluation]) -> None:
    objects = json.loads(format_json(evaluations))
    assert len(objects) == 2
    for found, expected in zip(objects, evaluations, strict=True):
        for key in ("name", "links", "sure", "possible", "pairs", "signature"):
            assert found[key] == getattr(expected, key)
        for metric in METRICS:
            assert found[metric] == 100 * getattr(expected, metric)
            assert found["intervals"][metric] == [100 * bound for bound in expected.intervals[metric]]
        assert found["interval"] == found["intervals"]["aer"]
        assert [row["lengths"] for row in found["by_length"]] == ["0-10", "11-20", "21-30", "41+"]
    assert objects[0]["paired"] is None
    test = evaluations[1].paired
    assert test is not None
    assert objects[1]["paired"]["baseline"] == "first.links"
    assert objects[1]["paired"]["difference"] == 100 * test.difference
    assert objects[1]["paired"]["p_value"] == test.p_value


def test_json_is_strict_where_denominators_vanish() -> None:
    empty = links("", "")
    results = compare(empty, [empty, empty], gold_name="g", names=["a", "b"], resamples=10)

    def refuse(constant: str) -> float:
        raise AssertionError(f"{constant} is not JSON")

    first, second = json.loads(format_json(results), parse_constant=refuse)
    assert all(math.isfinite(first[metric]) for metric in METRICS)
    assert second["paired"]["p_value"] == 1.0


def test_no_evaluations() -> None:
    assert format_text([]) == ""
    assert json.loads(format_json([])) == []


def record(*path: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """What a training records; `path` gives its rows."""
    row = {
        "regularization": 0.1, "miss_cost": 3.0, "norm": 2.5, "passes": 7, "seconds": 1.25, "relative_gap": 5e-4,
        "fold_passes": 0.0, "fold_seconds": 0.0, "fold_gap": None, "aer": None, "standard_error": None,
    }  # fmt: skip
    return {
        "pairs": 34567, "source_tokens": 1, "target_tokens": 2,
        "labelled_pairs": 1200, "labelled_pairs_available": 1200,
        "loss": "hinge", "links_lost": 3, "features": 32, "fertility": 2, "passes": 7,
        "oracle_calls": 8400, "audit_calls": 6000, "primal": 1.5,
        "dual": 1.49, "gap": 0.01, "relative_gap": 5e-3, "bound": None, "status": "the limit of passes was reached",
        "notes": [], "total_seconds": 12.34, "training_aer": 8.765, "regularization": 0.1, "folds": 0,
        "finished_folds": 0, "chosen": 0, "path": [{**row, **of_path} for of_path in path or ({},)], **changes,
    }  # fmt: skip


def lines(text: str) -> dict[str, str]:
    return dict(re.split(r" {2,}", line, maxsplit=1) for line in text.split("\n\n")[0].splitlines())


def test_a_training_is_two_columns() -> None:
    text = format_training(record(labelled_pairs_available=5000, notes=["one thing", "another"], bound=0.25))
    found = lines(text)
    assert found["labelled pairs"] == "1,200 of 5,000"
    assert found["regularization"] == "0.1"
    assert found["passes"] == "7 (8,400 oracle calls, 6,000 of audits)"
    assert found["gap"] == "0.01 (5.00e-03 relative; bound 0.25; the limit of passes was reached)"
    assert found["seconds"] == "12.3 (1.25 of solving)"
    assert found["training AER"] == "8.77 %"
    assert [line.split(maxsplit=1)[1] for line in text.splitlines() if line.startswith("note ")] == [
        "one thing",
        "another",
    ]
    assert "held-out AER" not in found
    assert "bound" not in format_training(record())


def test_the_logistic_loss_asks_no_oracle() -> None:
    found = lines(format_training(record(loss="logistic", passes=3)))
    assert (found["loss"], found["passes"]) == ("logistic", "3")
    assert "links lost" not in found


def test_the_table_of_a_path() -> None:
    judged = {"fold_passes": 25, "fold_seconds": 2.0, "fold_gap": 9e-4, "standard_error": 0.5}
    path = [{**judged, "regularization": λ, "aer": aer} for λ, aer in ((10.0, 12.0), (1.0, 9.5), (0.1, 9.75))]
    text = format_training(record(*path, regularization=1.0, chosen=1, folds=5, finished_folds=5))
    found = lines(text)
    assert found["regularization"] == "1, the best of 3"
    assert found["seconds"] == "12.3 (9.75 of solving)"
    assert found["held-out AER"] == "9.50 % ± 0.50 (5 folds)"
    header, *rows = text.split("\n\n")[1].splitlines()
    assert re.split(" {2,}", header.strip()) == [
        "λ", "held-out AER", "‖w‖", "passes", "relative gap", "passes of folds", "largest gap",
    ]  # fmt: skip
    assert [re.split(" {2,}", row.strip()) for row in rows] == [
        ["10", "12.00 ± 0.50", "2.5", "7", "5.0e-04", "25", "9.0e-04"],
        ["1 *", "9.50 ± 0.50", "2.5", "7", "5.0e-04", "25", "9.0e-04"],
        ["0.1", "9.75 ± 0.50", "2.5", "7", "5.0e-04", "25", "9.0e-04"],
    ]


def test_a_path_that_was_interrupted() -> None:
    rows = {"regularization": 10.0}, {"regularization": 1.0}
    early = record(*rows, regularization=1.0, chosen=1, folds=5)
    assert lines(format_training(early))["regularization"] == "1, the last of 2"
    assert format_training(early).splitlines()[-1].split() == ["1", "*", "-", "2.5", "7", "5.0e-04", "-", "-"]
    assert "held-out AER" not in lines(format_training(early))
    assert format_interruption(early) == "the model is that of the best audit on all pairs, at λ 1"
    judged = {"fold_gap": 9e-4, "aer": 9.0, "standard_error": 0.5}
    late = record(*({**row, **judged} for row in rows), regularization=10.0, folds=5, finished_folds=2)
    assert lines(format_training(late))["held-out AER"] == "9.00 % ± 0.50 (2 of 5 folds)"
    assert format_interruption(late) == "λ 10 is the choice of 2 of 5 folds"
    assert format_interruption(record()) == "the model is that of the solver's best audit"


def test_one_lambda_needs_no_table() -> None:
    judged = {"fold_gap": 9e-4, "aer": 9.0, "standard_error": 0.5}
    text = format_training(record(judged, folds=3, finished_folds=3))
    assert lines(text)["held-out AER"] == "9.00 % ± 0.50 (3 folds)"
    assert "\n\n" not in text


def test_an_audit_is_a_line() -> None:
    point = TracePoint(3, 1500, 2000, 0.5, 1.25, 1.0, 0.25, 0.2)
    assert format_audit(point) == (
        "pass 3: primal 1.25, dual 1, relative gap 2.00e-01, 1,500 oracle calls, 2,000 of audits"
    )
    assert "2.00e-01 (bound 4.00e+00)," in format_audit(replace(point, bound=4.0))
