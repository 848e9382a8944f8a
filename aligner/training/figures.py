"""Format the figures of training, and of a model's features, as text and as JSON. Nothing here prints."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from aligner.evaluation.comparison import in_percent
from aligner.evaluation.tables import format_table, percent
from aligner.solvers import TracePoint
from aligner.training.ablation import ModelReport
from corpora.errors import counted


def format_audit(point: TracePoint) -> str:
    """Format the figures of one audit as a line."""
    figures = {name: value for name, value in asdict(point).items() if value is not None}
    return ", ".join(f"{name.replace('_', ' ')} {_shown(value, 6)}" for name, value in figures.items())


def format_values(values: Mapping[str, Any]) -> str:
    """Format names and values as two columns."""
    return "\n".join(f"{name.replace('_', ' '):<28}{_shown(value)}" for name, value in values.items())


def format_training(record: Mapping[str, Any]) -> str:
    """Format the figures of a training as two columns, AERs in percent."""
    long = "trace", "feature_ranges", "default_weights", "taught"
    return format_values({name: value for name, value in record.items() if name not in long})


def summarize_training(record: Mapping[str, Any]) -> str:
    """Return the result of training as a line in plain words."""
    if record.get("updates"):
        return f"{counted(record['updates'][-1]['pairs'], 'pair')} of text added; the weights stay."
    if "labelled_pairs" not in record:
        return f"{counted(record['pairs'], 'pair')} of text counted, none labelled: the model has the default weights."
    taught = f"{counted(record['labelled_pairs'], 'pair')} taught."
    interval = held_out_interval(record)
    if interval is not None:
        low, high = interval
        taught += f" Held-out AER {record['learnt_aer']:.2f} %, 95 % interval [{low:.2f}, {high:.2f}]"
        taught += "." if record["default_aer"] is None else f"; of the default weights {record['default_aer']:.2f} %."
    if "default_weights" in record:
        taught += " The default weights are kept: the labels do not help (`weights`=learnt keeps what was learnt)."
    return " ".join([taught, *early_end(record)])


def held_out_interval(record: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the 95 % interval of the held-out AER of learnt weights, in percent; None if no pairs were held out."""
    aer = record["learnt_aer"]
    if aer is None:
        return None
    margin = 1.96 * record["standard_error"]
    return max(0.0, aer - margin), min(100.0, aer + margin)


def early_end(record: Mapping[str, Any]) -> list[str]:
    """Say what a training that ended before its tolerance certifies; nothing of others."""
    early, gap = record.get("early_folds", 0), f"{record['relative_gap']:.2g}"
    told = [] if record["converged"] else [f"Stopped early, at a relative gap of {gap}: {record['status']}."]
    if early:
        gap = f"{record['fold_gap']:.2g}"
        told.append(f"{early} of {record['finished_folds']} folds stopped early, at relative gaps of up to {gap}.")
    return told


def format_interruption(record: Mapping[str, Any]) -> str:
    """Say which weights the model of an interrupted training has."""
    saved, folds = "the best weights so far are saved", record["folds"]
    return f"{saved}; {record['finished_folds']} of {folds} folds were held out" if folds else saved


def format_features(report: ModelReport) -> str:
    """Format the families and the features of a model as two tables; AER and its differences in percent."""
    without = [] if report.aer is None else ["AER without"]
    families = [
        [family.name, str(family.columns), *(f"{100 * (family.ablation or 0.0):+.2f}" for _ in without)]
        for family in report.families
    ]
    features = [[_shown(value) for value in vars(feature).values()] for feature in report.features]
    parts = [
        format_table(["Family", "Columns", *without], families),
        format_table(["Feature", "Family", "Weight", "Least", "Greatest", "Effect"], features),
    ]
    if report.aer is not None:
        parts.insert(0, f"AER {percent(report.aer)} % on {counted(report.pairs or 0, 'labelled pair')}")
    return "\n\n".join(parts)


def features_to_dict(report: ModelReport) -> dict[str, Any]:
    """The families and features of a model as JSON values; AER and its differences in percent, None without gold."""
    return {
        **in_percent({"aer": report.aer}, "aer"),
        "pairs": report.pairs,
        "families": [in_percent(asdict(family), "ablation") for family in report.families],
        "features": [asdict(feature) for feature in report.features],
    }


def _shown(value: Any, digits: int = 4) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value))
    return "-" if value is None else f"{value:.{digits}g}" if isinstance(value, float) else str(value)
