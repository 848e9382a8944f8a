#!/usr/bin/env bash
# translate-toolkit 3.20.4.
# Behaviour: the text of a unit of TMX has in it what stands in its inline codes: <bpt>, <ept>, <ph> and <it> with the
# tags of the document, as in `<bpt i="1">&lt;b&gt;</bpt>red<ept i="1">&lt;/b&gt;</ept>`, which is read as `<b>red</b>`,
# and a picture as the letters of its element. Nothing tells such letters from those of the sentence.
# One expects otherwise, since TMX says that a code holds native markup, not text, and its levels are told apart by just
# that: a memory of level 1 is one of level 2 without its codes. Who counts words, or aligns them, gets those of tags.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check translate-toolkit==3.20.4
"$work/env/bin/python" - << 'END'
import sys
from io import BytesIO

from translate.storage.tmx import tmxfile

MEMORY = """<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4">
<header creationtool="hand" creationtoolversion="1" segtype="sentence" o-tmf="none" adminlang="en" srclang="en" datatype="html"/>
<body><tu><tuv xml:lang="en"><seg>a {} house</seg></tuv><tuv xml:lang="de"><seg>ein {} Haus</seg></tuv></tu></body>
</tmx>"""
CODES = {
    "a pair of codes": '<bpt i="1" x="1">&lt;b&gt;</bpt>{}<ept i="1">&lt;/b&gt;</ept>',
    "a picture": '{} <ph x="1">&lt;img src="key.png"&gt;</ph>',
    "a highlight": '<hi type="bold">{}</hi>',
}
found = []
for name, code in CODES.items():
    text = MEMORY.format(code.format("red"), code.format("rotes"))
    (unit,) = tmxfile(BytesIO(text.encode()), "en", "de").units
    found.append((unit.source, unit.target))
    print(f"{name}: {unit.source!r} {unit.target!r}")
picture = '<img src="key.png">'
expected = [
    ("a <b>red</b> house", "ein <b>rotes</b> Haus"),
    (f"a red {picture} house", f"ein rotes {picture} Haus"),
    ("a red house", "ein rotes Haus"),
]
sys.exit(0 if found == expected else "this has changed")
END
