"""``aligner info``."""

import json
from typing import Annotated, Literal

from aligner.cli.messages import refuse_idle
from aligner.cli.options import MODEL, QUIET, argument, command, output_option
from aligner.model.settings import AlignSettings
from aligner.progress import Progress, progress_bar
from corpora.reading import Reading


@command(threads=True)
def info(
    model: str = MODEL,
    gold: list[str] | None = argument("GOLD", "Labelled pairs: what AER is without each family.", None),
    *,
    features: bool = output_option(False, "Also its features, the most effective first."),
    reading: Annotated[Reading, "source target"],
    others: Annotated[AlignSettings, "links"],
    format_: Literal["text", "json"] = output_option("text", "A table, or JSON."),
    quiet: bool = QUIET,
) -> None:
    """Tell what a model was made of, and what its features are worth.

    Languages, pairs, words, labels, AER on held-out pairs, version, text; with --features or GOLD the features, the
    most effective first: weights, ranges, and with GOLD what AER is without each family.
    """
    with progress_bar(quiet) as show:
        from aligner.cli.inputs import with_others
        from aligner.model.model import load
        from aligner.training.ablation import describe_model
        from aligner.training.figures import features_to_dict, format_features, format_values
        from aligner.training.inputs import read_labelled
        from corpora.readers import open_corpus

        if not gold:
            refuse_idle(
                "without labelled pairs (give GOLD)", source=reading.source, target=reading.target, links=others.links
            )
        refuse_idle("with GOLD, which shows them", features=features and gold)
        loaded, labelled = load(model), None
        facts = loaded.info()
        if gold:
            loaded, files = with_others(loaded, model, others.links)
            source, target = reading.source or loaded.languages[0], reading.target or loaded.languages[1]
            corpora = [open_corpus(prefix, source=source, target=target) for prefix in gold]
            labelled = read_labelled(corpora, loaded.normalizers, files)
        report = None
        if gold or features:
            report = describe_model(
                loaded,
                labelled,
                on_progress=lambda done, total: show(Progress("ablation", done, total, "alignments of the pairs")),
            )
    if format_ == "json":
        found = facts if report is None else {**facts, "report": features_to_dict(report)}
        print(json.dumps(found, indent=2, allow_nan=False))
    else:
        print(format_values(facts) + ("" if report is None else f"\n\n{format_features(report)}"))
