#!/usr/bin/env bash
# translate-toolkit 3.20.4.
# Behaviour: whether a unit of XLIFF 1.2 is translated is read from `approved` alone: a target with state="final" or
# "signed-off" is fuzzy and not translated, exactly as one with state="needs-translation", and `xliff2po` marks both
# fuzzy; with approved="yes" a target with state="needs-translation" is a translation.
# One expects otherwise, since the states of XLIFF 1.2 are there to say this of a target, `approved` is optional and
# other tools write the state alone; the library writes states itself, when units are marked. What takes only translated
# units of such a file gets none of them.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check translate-toolkit==3.20.4
cat > "$work/a.xlf" << 'END'
<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file original="a.txt" source-language="en" target-language="de" datatype="plaintext"><body>
<trans-unit id="1"><source>one</source><target state="final">eins</target></trans-unit>
<trans-unit id="2"><source>two</source><target state="signed-off">zwei</target></trans-unit>
<trans-unit id="3"><source>three</source><target state="needs-translation">three</target></trans-unit>
<trans-unit id="4" approved="yes"><source>four</source><target state="needs-translation">four</target></trans-unit>
</body></file></xliff>
END
cd "$work"
"$work/env/bin/python" - << 'END'
import subprocess
import sys
from pathlib import Path

from translate.storage.xliff import xlifffile

subprocess.run([Path(sys.executable).with_name("xliff2po"), "--progress=none", "a.xlf", "a.po"], check=True)
entries = {part.split('msgid "')[1].split('"')[0]: "#, fuzzy" in part for part in Path("a.po").read_text().split("\n\n")}
found = []
for unit in xlifffile.parsefile("a.xlf").units:
    found.append((unit.source, unit.istranslated(), entries[unit.source]))
    print("unit, translated, fuzzy after xliff2po:", found[-1])
fuzzy = [(word, False, True) for word in ("one", "two", "three")]
sys.exit(0 if found == [*fuzzy, ("four", True, False)] else "this has changed")
END
