"""The reports say what the evaluation found, in percent."""

from __future__ import annotations

import json
import math

import pytest

from aligner.evaluation import Evaluation, evaluate
from aligner.report import format_json, format_text
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
    return evaluate(
        gold,
        [first, second],
        gold_name="gold.wa",
        hypothesis_names=["first.links", "second-system.links"],
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
    [result] = evaluate(gold, [gold], gold_name="g", hypothesis_names=["h"], resamples=10)
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
    results = evaluate(empty, [empty, empty], gold_name="g", hypothesis_names=["a", "b"], resamples=10)

    def refuse(constant: str) -> float:
        raise AssertionError(f"{constant} is not JSON")

    first, second = json.loads(format_json(results), parse_constant=refuse)
    assert all(math.isfinite(first[metric]) for metric in METRICS)
    assert second["paired"]["p_value"] == 1.0


def test_no_evaluations() -> None:
    assert format_text([]) == ""
    assert json.loads(format_json([])) == []
