"""The tables of dictionaries and of other text in docs/accuracy.md: what a few pairs of text gain by what is known.

    python scripts/knowledge.py --write

The dictionaries are those of Debian's packages dict-freedict-* and edict; lemmas need simplemma. Default weights have
seen nothing of the set. Some twenty minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np
from tables import markdown, parser_of, publish

if TYPE_CHECKING:
    from gold import F64, Labelled

    from features.statistics import CorpusStatistics
    from features.translation.model import TranslationModel

DICTIONARIES = {
    "en-tr": ("eng-tur", "tur-eng"),
    "xl-wa, hu": ("eng-hun", "hun-eng"),
    "xl-wa, bg": ("eng-bul",),
    "xl-wa, es": ("eng-spa", "spa-eng"),
    "xl-wa, sl": ("slv-eng",),
    "xl-wa, ru": ("eng-rus",),
    "cs-en": ("eng-ces", "ces-eng"),
    "pud, ar": ("eng-ara", "ara-eng"),
    "en-ja": ("edict",),
}
"""Gold sets, and their dictionaries in Debian's packages: FreeDict's by languages, or EDICT."""

OWN, OTHERS = 100, 10_000
WITH_OTHERS = {"pud, fr": "hansards/train", "xl-wa, es": "en-es/train", "rwth": "comtrans-de-en/train"}
"""Gold sets, of which the first pairs are aligned, and corpora of other kinds of text in the same languages."""


def judged(labelled: Labelled, statistics: CorpusStatistics, weights: F64) -> str:
    from gold import decode_with

    from features.extractor import FeatureSet

    found = decode_with(weights, FeatureSet().extract(labelled.bitext, statistics))
    return f"{labelled.aer(found.to_links()):.1f}"


def main() -> None:
    options = parser_of(__doc__)
    options.add_argument("--dictionaries", type=Path, default=Path("/usr/share"), help="folder of the packages' files")
    asked = options.parse_args()

    from gold import Labelled, default_weights, text_with_gold, views
    from gold_sets import GERMAN, GOLD_SETS, TURKISH, WIKIPEDIA

    from corpora.normalize import Normalizer
    from corpora.readers import open_corpus
    from features.statistics import CorpusStatistics
    from features.translation.priors import Priors, read_priors

    normalizers = Normalizer(), Normalizer()
    known = views(asked.data, 12_500)
    sets = {**GOLD_SETS, "rwth": GERMAN, "en-tr": TURKISH, **WIKIPEDIA}

    def opened(name: str) -> Labelled:
        gold = sets[name]
        return Labelled.open(asked.data, gold.prefixes, gold.source, gold.target, words=gold.words)

    def by_dictionary(labelled: Labelled, files: Sequence[Path], lemmas: bool) -> TranslationModel | None:
        with nullcontext() if lemmas else patch("features.forms.find_lemmatizer", return_value=None):
            return read_priors(None, files, normalizers, labelled.bitext)

    rows = []
    for name, found in DICTIONARIES.items():
        files = [
            asked.dictionaries / (f"dictd/freedict-{one}.index" if "-" in one else f"{one}/{one}") for one in found
        ]
        labelled, weights = opened(name), default_weights(known, name)
        priors = [None, *(by_dictionary(labelled, files, lemmas) for lemmas in (False, True))]
        statistics = [CorpusStatistics.from_bitext(labelled.bitext, priors=one) for one in priors]
        judgements = [judged(labelled, one, weights) for one in statistics]
        rows.append([name, f"{len(labelled.links):,}", " ".join(found), *judgements])
        print(rows[-1], flush=True)
    header = [
        "gold set",
        "pairs of text",
        "dictionary",
        "nothing known",
        "with it, by beginnings",
        "with it, by lemmas",
    ]
    publish("dictionary", markdown(header, rows), pages=["docs/accuracy.md"], write=asked.write)

    rows = []
    for name, prefix in WITH_OTHERS.items():
        labelled, weights = opened(name), default_weights(known, name)
        labelled = labelled.take(np.arange(OWN))
        corpus = open_corpus(str(asked.data / prefix), source=sets[name].source, target=sets[name].target)
        others = CorpusStatistics.from_bitext(text_with_gold(corpus, OTHERS, ()))
        priors = Priors.from_model(others.translation).to_model(normalizers)
        statistics = [CorpusStatistics.from_bitext(labelled.bitext, priors=one) for one in (None, priors)]
        rows.append([name, prefix, *(judged(labelled, one, weights) for one in (*statistics, others))])
        print(rows[-1], flush=True)
    header = ["gold set", "other text", f"{OWN} pairs alone", "with `--priors` of it", "by its model, `-m`"]
    publish("other-text", markdown(header, rows), pages=["docs/accuracy.md"], write=asked.write)


if __name__ == "__main__":
    main()
