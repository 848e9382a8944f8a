#!/usr/bin/env bash
# translate-toolkit 3.20.4.
# Behaviour: `tmxfile(file, "en", "de")` finds the source text of a unit in any variant of the language, `en-US` as well
# as `en`, but the target text in the very code alone: of a unit in en-US and de-AT it returns the source and the target
# None, as if nobody had translated it, where `en-US` and `de` give both.
# One expects otherwise, since a region narrows a language on either side alike, and memories are written with regions
# on both: what reads such a memory for `en` and `de` gets sentences without their translations, and no warning.
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
<header creationtool="hand" creationtoolversion="1" segtype="sentence" o-tmf="none" adminlang="en" srclang="{0}" datatype="plaintext"/>
<body><tu><tuv xml:lang="{0}"><seg>four</seg></tuv><tuv xml:lang="{1}"><seg>vier</seg></tuv></tu></body>
</tmx>"""
found = {}
for languages in (("en", "de"), ("en-US", "de"), ("en", "de-AT"), ("en-US", "de-AT")):
    (unit,) = tmxfile(BytesIO(MEMORY.format(*languages).encode()), "en", "de").units
    found[languages] = unit.source, unit.target
    print("a unit in", *languages, "read as en, de:", found[languages])
whole, without = ("four", "vier"), ("four", None)
sys.exit(0 if list(found.values()) == [whole, whole, without, without] else "this has changed")
END
