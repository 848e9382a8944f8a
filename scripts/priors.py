"""The table of priors in docs/accuracy.md: a small text of the Hansards alone, after priors, and by a model.

    python scripts/priors.py --write --priors "eflomal=FILE" --priors "fast_align -p=FILE"

The pairs of priors are the first of the corpus; those that are aligned come next, with hansards/gold-train after them.
Further files of priors are of other programs, from the text that --texts PREFIX writes.
"""

from __future__ import annotations

import gzip
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

from tables import markdown, parser_of, publish

PAIRS, OTHERS, REPEATS = 50_000, 1_000, 3


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--priors", action="append", default=[], metavar="NAME=FILE", help="of another program")
    parser.add_argument("--texts", metavar="PREFIX", help="only write the text of the priors")
    asked = parser.parse_args()
    import aligner
    from corpora.readers import open_corpus
    from features.translation.priors import Priors, format_priors, format_table

    hansards = asked.data / "hansards"
    sides: list[list[str]] = []
    for side in ("en", "fr"):
        with gzip.open(hansards / f"train.{side}.gz", "rt", encoding="utf-8") as lines:
            sides.append(list(islice(lines, PAIRS + OTHERS)))
    folder = Path(tempfile.mkdtemp()) if asked.texts is None else Path()
    files = [str(folder / f"{asked.texts or 'text'}.{side}") for side in ("en", "fr")]
    for file, lines in zip(files, sides, strict=True):
        Path(file).write_text("".join(lines[:PAIRS]), "utf-8")
    if asked.texts is not None:
        return
    gold = [
        (source.decode().split(), target.decode().split())
        for _, source, target in open_corpus(hansards / "gold-train", source="en").texts()
    ]
    few = [(source.split(), target.split()) for source, target in zip(*(side[PAIRS:] for side in sides), strict=True)]
    few += gold

    def measure(align: Callable[..., Any], **settings: Any) -> tuple[float, float]:
        seconds = []
        for _ in range(REPEATS + 1):  # kernels are compiled in the first
            began = time.process_time()
            found = [*align(few, **settings)]
            seconds.append(time.process_time() - began)
        return 100 * aligner.evaluate(hansards / "gold-train.wa", found[-len(gold) :]).aer, median(seconds[1:])

    began = time.process_time()
    model = aligner.train(files).model
    trained = time.process_time() - began
    print(f"model of {PAIRS:,} pairs: {trained:.1f} CPU seconds")
    ours, table = folder / "priors", folder / "table"
    counted = Priors.from_model(model.statistics.translation)
    ours.write_text("".join(format_priors(counted)), "utf-8")
    table.write_text("".join(format_table(counted.links)), "utf-8")
    rows = []
    named = [("`aligner priors`", ours), ("`aligner priors --to fast-align`", table)]
    named += [(name, Path(file)) for name, _, file in (one.partition("=") for one in asked.priors)]
    for name, file in [("nothing", None), *named]:
        priors = None if file is None else str(file)
        default = measure(aligner.align, settings=aligner.AlignSettings(priors=priors))
        bare = measure(aligner.align, settings=aligner.AlignSettings(priors=priors, unsupervised=0.5))
        rows.append([name, *(f"{value:.2f}" for value in (*default, *bare))])
        print(rows[-1])
    rows.append(["the model itself, `-m`", *(f"{value:.2f}" for value in measure(model.align_many)), "", ""])
    header = ["begins with", "AER", "CPU s", "AER, `--unsupervised`", "CPU s"]
    publish("priors", markdown(header, rows), pages=["docs/accuracy.md"], write=asked.write)


if __name__ == "__main__":
    main()
