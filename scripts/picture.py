"""The picture of an alignment in README: a pair of the sample corpus, linked by a model that learnt from the sample.

    python scripts/picture.py [--pair 33] [--write]

Sure links of gold are squares, possible ones rings; dots are the model's links, the larger the surer. A minute or two.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from tables import ROOT, parser_of

if TYPE_CHECKING:
    from aligner import Alignment
    from corpora.alignment import PairLinks

CELL, LEFT, TOP, RIGHT = 26, 80, 76, 40


def draw(source: Sequence[str], target: Sequence[str], found: Alignment, gold: PairLinks) -> str:
    """An SVG: source words down the left side, target words along the top."""
    width, height = LEFT + CELL * len(target) + RIGHT, TOP + CELL * len(source) + 8
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="14">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for j, word in enumerate(source):
        y = TOP + CELL * j
        lines.append(f'<text x="{LEFT - 8}" y="{y + 18}" text-anchor="end">{escape(word)}</text>')
    for k, word in enumerate(target):
        x = LEFT + CELL * k + CELL // 2 + 4
        lines.append(f'<text transform="translate({x},{TOP - 8}) rotate(-55)">{escape(word)}</text>')
    scores = dict(zip(found.links, found.scores, strict=True))
    for j in range(len(source)):
        for k in range(len(target)):
            x, y = LEFT + CELL * k, TOP + CELL * j
            fill = "#9cc3e6" if (j, k) in gold.sure else "white"
            lines.append(f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{fill}" stroke="#ccc"/>')
            if (j, k) in gold.possible and (j, k) not in gold.sure:
                lines.append(
                    f'<rect x="{x + 3}" y="{y + 3}" width="{CELL - 6}" height="{CELL - 6}" fill="none" '
                    'stroke="#9cc3e6" stroke-width="3"/>'
                )
            if (j, k) in scores:
                radius = 3 + 5 * scores[j, k]
                lines.append(f'<circle cx="{x + CELL / 2}" cy="{y + CELL / 2}" r="{radius:.1f}" fill="#1b3a57"/>')
    return "\n".join([*lines, "</svg>", ""])


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--pair", type=int, default=33, help="of corpora/sample/test, from 1")
    options = parser.parse_args()

    import aligner
    from corpora.readers import open_corpus

    sample = ROOT / "corpora" / "sample"
    model = aligner.train(str(sample / "train")).model
    test = open_corpus(sample / "test")
    pairs = [(source.decode().split(), target.decode().split()) for _, source, target in test.texts()]
    source, target = pairs[options.pair - 1]
    gold = list(test.links())[options.pair - 1]
    found = model.align(source, target)
    print(" ".join(source), " ".join(target), found, sep="\n")
    if options.write:
        (ROOT / "docs" / "alignment.svg").write_text(draw(source, target, found, gold), "utf-8")


if __name__ == "__main__":
    main()
