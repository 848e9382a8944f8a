#!/usr/bin/env bash
# pystardict 0.9 (a library under the GPL, here run only).
# Behaviour: headwords of a dictionary's .syn file are not found: `"colour" in dictionary` is False, and
# `dictionary["colour"]` is an empty text, though the file is opened and stands as `dictionary.syn`. Once it was asked
# for, `"colour" in dictionary` is True, and the word is among the keys.
# One expects otherwise, since StarDict's .syn has headwords like the others, for spellings and inflected forms, which
# other programs look up; a mapping raises KeyError for what it does not have, and reading does not change it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check pystardict==0.9
cd "$work"
"$work/env/bin/python" -W ignore - << 'END'
import struct
import sys
from pathlib import Path

from pystardict import Dictionary

ENTRIES = {"color": "Farbe", "house": "Haus"}
index, texts = b"", b""
for word, text in ENTRIES.items():
    index += word.encode() + b"\0" + struct.pack(">II", len(texts), len(text))
    texts += text.encode()
Path("d.idx").write_bytes(index)
Path("d.dict").write_bytes(texts)
Path("d.syn").write_bytes(b"colour\0" + struct.pack(">I", 0))
facts = f"wordcount=2\nsynwordcount=1\nidxfilesize={len(index)}\nbookname=d\nsametypesequence=m\n"
Path("d.ifo").write_text(f"StarDict's dict ifo file\nversion=2.4.2\n{facts}")
dictionary = Dictionary("d")
seen = ["color" in dictionary, dictionary["color"]]
seen += ["colour" in dictionary, dictionary["colour"], "colour" in dictionary, "colour" in [*dictionary.keys()]]
print("color is there, and means:", seen[:2])
print("colour is there, means, is there afterwards, and is a key:", seen[2:])
sys.exit(0 if seen == [True, "Farbe", False, "", True, True] else f"this has changed: {seen}")
END
