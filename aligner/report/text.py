"""Evaluations as text and as JSON; figures in percent. Nothing here prints."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from aligner.report.comparison import Evaluation, in_percent
from aligner.report.evaluation import Interval

if TYPE_CHECKING:
    from aligner.report.ablation import ModelReport
    from aligner.solvers import TracePoint

_METRICS = {"aer": "AER", "precision": "Precision", "recall": "Recall", "f1": "F1"}
_LENGTH_TITLES = {"text": "Source length", "links": "Last linked source word"}


def format_text(evaluations: Sequence[Evaluation]) -> str:
    """Lay out the evaluations of one `compare` call as plain tables, without a final newline.

    All figures are percent but the numbers of pairs and links and the p-value. The tables are as wide as
    their contents. No evaluations give the empty string.
    """
    if not evaluations:
        return ""
    first = evaluations[0]
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
    parts = [f"{gold} links", _table(header, rows), _length_table(evaluations)]
    tests = [
        [
            evaluation.name, test.baseline, f"{100 * test.difference:+.2f}", _interval(test.interval),
            f"{test.p_value:.4f}",
        ]
        for evaluation in evaluations
        if (test := evaluation.paired) is not None
    ]  # fmt: skip
    if tests:
        parts.append(_table(["System", "Compared with", "AER difference", interval_title, "p"], tests))
    parts.append("\n".join(dict.fromkeys(evaluation.signature for evaluation in evaluations)))
    return "\n\n".join(parts)


def format_json(evaluations: Sequence[Evaluation]) -> str:
    """Return a JSON list, one object per evaluation, see `Evaluation.to_dict`."""
    return json.dumps([evaluation.to_dict() for evaluation in evaluations], indent=2, allow_nan=False)


def _length_table(evaluations: Sequence[Evaluation]) -> str:
    header = ["System", _LENGTH_TITLES[evaluations[0].lengths], "Pairs", "Links", *_METRICS.values()]
    rows = [
        [evaluation.name, row.lengths, str(row.pairs), str(row.links), *(_percent(getattr(row, m)) for m in _METRICS)]
        for evaluation in evaluations
        for row in evaluation.by_length
    ]
    return _table(header, rows)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns two spaces apart; the first is set left, the others right."""
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    )


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2f}"


def _interval(interval: Interval) -> str:
    low, high = interval
    return f"[{_percent(low)}, {_percent(high)}]"


def format_audit(point: TracePoint) -> str:
    """The figures of one audit, a line."""
    bound = "" if point.bound is None else f" (bound {point.bound:.2e})"
    return (
        f"pass {point.passes:g}: primal {point.primal:.6g}, dual {point.dual:.6g}, "
        f"relative gap {point.relative_gap:.2e}{bound}, {point.oracle_calls:,} oracle calls, "
        f"{point.audit_calls:,} of audits"
    )


def format_training(record: Mapping[str, Any]) -> str:
    """The figures of a training, two columns, and the table of its path if there is one."""
    labelled = f"{record['labelled_pairs']:,}"
    if record["labelled_pairs_available"] > record["labelled_pairs"]:
        labelled += f" of {record['labelled_pairs_available']:,}"
    path, folds, finished = record["path"], record["folds"], record["finished_folds"]
    regularization = f"{record['regularization']:.4g}"
    if len(path) > 1:
        regularization += f", the best of {len(path)}" if finished else f", the last of {len(path)}"
    solving = sum(row["seconds"] + row["fold_seconds"] for row in path)
    # The logistic loss asks no oracle and has no matching to project gold on.
    calls, lost = "", []
    if record["loss"] == "hinge":
        calls = f" ({record['oracle_calls']:,} oracle calls, {record['audit_calls']:,} of audits)"
        lost = [("links lost", f"{record['links_lost']:,} sure links beyond what a word may have")]
    bound = "" if record["bound"] is None else f"; bound {record['bound']:.3g}"
    rows = [
        ("pairs", f"{record['pairs']:,}"),
        ("tokens", f"{record['source_tokens']:,} source, {record['target_tokens']:,} target"),
        ("labelled pairs", labelled),
        ("loss", record["loss"]),
        *lost,
        ("features", f"{record['features']}, up to {record['fertility']} links a word"),
        ("regularization", regularization),
        ("passes", f"{record['passes']:g}{calls}"),
        ("primal", f"{record['primal']:.6g}"),
        ("dual", f"{record['dual']:.6g}"),
        ("gap", f"{record['gap']:.3g} ({record['relative_gap']:.2e} relative{bound}; {record['status']})"),
        *(("note", note) for note in record["notes"]),
        ("seconds", f"{record['total_seconds']:.1f} ({solving:.2f} of solving)"),
        ("training AER", f"{record['training_aer']:.2f} %"),
    ]
    if "calibrated_links" in record:
        rows.append(("probabilities", f"of {record['calibrated_links']:,} links in the {record['calibrated_on']}"))
    if finished:
        chosen = path[record["chosen"]]
        part = f"{folds} folds" if finished == folds else f"{finished} of {folds} folds"
        rows.append(("held-out AER", f"{chosen['aer']:.2f} % ± {chosen['standard_error']:.2f} ({part})"))
    text = "\n".join(f"{name:<16}{value}" for name, value in rows)
    return f"{text}\n\n{_path_table(record)}" if len(path) > 1 else text


def format_unlabelled(record: Mapping[str, Any]) -> str:
    """What a model without labels was made of."""
    rows = [
        ("pairs", f"{record['pairs']:,}"),
        ("tokens", f"{record['source_tokens']:,} source, {record['target_tokens']:,} target"),
        ("labelled pairs", "none: the weights are those that come with the program"),
    ]
    return "\n".join(f"{name:<16}{value}" for name, value in rows)


def _path_table(record: Mapping[str, Any]) -> str:
    """A line for each λ, the chosen one marked."""
    header = ["λ", "held-out AER", "‖w‖", "passes", "relative gap", "passes of folds", "largest gap"]
    rows = []
    for number, row in enumerate(record["path"]):
        mark = " *" if number == record["chosen"] else ""
        cells = [f"{row['regularization']:.4g}{mark}", "-", f"{row['norm']:.4g}", f"{row['passes']:g}"]
        cells += [f"{row['relative_gap']:.1e}", "-", "-"]
        if row["aer"] is not None:
            cells[1] = f"{row['aer']:.2f} ± {row['standard_error']:.2f}"
            cells[5:] = [f"{row['fold_passes']:g}", f"{row['fold_gap']:.1e}"]
        rows.append(cells)
    return _table(header, rows)


def format_interruption(record: Mapping[str, Any]) -> str:
    """Whose weights the model of an interrupted training has."""
    regularization = f"{record['regularization']:.4g}"
    if record["finished_folds"]:
        return f"λ {regularization} is the choice of {record['finished_folds']} of {record['folds']} folds"
    if record["folds"]:
        return f"the model is that of the best audit on all pairs, at λ {regularization}"
    return "the model is that of the solver's best audit"


def format_features_text(report: ModelReport) -> str:
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
            *(_number(value) for value in (feature.low, feature.high, feature.effect)),
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


def format_features_json(report: ModelReport) -> str:
    """The same as a JSON object; AERs and their differences in percent, null without gold."""
    features = [{**asdict(feature), "effect": feature.effect} for feature in report.features]
    found = {
        **in_percent({"aer": report.aer}, "aer"),
        "pairs": report.pairs,
        "families": [in_percent(asdict(family), "ablation") for family in report.families],
        "features": [in_percent(feature, "ablation") for feature in features],
    }
    return json.dumps(found, indent=2, allow_nan=False)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _difference(fraction: float | None) -> str:
    return "-" if fraction is None else f"{100 * fraction:+.2f}"
