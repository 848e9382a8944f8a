"""The table of operating points in docs/accuracy.md, and the offset that `aligner align --help` names for high recall.

    python scripts/recall.py --write

The default weights, learnt without the gold set at hand, with offsets: more and more links. Means of gold sets of
sixteen languages, each under its largest corpus of at most 12,500 pairs. Needs `--data`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tables import markdown, parser_of, publish

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from gold import Labelled

    from corpora.links import Links

    F64 = npt.NDArray[np.float64]

MOST = 12_500
OFFSETS = [quarter / 4 for quarter in range(13)]


def main() -> None:
    asked = parser_of(__doc__).parse_args()
    import numpy as np
    from gold import decode_with, default_weights, shipped_weights, view, views
    from gold_sets import GERMAN, TURKISH, WIKIPEDIA

    from features.extractor import FeatureSet
    from features.translation.posteriors import Decoder

    learnt = views(asked.data, MOST)
    seen = [*{one.gold: one for one in learnt}.values()]  # the last of each is of its largest corpus
    further = {"rwth": GERMAN, "en-tr": TURKISH, **WIKIPEDIA}
    seen += [view(asked.data, name, gold, *gold.corpora[-1]) for name, gold in further.items()]
    points, classic = [], []
    for one in seen:
        weights = default_weights(learnt, one.gold) if one in learnt else shipped_weights()
        edges = FeatureSet().extract(one.labelled.bitext, one.statistics)
        found = [decode_with(weights, edges, offset).links for offset in OFFSETS]
        points.append([rates(one.labelled, links) for links in found])
        posteriors = Decoder(one.labelled.bitext, one.statistics.translation).posteriors(0, len(edges))
        classic.append(rates(one.labelled, posteriors.symmetrized_links("grow-diag-final-and")))
        print(one.gold, *in_percent(points[-1][0]), flush=True)
    every = np.array(points)  # (sets, offsets, rates)

    def most_links(sets: F64) -> int:
        """The last offset whose mean F1 is no less than that of the first."""
        f1 = sets.mean(axis=0)[:, 3]
        return int(np.flatnonzero(f1 >= f1[0]).max())

    chosen = [most_links(np.delete(every, held, axis=0)) for held in range(len(every))]
    nested = [every[held, at] for held, at in enumerate(chosen)]
    print("offsets chosen without each set, of which the least is taken:", sorted(OFFSETS[at] for at in chosen))
    rows = [
        [f"`--offset {o:g}`" if o else "default", *in_percent(every[:, at].mean(axis=0))]
        for at, o in enumerate(OFFSETS)
    ]
    rows.append(["the offset chosen on the other sets", *in_percent(np.mean(nested, axis=0))])
    rows.append(["`--decoding grow-diag-final-and`", *in_percent(np.mean(classic, axis=0))])
    header = [f"means of {len(every)} gold sets", "AER", "precision", "recall", "F1"]
    publish("recall", markdown(header, rows), pages=["docs/accuracy.md"], write=asked.write)


def rates(gold: Labelled, found: Links) -> list[float]:
    """AER, precision, recall of sure links, F1 of all."""
    from aligner.evaluation.counts import scores

    result = scores(gold.count(found).sum(axis=0))
    return [float(rate) for rate in (result.aer, result.precision, result.recall, result.f1)]


def in_percent(fractions: Sequence[float] | F64) -> list[str]:
    return [f"{100 * rate:.2f}" for rate in fractions]


if __name__ == "__main__":
    main()
