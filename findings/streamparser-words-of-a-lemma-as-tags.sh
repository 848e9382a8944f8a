#!/usr/bin/env bash
# apertium-streamparser 5.0.2.
# Behaviour: of a lemma of several words of which the first is inflected, as in `^took out/take<vblex><past># out$`, the
# reading has `take` as its base form, and `# out` is the last of its tags. Escapes stay in words: of `^a\/b/a\/b<n>$`
# word and base form have the backslash.
# One expects otherwise, since in Apertium's stream what follows # is a part of the lemma (take out), not a tag, tags are
# what is in angle brackets, and a parser is there to undo escapes: dictionaries are looked up for "take", and counts of
# tags have words among them.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check apertium-streamparser==5.0.2
"$work/env/bin/python" - << 'END'
import sys

from streamparser import parse

seen = []
for text in (r"^took out/take<vblex><past># out$", r"^a\/b/a\/b<n>$"):
    (unit,) = parse(text)
    ((reading,),) = unit.readings
    seen.append((unit.wordform, reading.baseform, reading.tags))
    print(f"{text}: word {unit.wordform!r}, base form {reading.baseform!r}, tags {reading.tags}")
expected = [("took out", "take", ["vblex", "past", "# out"]), (r"a\/b", r"a\/b", ["n"])]
sys.exit(0 if seen == expected else "this has changed")
END
