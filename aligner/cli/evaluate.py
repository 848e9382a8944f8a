"""``aligner evaluate``."""

from typing import Annotated

import typer

from aligner.cli import options as opt
from aligner.progress import progress_bar
from corpora.reading import AS_IT_IS, Reading


@opt.reads_corpus()
def evaluate(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="Gold links, or the PREFIX of gold texts and links.")],
    hypotheses: Annotated[
        list[str], typer.Argument(metavar="HYP", help="Links to judge, line by line as GOLD; NAME=FILE names them.")
    ],
    text: opt.LinkedText = None,
    reading: Reading = AS_IT_IS,
    base: opt.GoldBase = None,
    all_pairs: opt.AllPairs = False,
    confidence: opt.Confidence = 95.0,
    resamples: opt.Resamples = 1000,
    seed: opt.BootstrapSeed = 12345,
    format_: opt.EvaluationFormat = "text",
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Report AER, precision, recall and F1 of links against gold.

    Each has a bootstrap interval. Every further HYP is tested against the first: paired bootstrap over sentence pairs,
    two-sided.
    """
    names, files = opt.named_files(hypotheses)
    with progress_bar(quiet):
        from aligner.evaluation.comparison import compare
        from aligner.evaluation.tables import format_evaluations

        results = compare(
            gold, files, names=names, text=text, base=base, all_pairs=all_pairs, resamples=resamples,
            confidence=confidence / 100, seed=seed, **vars(reading),
        )  # fmt: skip
    print(format_evaluations(results, format_))
