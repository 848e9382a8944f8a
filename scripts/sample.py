"""The table of samples in docs/pipelines.md: what counting a part of the Hansards costs, on gold-dev.

    python scripts/sample.py --write

The text of gold-dev stands among the whole; a sample has hardly any of it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from speed import ALIGNER, execute, write_text
from tables import markdown, parser_of, publish

SAMPLES = 10_000, 100_000


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--pairs", type=int, default=674_324, help="of the Hansards")
    asked = parser.parse_args()
    import aligner

    gold = asked.data / "hansards" / "gold-dev"
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text, model, links = write_text(asked.data, asked.pairs, folder), folder / "model", folder / "links"
        for pairs in (*(sample for sample in SAMPLES if sample < text.pairs), text.pairs):
            command = *ALIGNER, "train", "-q", "--force", text.source, text.target, "-m", model, "--sample", pairs
            run = execute(command)
            execute((*ALIGNER, "align", "-q", f"{gold}.en", f"{gold}.fr", "-m", model), links)
            found = aligner.evaluate(f"{gold}.wa", links)
            size = model.stat().st_size / (1 << 20)
            rows.append([f"{pairs:,}", f"{100 * found.aer:.2f}", f"{run.cpu:.0f}", f"{run.peak:.2f}", f"{size:.0f}"])
            print(*rows[-1], flush=True, file=sys.stderr)
    header = [f"pairs counted, of {text.pairs:,}", "AER", "CPU s of `train`", "GiB", "MiB of the model"]
    publish("sample", markdown(header, rows, words=0), pages=["docs/pipelines.md"], write=asked.write)


if __name__ == "__main__":
    main()
