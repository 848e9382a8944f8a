"""Learn the weights of the default model from every gold set.

    python scripts/train_default.py [--weights aligner/model/default_weights.json]

Each gold set is seen with translation models of several sizes of corpus, its own text among it as in use, or alone. Its
weights are what the logistic loss learns from it alone. The default weights are the mean over gold sets, in which the
unsupervised decoder counts as one more set. Probabilities are calibrated on the answers to the sets left out. Prints
SURE and SLOPE of `aligner.model.operating_point`, too. What they are worth: `measure.py left-out`. Some ten minutes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from gold import F64, OFFSET, REWARDS, STRENGTH, View, default_weights, views
from gold_sets import FURTHER, WIKIPEDIA
from tables import parser_of

from aligner._version import __version__
from aligner.model.calibration import Calibration
from aligner.model.decoding import Alignments, best_alignments
from aligner.model.operating_point import best_threshold, offset_for
from corpora.links import Links


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--weights", type=Path, help="write the weights to this file")
    options = parser.parse_args()

    seen = views(options.data, 100_000)
    judged = [Judged.of(one, default_weights(seen, one.gold)) for one in seen]
    weights = default_weights(seen, None)
    judged += [Judged.of(one, weights) for one in views(options.data, 100_000, [*FURTHER, *WIKIPEDIA])]
    choose_offset(judged)
    if options.weights is not None:
        of_sets = judged[: len(seen)]
        calibration = Calibration.fit(Links.join(one.links for one in of_sets))
        write(options.weights, seen[0].edges.names, weights, calibration, [one.row for one in of_sets])


@dataclass(frozen=True)
class Judged:
    """A gold set aligned by default weights that were learnt without it.

    best: log-odds of the threshold of greatest expected F1.  errors: (len(OFFSETS),) AER by offset.
    row: of the record.  links: with the offset of the text, and scores without it.
    """

    gold: str
    best: float
    errors: F64
    row: Mapping[str, object]
    links: Links

    @classmethod
    def of(cls, seen: View, weights: F64) -> Judged:
        edges, bare = seen.candidates, seen.labelled.aer(seen.bare)
        scores = (edges.features @ weights).astype(np.float64)

        def aligned(offset: float) -> Alignments:
            return best_alignments(scores + offset, edges.lists, REWARDS)

        errors = np.array([seen.labelled.aer(aligned(offset).links) for offset in OFFSETS])
        best = best_threshold(scores)
        found = aligned(offset_for(best))
        ours = seen.labelled.aer(found.links)
        print(
            f"{seen.gold:14} {seen.pairs:8,} {bare:8.2f} {errors[0]:8.2f} {ours:8.2f} {errors.min():8.2f}"
            f" at {OFFSETS[errors.argmin()]:.1f}, best threshold {best:.2f}",
            flush=True,
        )
        row = {
            "gold": seen.gold, "pairs": seen.pairs, "unsupervised": round(bare, 2),
            "default": round(ours, 2),
        }  # fmt: skip
        links = replace(found.links, scores=found.links.known_scores - offset_for(best))
        return cls(seen.gold, best, errors, row, seen.labelled.calibrating(links))


OFFSETS = [0.1 * step for step in range(21)]


def choose_offset(judged: Sequence[Judged]) -> None:
    """Print how far to move the default weights, by the threshold: with each set left out, and of all."""
    rules = [(0.05 * sure, 0.25 * slope) for sure in range(2, 13) for slope in range(2, 13)]
    sets = sorted({one.gold for one in judged})
    table = np.zeros((len(rules), len(sets)))
    for row, (sure, slope) in enumerate(rules):
        moved = [(one.gold, np.interp(slope * max(0.0, one.best - sure), OFFSETS, one.errors)) for one in judged]
        table[row] = [np.mean([error for gold, error in moved if gold == name]) for name in sets]
    chosen = [np.delete(table, column, axis=1).mean(axis=1).argmin() for column in range(len(sets))]
    held_out = [table[row, column] for column, row in enumerate(chosen)]
    none = np.mean([np.mean([one.errors[0] for one in judged if one.gold == name]) for name in sets])
    each = ", ".join(f"{sure:.2f} {slope:.2f}" for sure, slope in sorted({rules[row] for row in chosen}))
    best = rules[table.mean(axis=1).argmin()]
    print(
        f"no offset {none:.2f}; SURE and SLOPE chosen without each set ({each}) {np.mean(held_out):.2f}; of all {best}"
    )


def write(
    path: Path, names: Sequence[str], weights: F64, calibration: Calibration, rows: Sequence[Mapping[str, object]]
) -> None:
    content = {
        "version": __version__,
        "weights": {name: round(float(w), 4) for name, w in zip(names, weights, strict=True)},
        "calibration": {name: [round(x, 4) for x in values] for name, values in asdict(calibration).items()},
        "record": {
            "method": "mean over gold sets of what the logistic loss learns, and of the unsupervised decoder",
            "offset": OFFSET,
            "strength": STRENGTH,
            "left_out": rows,
        },
    }
    path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
