"""``aligner evaluate``."""

from typing import Literal

from aligner.cli.messages import refuse_idle
from aligner.cli.options import (
    LINKED_TEXT,
    QUIET,
    Bootstrap,
    argument,
    bootstrap_option,
    command,
    data_option,
    named_files,
    output_option,
)
from aligner.model.settings import check_risk
from aligner.progress import progress_bar
from corpora.reading import Reading


@command(hidden="columns")
def evaluate(
    gold: str = argument("GOLD", "Gold links, or the PREFIX of gold texts and links."),
    hypotheses: list[str] = argument("HYP", "Links to judge, line by line as GOLD; NAME=FILE names them."),
    *,
    text: str | None = LINKED_TEXT,
    reading: Reading,
    base: int | None = data_option(None, "Of the first word in GOLD, as i-j.", least=0, most=1, shown="0; in .talp 1"),
    risk: float | None = data_option(None, "Show whether links have this risk, see align --risk.", metavar="R"),
    all_pairs: bool = bootstrap_option(False, "Test each pair of HYPs, p-values corrected by Holm."),
    intervals: Bootstrap,
    format_: Literal["text", "json", "markdown", "latex", "csv"] = output_option("text", "How tables are written."),
    quiet: bool = QUIET,
) -> None:
    """Report AER, precision, recall and F1 of links against gold.

    Each has a bootstrap interval. Every further HYP is tested against the first: paired bootstrap over sentence pairs,
    two-sided.
    """
    if risk is not None:
        check_risk(risk)
        refuse_idle("in JSON, which has the risk, and CSV", risk=format_ in ("json", "csv"))
    names, files = named_files(hypotheses)
    with progress_bar(quiet):
        from aligner.evaluation.comparison import compare
        from aligner.evaluation.tables import format_evaluations

        results = compare(
            gold,
            files,
            names=names,
            text=text,
            base=base,
            all_pairs=all_pairs,
            **intervals.given(),
            **vars(reading),
        )
    print(format_evaluations(results, format_, risk))
