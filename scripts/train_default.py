"""Learn the weights of the default model from every gold set.

    python scripts/train_default.py [--weights aligner/model/default_weights.json]

Each gold set is seen with translation models of several sizes of corpus, its own text among it as in use. Its weights
are what the default loss learns from it alone. The default weights are the plain mean over gold sets, where the
unsupervised decoder counts as one more set. Probabilities are calibrated on the answers to the sets left out. What they
are worth: `accuracy.py left-out`. Some ten minutes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tables import parser_of

if TYPE_CHECKING:
    from gold import F64

    from aligner.model.calibration import Calibration


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--weights", type=Path, help="write the weights to this file")
    options = parser.parse_args()

    from gold import aer, decode_with, default_weights, views

    from aligner.model.calibration import Calibration, JudgedLinks

    seen = views(options.data, 100_000)
    rows, judged = [], []
    for one in seen:
        found = decode_with(default_weights(seen, one.gold), one.edges)
        judged.append(JudgedLinks.of(found, one.labelled.links))
        ours = aer(one.labelled.links, found.to_links())
        print(f"{one.gold:18} {one.pairs:8,} {one.unsupervised:8.2f} {ours:8.2f}", flush=True)
        figures = {"unsupervised": round(one.unsupervised, 2), "default": round(ours, 2)}
        rows.append({"gold": one.gold, "pairs": one.pairs, **figures})
    if options.weights is not None:
        calibration = Calibration.fit(JudgedLinks.joined(judged))
        write(options.weights, seen[0].edges.names, default_weights(seen, None), calibration, rows)


def write(
    path: Path, names: Sequence[str], weights: F64, calibration: Calibration, rows: Sequence[Mapping[str, object]]
) -> None:
    from gold import OFFSET, STRENGTH

    from aligner._version import __version__

    content = {
        "version": __version__,
        "weights": {name: round(float(w), 4) for name, w in zip(names, weights, strict=True)},
        "calibration": {name: [round(x, 4) for x in values] for name, values in asdict(calibration).items()},
        "record": {
            "method": "mean over gold sets of what the default loss learns, and of the unsupervised decoder",
            "offset": OFFSET,
            "strength": STRENGTH,
            "left_out": rows,
        },
    }
    path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
