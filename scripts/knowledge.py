"""The tables of dictionaries and of other text in docs/accuracy.md: what a few pairs of text gain by what is known.

    python scripts/knowledge.py --write

Entries are words that translate each other alone in the second half of a gold set, whose first half is judged. Default
weights have seen nothing of the set. Some ten minutes.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from tables import markdown, parser_of, publish

if TYPE_CHECKING:
    from gold import F64, Labelled

    from features.statistics import CorpusStatistics
    from features.translation.model import TranslationModel

ENTRIES = 500
WITH_ENTRIES = "en-ja", "grc-en", "pud, ko", "pud, ar", "en-tr", "xl-wa, hu", "xl-wa, ru"
OWN, OTHERS = 100, 10_000
WITH_OTHERS = {"pud, fr": "hansards/train", "xl-wa, es": "en-es/train", "rwth": "comtrans-de-en/train"}
"""Gold sets, of which the first pairs are aligned, and corpora of other kinds of text in the same languages."""


def entries(labelled: Labelled) -> Counter[tuple[str, str]]:
    """Words that are linked to each other alone, with how often they are."""
    found: Counter[tuple[str, str]] = Counter()
    for pair, links in zip(labelled.bitext, labelled.links, strict=True):
        source, target = (Counter(link[side] for link in links.sure) for side in (0, 1))
        for j, k in sorted(links.sure):
            if source[j] == target[k] == 1:
                found[pair.source_words[j].lower(), pair.target_words[k].lower()] += 1
    return found


def judged(labelled: Labelled, statistics: CorpusStatistics, weights: F64) -> str:
    from gold import decode_with

    from features.extractor import FeatureSet

    found = decode_with(weights, FeatureSet().extract(labelled.bitext, statistics))
    return f"{labelled.aer(found.to_links()):.1f}"


def main() -> None:
    asked = parser_of(__doc__).parse_args()

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

    def by_dictionary(chosen: list[tuple[str, str]]) -> TranslationModel | None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "entries"
            file.write_text("".join(f"{source}\t{target}\n" for source, target in chosen), "utf-8")
            return read_priors(None, file, normalizers)

    rows = []
    for name in WITH_ENTRIES:
        labelled, weights = opened(name), default_weights(known, name)
        half = len(labelled.links) // 2
        first, second = (labelled.take(np.arange(*ends)) for ends in ((0, half), (half, len(labelled.links))))
        counted = entries(second)
        every = sorted(counted)
        some = [every[place] for place in np.random.default_rng(0).permutation(len(every))[:ENTRIES]]
        frequent = [entry for entry, _ in counted.most_common(ENTRIES)]
        statistics = [
            CorpusStatistics.from_bitext(labelled.bitext, priors=by_dictionary(chosen) if chosen else None)
            for chosen in ([], frequent, some)
        ]
        rows.append([name, f"{len(labelled.links):,}", *(judged(first, one, weights) for one in statistics)])
        print(rows[-1], flush=True)
    header = [
        "gold set",
        "pairs of text",
        "nothing known",
        f"{ENTRIES} frequent entries",
        f"{ENTRIES} of any frequency",
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
