"""The table of other text in docs/accuracy.md: what a few pairs of text gain by what another text says.

    python scripts/knowledge.py --write

Default weights have seen nothing of the gold set. Some ten minutes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from tables import markdown, parser_of, publish

if TYPE_CHECKING:
    from gold import F64, Labelled

    from features.statistics import CorpusStatistics

OWN, OTHERS = 100, 10_000
WITH_OTHERS = {"pud, fr": "hansards/train", "xl-wa, es": "en-es/train", "rwth": "comtrans-de-en/train"}
"""Gold sets, of which the first pairs are aligned, and corpora of other kinds of text in the same languages."""


def judged(labelled: Labelled, statistics: CorpusStatistics, weights: F64) -> str:
    from gold import decode_with

    from features.extractor import FeatureSet

    found = decode_with(weights, FeatureSet().extract(labelled.bitext, statistics))
    return f"{labelled.aer(found.links):.1f}"


def main() -> None:
    asked = parser_of(__doc__).parse_args()

    from gold import Labelled, default_weights, text_with_gold, views
    from gold_sets import GERMAN, GOLD_SETS, WIKIPEDIA

    from corpora.normalize import Normalizer
    from corpora.readers import open_corpus
    from features.statistics import CorpusStatistics
    from features.translation.priors import Priors

    normalizers = Normalizer(), Normalizer()
    known = views(asked.data, 12_500)
    sets = {**GOLD_SETS, "rwth": GERMAN, **WIKIPEDIA}

    def opened(name: str) -> Labelled:
        gold = sets[name]
        return Labelled.open(asked.data, gold.prefixes, gold.source, gold.target, words=gold.words)

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
