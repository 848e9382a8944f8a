"""The table of probabilities of the default weights, by language and size, in docs/accuracy.md.

    python scripts/calibration.py --write

Default weights have seen nothing of the gold set, but the calibration, which comes with the program, is of links in
held-out sets, this one among them where the weights were learnt from it. Some five minutes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tables import markdown, parser_of, publish

BINS = 10
LANGUAGES = "en-ja", "grc-en", "pud, ko", "pud, ar", "pud, fr", "cs-en", "en-es", "europarl", "hansards"
MOST = 12_500


def main() -> None:
    asked = parser_of(__doc__).parse_args()

    from gold import View, decode_with, default_weights, view, views
    from gold_sets import TURKISH, WIKIPEDIA

    import aligner.model.default as shipped
    from aligner.model.operating_point import offset_of
    from corpora.links import Links
    from features.extractor import FeatureSet

    known = views(asked.data, MOST)

    def judged(seen: View) -> Links:
        """The links with their probabilities for scores."""
        weights = default_weights(known, seen.gold)
        edges = FeatureSet().extract(seen.labelled.bitext, seen.statistics)
        found = seen.labelled.calibrating(decode_with(weights, edges).links)
        scores = found.known_scores - offset_of(weights, edges)
        return replace(found, scores=shipped.default_weights().calibration.probabilities(scores))

    groups = {(seen.gold, seen.pairs): [seen] for name in LANGUAGES for seen in known if seen.gold == name}
    groups["en-tr", 100] = [view(asked.data, "en-tr", TURKISH, *TURKISH.corpora[0])]
    for name, gold in WIKIPEDIA.items():
        for prefix, pairs in gold.corpora:
            groups.setdefault(("Wikipedia, ten languages", pairs if prefix else 0), []).append(
                view(asked.data, name, gold, prefix, pairs)
            )
    rows = []
    for (name, pairs), several in groups.items():
        links = Links.join(map(judged, several))
        scores, right = links.known_scores, links.sure
        of_bin = np.minimum((scores * BINS).astype(np.int64), BINS - 1)
        surplus = np.bincount(of_bin, scores - right, BINS)
        figures = scores.mean(), right.mean(), np.abs(surplus).sum() / len(right)
        text = f"{pairs:,}" if len(several) == 1 else f"{pairs:,} and its own"
        rows.append([name, text, f"{len(right):,}", *(f"{100 * figure:.1f}" for figure in figures)])
        print(rows[-1], flush=True)
    header = ["gold set", "pairs of text", "links", "mean probability", "right", "expected calibration error"]
    publish("calibration", markdown(header, rows), pages=["docs/accuracy.md"], write=asked.write)


if __name__ == "__main__":
    main()
