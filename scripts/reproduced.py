"""Compare what ``scripts/reproduce.sh`` measured with the first table of docs/accuracy.md, or write it there.

    python scripts/reproduced.py FILE [--write]

FILE has a line for each figure: text, system, labelled pairs, AER, and the ends of its 95 % interval, between tabs.
Ends with 1 if a figure of the table is not in the interval measured. Interval and figure have one decimal.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

from tables import markdown, parser_of, publish, results, with_interval

SYSTEMS = {
    "unsupervised": "`aligner align --unsupervised`", "default": "`aligner align`", "learnt": "`aligner train --gold`",
}  # fmt: skip


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    found: defaultdict[str, dict[str, tuple[float, float, float]]] = defaultdict(dict)
    labels: dict[str, str] = {}
    published = []
    for line in options.file.read_text("utf-8").splitlines():
        name, system, number, *figures = line.split("\t")
        aer, low, high = map(float, figures)
        if system == "published":
            published.append(f"{name} {with_interval(aer, low, high)}")
            continue
        found[name][system] = aer, low, high
        if system == "learnt":
            labels[name] = number
    rows = [
        [name, *(with_interval(*those[system]) if system in those else "" for system in SYSTEMS), labels.get(name, "")]
        for name, those in found.items()
    ]
    table = markdown(["text", *SYSTEMS.values(), "labelled pairs"], rows)
    table += f"\n\nLinks that others have published for these sentences of the Hansards: {'; '.join(published)}."
    if options.write:
        sys.argv = ["reproduce.sh"]  # what makes the table
        publish("accuracy", table, write=True)
        return
    print(f"\n{table}\n")
    shown, wrong = {row["text"]: row for row in results("accuracy")}, 0
    for name, those in found.items():
        for system, (_, low, high) in those.items():
            head = SYSTEMS[system].replace("`", "")
            number = re.match(r"[\d.]+", shown.get(name, {}).get(head, ""))
            agrees = number is not None and low - 0.05 <= float(number[0]) <= high + 0.05
            wrong += not agrees
            print(f"{'equal within the interval' if agrees else 'NOT AS IN THE TABLE'}: {name}, {head}")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
