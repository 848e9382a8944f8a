"""``aligner info``."""

import json

from aligner.cli import options as opt
from aligner.progress import progress_bar


def info(model: opt.ModelArgument, format_: opt.ReportFormat = "text", debug: opt.Debug = False) -> None:
    """Tell what a model was made of: languages, pairs, words, labels, AER on held-out pairs, version, text."""
    with progress_bar(quiet=False):
        from aligner.model.model import load
        from aligner.report.text import format_values

        found = load(model).info()
    print(json.dumps(found, indent=2) if format_ == "json" else format_values(found))
