"""Evaluations as text and as JSON; figures in percent. Nothing here prints."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from aligner.evaluation.comparison import Evaluation, in_percent
from aligner.evaluation.counts import Interval

if TYPE_CHECKING:
    from aligner.solvers import TracePoint
    from aligner.training.ablation import ModelReport

_METRICS = {"aer": "AER", "precision": "Precision", "recall": "Recall", "f1": "F1"}
_LENGTH_TITLES = {"text": "Source length", "links": "Source length, at least"}


def format_text(evaluations: Sequence[Evaluation], layout: str = "text") -> str:
    """Lay out the evaluations of one `compare` call as tables, without a final newline.

    All figures are percent but the numbers of pairs and links and the p-value. The tables are as wide as
    their contents. No evaluations give the empty string.  layout: one of LAYOUTS.
    """
    if not evaluations:
        return ""
    first, table = evaluations[0], LAYOUTS[layout]
    interval_title = f"{100 * first.confidence:g} % interval"
    header = ["System", "Links"]
    for title in _METRICS.values():
        header += [title, interval_title]
    rows = []
    for evaluation in evaluations:
        row = [evaluation.name, str(evaluation.links)]
        for metric in _METRICS:
            row += [_percent(getattr(evaluation, metric)), _interval(evaluation.intervals[metric])]
        rows.append(row)
    gold = (
        f"Gold {first.gold}: {first.pairs} sentence pairs, {first.sure} sure links, {first.possible} sure or possible"
    )
    remark = "% " if layout == "latex" else ""
    parts = [f"{remark}{gold} links", table(header, rows), table(*_lengths(evaluations))]
    tests = [
        [
            evaluation.name, test.baseline, f"{100 * test.difference:+.2f}", _interval(test.interval),
            f"{'≤ ' * test.is_least}{test.p_value:.4f}", *([] if test.holm is None else [f"{test.holm:.4f}"]),
        ]
        for evaluation in evaluations
        for test in evaluation.tests
    ]  # fmt: skip
    titles = ["System", "Compared with", "AER difference", interval_title, "p, two-sided", "p by Holm"]
    parts += [table(titles[: len(row)], tests) for row in tests[:1]]
    parts += [
        f"{remark}Recall is of sure links, F1 of all{'; p is by a paired bootstrap over pairs' if tests else ''}."
    ]
    parts += [remark + signature for signature in dict.fromkeys(e.signature for e in evaluations)]
    return "\n\n".join(parts)


def format_csv(evaluations: Sequence[Evaluation]) -> str:
    """A line for each evaluation, see `Evaluation.to_row`."""
    lines, file = [{"name": evaluation.name, **evaluation.to_row()} for evaluation in evaluations], io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(lines[:1])  # the names of the columns
    csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC).writerows(line.values() for line in lines)
    return file.getvalue().removesuffix("\n")


def format_json(evaluations: Sequence[Evaluation]) -> str:
    """Return a JSON list, one object per evaluation, see `Evaluation.to_dict`."""
    return json.dumps([evaluation.to_dict() for evaluation in evaluations], indent=2, allow_nan=False)


def _lengths(evaluations: Sequence[Evaluation]) -> tuple[list[str], list[list[str]]]:
    header = ["System", _LENGTH_TITLES[evaluations[0].lengths], "Pairs", "Links", *_METRICS.values()]
    rows = [
        [evaluation.name, row.lengths, str(row.pairs), str(row.links), *(_percent(getattr(row, m)) for m in _METRICS)]
        for evaluation in evaluations
        for row in evaluation.by_length
    ]
    return header, rows


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns two spaces apart; the first is set left, the others right."""
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    )


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _latex(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [" & ".join(re.sub(r"([&%$#_{}])", r"\\\1", cell) for cell in line) + r" \\" for line in (header, *rows)]
    ends = rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}", r"\end{tabular}"
    return "\n".join([ends[0], lines[0], r"\hline", *lines[1:], ends[1]])


LAYOUTS = {"text": _table, "markdown": _markdown, "latex": _latex}


def format_evaluations(evaluations: Sequence[Evaluation], format: str) -> str:
    """The evaluations of one `compare` call as json, as csv, or in one of LAYOUTS."""
    formats = {"json": format_json, "csv": format_csv}
    return formats[format](evaluations) if format in formats else format_text(evaluations, format)


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2f}"


def _interval(interval: Interval) -> str:
    low, high = interval
    return f"[{_percent(low)}, {_percent(high)}]"


def format_audit(point: TracePoint) -> str:
    """The figures of one audit, a line."""
    bound = "" if point.bound is None else f" (bound {point.bound:.2e})"
    cheap = f" ({point.cheap_steps:,} steps without)" if point.cheap_steps else ""
    return (
        f"pass {point.passes:g}: primal {point.primal:.6g}, dual {point.dual:.6g}, "
        f"relative gap {point.relative_gap:.2e}{bound}, {point.oracle_calls:,} oracle calls{cheap}, "
        f"{point.audit_calls:,} of audits"
    )


def format_values(values: Mapping[str, Any]) -> str:
    """Names and values, two columns."""
    return "\n".join(f"{name.replace('_', ' '):<28}{_shown(value)}" for name, value in values.items())


def format_training(record: Mapping[str, Any]) -> str:
    """The figures of a training, two columns, AERs in percent."""
    long = "trace", "feature_ranges", "default_weights"
    return format_values({name: value for name, value in record.items() if name not in long})


def summarize_training(record: Mapping[str, Any]) -> str:
    """What training has come to, a line or two in plain words."""
    if record.get("updates"):
        return f"{record['updates'][-1]['pairs']:,} pairs of text added; the weights stay."
    if "labelled_pairs" not in record:
        return f"{record['pairs']:,} pairs of text counted, none labelled: the model has the default weights."
    taught = f"{record['labelled_pairs']:,} pairs taught."
    if not record["finished_folds"]:
        return taught
    taught += f" Wrong links on held-out pairs: {record['learnt_aer']:.3g} %"
    if record["default_aer"] is not None:
        taught += f" (default weights: {record['default_aer']:.3g} %)"
    return f"{taught}." + "\nThe default weights are kept: the labels do not help." * ("default_weights" in record)


def format_interruption(record: Mapping[str, Any]) -> str:
    """Whose weights the model of an interrupted training has."""
    saved, folds = "the best weights so far are saved", record["folds"]
    return f"{saved}; {record['finished_folds']} of {folds} folds were held out" if folds else saved


def format_features(report: ModelReport) -> str:
    """The families and the features of a model, two tables; AERs and their differences in percent."""
    columns = [
        [family.name, str(family.columns), *([] if report.aer is None else [_difference(family.ablation)])]
        for family in report.families
    ]
    rows = [
        [
            feature.name,
            feature.family,
            f"{feature.weight:.4g}",
            *(_shown(value) for value in (feature.low, feature.high, feature.effect)),
            *([] if report.aer is None else [_difference(feature.ablation)]),
        ]
        for feature in report.features
    ]
    without = [] if report.aer is None else ["AER without"]
    parts = [
        _table(["Family", "Columns", *without], columns),
        _table(["Feature", "Family", "Weight", "Least", "Greatest", "Effect", *without], rows),
    ]
    if report.aer is not None:
        parts.insert(0, f"AER {_percent(report.aer)} % on {report.pairs} labelled pairs")
    return "\n\n".join(parts)


def features_to_dict(report: ModelReport) -> dict[str, Any]:
    """The same as JSON values; AERs and their differences in percent, None without gold."""
    features = [{**asdict(feature), "effect": feature.effect} for feature in report.features]
    return {
        **in_percent({"aer": report.aer}, "aer"),
        "pairs": report.pairs,
        "families": [in_percent(asdict(family), "ablation") for family in report.families],
        "features": [in_percent(feature, "ablation") for feature in features],
    }


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value))
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _difference(fraction: float | None) -> str:
    return "-" if fraction is None else f"{100 * fraction:+.2f}"
