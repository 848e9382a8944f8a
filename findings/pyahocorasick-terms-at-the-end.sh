#!/usr/bin/env bash
# pyahocorasick 2.3.1.
# Behaviour: `iter_long` does not find a term at the end of a text if the words before it begin a longer term that the
# text does not finish: with the terms `house` and `the house rules`, nothing is found in `in the house`. One character
# more, as in `in the house.`, and `house` is found; `iter` finds it in both.
# One expects otherwise, since its documentation says that the longest words are matched, and `house` is the longest
# here: no other term is in the text. Segments without a full stop, such as titles and labels, lose their last term.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check pyahocorasick==2.3.1
"$work/env/bin/python" - << 'END'
import sys

import ahocorasick

terms = ahocorasick.Automaton()
for term in ("house", "the house rules"):
    terms.add_word(term, term)
terms.make_automaton()
seen = []
for text in ("in the house", "in the house.", "in a house", "in the house rules"):
    found = [term for _, term in terms.iter(text)], [term for _, term in terms.iter_long(text)]
    print(f"{text!r}: by iter {found[0]}, by iter_long {found[1]}")
    seen.append(found)
house, rules = ["house"], ["the house rules"]
expected = [(house, []), (house, house), (house, house), (house + rules, rules)]
sys.exit(0 if seen == expected else f"this has changed: {seen}")
END
