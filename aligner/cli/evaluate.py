"""``aligner evaluate``."""

from typing import Annotated

import typer

from aligner.cli import options as opt


def evaluate(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="Gold links, or the PREFIX of gold texts and links.")],
    hypotheses: Annotated[list[str], typer.Argument(metavar="HYP", help="Links to judge, line by line as GOLD.")],
    source: opt.SourceLanguage = None,
    target: opt.TargetLanguage = None,
    confidence: opt.Confidence = 95.0,
    resamples: opt.Resamples = 1000,
    seed: opt.BootstrapSeed = 12345,
    format_: opt.ReportFormat = "text",
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Report AER, precision, recall and F1 of links against gold, with intervals; a paired test for two HYPs."""
    from aligner.report.comparison import compare
    from aligner.report.text import format_json, format_text

    results = compare(
        gold, hypotheses, source=source, target=target, resamples=resamples, confidence=confidence / 100, seed=seed
    )
    print(format_json(results) if format_ == "json" else format_text(results))
