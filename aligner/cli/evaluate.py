"""``aligner evaluate``."""

from pathlib import Path
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
    from aligner.report.evaluation import evaluate as judge
    from aligner.report.text import format_json, format_text
    from corpora.alignment import check_range
    from corpora.link_files import read_links
    from corpora.readers import open_corpus
    from corpora.recognize import is_stream

    lengths = None
    if Path(gold).is_file() or is_stream(gold):
        gold_links = read_links(gold)
    else:
        corpus = open_corpus(gold, source=source, target=target)
        gold_links = corpus.links().read()
        lengths = list(corpus.lengths())
    sentences = range(1, len(gold_links) + 1)  # the NAACL format does not say how many pairs there are
    found = [read_links(name, sentences=sentences) for name in hypotheses]
    for name, links in zip(hypotheses, found, strict=True):
        for line, (pair, length) in enumerate(zip(links, lengths or (), strict=False), 1):  # of unequal numbers: below
            check_range(pair, *length, name, line)
    results = judge(
        gold_links,
        found,
        gold_name=gold,
        hypothesis_names=hypotheses,
        source_lengths=None if lengths is None else [length for length, _ in lengths],
        resamples=resamples,
        confidence=confidence / 100,
        seed=seed,
    )
    print(format_json(results) if format_ == "json" else format_text(results))
