"""``aligner info``."""

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from aligner.cli.dictionaries import count_dictionary, is_dictionary
from aligner.cli.messages import refuse_idle
from aligner.cli.options import QUIET, argument, command, output_option
from aligner.model.settings import AlignSettings
from aligner.progress import Progress, progress_bar
from corpora.reading import Reading


@command(threads=True, hidden="columns")
def info(
    model: str = argument("MODEL", "A trained model, or a dictionary."),
    gold: list[str] | None = argument(
        "GOLD", "Labelled pairs: what AER is without each family. Of a dictionary: SRC TGT, a text.", None
    ),
    *,
    features: bool = output_option(False, "Also its features, the most effective first."),
    reading: Annotated[Reading, "source target columns"],
    others: Annotated[AlignSettings, "links tokenize keep"],
    format_: Literal["text", "json"] = output_option("text", "A table, or JSON."),
    quiet: bool = QUIET,
) -> None:
    """Tell what a model was made of, and what its features are worth; or what a dictionary has for a text.

    Languages, pairs, words, labels, AER on held-out pairs, version, text; with --features or GOLD the features, the
    most effective first: weights, ranges, and with GOLD what AER is without each family.

    Of a dictionary: format, languages, entries, and how many of them stand in a text, SRC TGT, with examples.
    """
    if is_dictionary(model):
        refuse_idle("with a dictionary", features=features, links=others.links)
        _print(_describe_dictionary(model, gold or [], reading, others), format_)
        return
    refuse_idle("with a model", tokenize=others.tokenize, keep=others.keep)
    with progress_bar(quiet) as show:
        from aligner.cli.inputs import open_gold, with_others
        from aligner.model.model import load
        from aligner.model.risk import in_words
        from aligner.training.ablation import describe_model
        from aligner.training.figures import features_to_dict, format_features
        from aligner.training.inputs import read_labelled

        if not gold:
            reading.refuse("is of labelled pairs", "give GOLD")
            refuse_idle("without labelled pairs (give GOLD)", links=others.links)
        refuse_idle("with GOLD, which shows them", features=features and gold)
        loaded, labelled = load(model), None
        facts = loaded.info()
        if gold:
            loaded, files = with_others(loaded, model, others.links)
            labelled = read_labelled(open_gold(loaded, gold, reading), loaded.normalizers, files)
        report = None
        if gold or features:
            report = describe_model(
                loaded,
                labelled,
                on_progress=lambda done, total: show(Progress("ablation", done, total, "alignments of the pairs")),
            )
    if report is not None and format_ == "json":
        facts["report"] = features_to_dict(report)
    if facts["risk"] and format_ == "text":
        facts["risk"] = in_words(facts["risk"])
    _print(facts, format_)
    if report is not None and format_ == "text":
        print(f"\n{format_features(report)}")


def _print(facts: dict[str, Any], format_: str) -> None:
    from aligner.training.figures import format_values

    print(json.dumps(facts, indent=2, allow_nan=False) if format_ == "json" else format_values(facts))


def _describe_dictionary(path: str, texts: Sequence[str], reading: Reading, settings: AlignSettings) -> dict[str, Any]:
    _, fit = count_dictionary(path, texts, reading, settings)
    in_text = {
        "headwords_are_of": "the target" if fit.turned else "the source",
        "entries_in_text": fit.both,
        "entries_inflected_in_text": fit.forms,
        "entries_with_one_side": fit.one,
        "fits": fit.fits,
        "lemmas": fit.lemmas or None,
    }
    return {
        "format": fit.dictionary.form,
        "languages": fit.languages,
        "entries": fit.entries,
        **(in_text if texts else {}),
        "examples": [f"{source} = {target}" for source, target in fit.examples],
    }
