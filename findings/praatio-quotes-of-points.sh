#!/usr/bin/env bash
# praatio 6.2.2, tgt 1.5 (which reads the files, too).
# Behaviour: a label of a point that has quotation marks in it, written as "long_textgrid" and opened again, has each of
# them twice, and four times after the next round. Labels of intervals come back as they were, and so do those of points
# in a "short_textgrid". The first file is right: tgt reads the label from it as it was.
# One expects otherwise, since doubling is how TextGrid writes a quotation mark, a reader undoes it, and this one does
# so everywhere else: who opens a file, moves a point and saves it changes its labels, and searches no longer find them.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check praatio==6.2.2 tgt==1.5 numpy==2.4.6
cd "$work"
"$work/env/bin/python" - << 'END'
import sys

import tgt
from praatio import textgrid

LABEL = 'say "hi"'
seen = {}
for form in ("short_textgrid", "long_textgrid"):
    grid = textgrid.Textgrid()
    grid.addTier(textgrid.IntervalTier("interval", [(0, 1, LABEL)], 0, 1))
    grid.addTier(textgrid.PointTier("point", [(0.5, LABEL)], 0, 1))
    grid.save("first", form, includeBlankSpaces=True)
    by_other = tgt.read_textgrid("first").get_tier_by_name("point")[0].text
    rounds = []
    for name in ("first", "second"):
        grid = textgrid.openTextgrid(name, includeEmptyIntervals=False)
        rounds.append([tier.entries[0].label for tier in grid.tiers])
        grid.save("second", form, includeBlankSpaces=True)
    seen[form] = rounds, by_other
    print(f"{form}: interval and point after each round {rounds}, the point as tgt read it first {by_other!r}")
rounds = [[LABEL, 'say ""hi""'], [LABEL, 'say """"hi""""']]
expected = {"short_textgrid": ([[LABEL] * 2] * 2, LABEL), "long_textgrid": (rounds, LABEL)}
sys.exit(0 if seen == expected else f"this has changed: {seen}")
END
