#!/usr/bin/env bash
# pyonmttok 1.38.1.
# Behaviour: the modes conservative, aggressive and char delete tabs, line ends and other control characters as if
# nothing had been there: `one<TAB>two three` has the tokens `onetwo` and `three`. A no-break space, U+2003, U+2028 and
# U+3000 separate words. With mode space `one<TAB>two` is one token with the tab in it.
# One expects otherwise, since a tab is white space for Unicode and for Python, it is the commonest separator after the
# blank, and rarer spaces separate: two words become one that no vocabulary has, and nothing is warned of.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check pyonmttok==1.38.1
"$work/env/bin/python" - << 'END'
import sys

import pyonmttok

SPACES = {"tab": "\t", "line feed": "\n", "no-break space": "\u00a0", "ideographic space": "\u3000"}
seen = []
for mode in ("conservative", "aggressive", "space"):
    tokenizer = pyonmttok.Tokenizer(mode, joiner_annotate=True)
    for name, space in SPACES.items():
        tokens, _ = tokenizer.tokenize(f"one{space}two three")
        print(f"{mode}, {name}: {tokens}")
        seen.append(tokens)
apart = ["one", "two", "three"]
joined = [["onetwo", "three"]] * 2 + [apart] * 2
expected = [*joined, *joined, ["one\ttwo", "three"], ["one\ntwo", "three"], apart, apart]
sys.exit(0 if seen == expected else "this has changed")
END
