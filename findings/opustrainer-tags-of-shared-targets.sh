#!/usr/bin/env bash
# opustrainer 0.5.
# Behaviour: the modifier Tags, which hints the translation of words, also tags words whose target word translates
# another source word. With the links 0-0 1-0 it tags neither word; with 0-0 1-1 2-0 it tags s1, and then s2 with t0,
# since links before the word that was tagged are no longer looked at.
# One expects otherwise, since its manual says that only words with a 1-to-1 mapping are considered, and the same line
# without the word before is left alone: models learn to translate a word twice that is there once.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check opustrainer==0.5
"$work/env/bin/python" - << 'END'
import sys

from opustrainer.modifiers.placeholders import PlaceholderTagModifier

modifier = PlaceholderTagModifier(1.0, template="< {src} = {trg} >")
seen = []
for line in ("s0 s1\tt0\t0-0 1-0", "s0 s1 s2\tt0 t1\t0-0 1-1 2-0", "s0 s1 s2\tt1 t0\t0-1 1-0 2-1"):
    (tagged,) = modifier([line])
    seen.append(tagged.split("\t")[0])
    print(line.split("\t"), "->", seen[-1])
expected = ["s0 s1", "s0 < s1 = t1 > < s2 = t0 >", "s0 < s1 = t1 > < s2 = t0 >"]
sys.exit(0 if seen == expected else f"this has changed: {seen}")
END
