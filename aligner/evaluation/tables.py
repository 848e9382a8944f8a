"""Evaluations as text and as JSON; figures in percent. Nothing here prints."""

import csv
import io
import json
import re
from collections.abc import Sequence

from aligner.evaluation.comparison import Evaluation
from aligner.evaluation.counts import Interval

_METRICS = {"aer": "AER", "precision": "Precision", "recall": "Recall", "f1": "F1"}
_LENGTH_TITLES = {"text": "Source length", "links": "Source length, at least"}


def format_text(evaluations: Sequence[Evaluation], layout: str = "text", risk: float | None = None) -> str:
    """Lay out the evaluations of one `compare` call as tables, without a final newline.

    All figures are percent but the numbers of pairs and links and the p-value. The tables are as wide as
    their contents. No evaluations give the empty string.  layout: one of LAYOUTS.  risk: that the links should have.
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
            row += [percent(getattr(evaluation, metric)), _interval(evaluation.intervals[metric])]
        rows.append(row)
    pairs = f"{first.pairs} sentence pair{'s' * (first.pairs != 1)}"
    gold = f"Gold {first.gold}: {pairs}, {first.sure} sure links, {first.possible} sure or possible"
    remark = "% " if layout == "latex" else ""
    parts = [f"{remark}{gold} links", table(header, rows), table(*_lengths(evaluations))]
    tests = [
        [
            evaluation.name,
            test.baseline,
            f"{100 * test.difference:+.2f}",
            _interval(test.interval),
            f"{'≤ ' * test.is_least}{test.p_value:.4f}",
            *([] if test.holm is None else [f"{test.holm:.4f}"]),
        ]
        for evaluation in evaluations
        for test in evaluation.tests
    ]
    titles = ["System", "Compared with", "AER difference", interval_title, "p, two-sided", "p by Holm"]
    parts += [table(titles[: len(row)], tests) for row in tests[:1]]
    if risk is not None:
        found = [
            [name, percent(mean), _interval((low, high)), percent(risk), "yes" if mean <= risk else "no"]
            for name, (mean, low, high) in ((one.name, one.risk) for one in evaluations)
        ]
        parts += [table(["System", "Wrong links of a pair", interval_title, "At most", "Kept"], found)]
    parts += [
        f"{remark}Recall is of sure links, F1 of all{'; p is by a paired bootstrap over pairs' if tests else ''}."
    ]
    parts += [remark + signature for signature in dict.fromkeys(e.signature for e in evaluations)]
    return "\n\n".join(parts)


def format_csv(evaluations: Sequence[Evaluation]) -> str:
    """Format evaluations as CSV, a line for each, see `Evaluation.to_row`."""
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
        [evaluation.name, row.lengths, str(row.pairs), str(row.links), *(percent(getattr(row, m)) for m in _METRICS)]
        for evaluation in evaluations
        for row in evaluation.by_length
    ]
    return header, rows


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format a table: columns two spaces apart, the first set left, the others right."""
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


LAYOUTS = {"text": format_table, "markdown": _markdown, "latex": _latex}


def format_evaluations(evaluations: Sequence[Evaluation], format: str, risk: float | None = None) -> str:
    """Format the evaluations of one `compare` call as json, as csv, or in one of LAYOUTS.  risk: see `format_text`."""
    formats = {"json": format_json, "csv": format_csv}
    return formats[format](evaluations) if format in formats else format_text(evaluations, format, risk)


def percent(fraction: float) -> str:
    """Return a fraction as percent, with two decimals."""
    return f"{100 * fraction:.2f}"


def _interval(interval: Interval) -> str:
    low, high = interval
    return f"[{percent(low)}, {percent(high)}]"
