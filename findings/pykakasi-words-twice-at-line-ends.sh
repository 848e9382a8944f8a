#!/usr/bin/env bash
# pykakasi 2.3.0 (a library under the GPL, here run only).
# Behaviour: at a line feed or a tab, `convert` gives the piece before it a second time: of 東京<LF>大阪 (Tokyo, Osaka) the
# pieces are 東京, <LF>, 東京 and 大阪, and their reading is `toukyoutoukyouoosaka`; so with ㈱ and other signs that it has
# no reading for. Of 𠮷野 (a name) the first character is left out. At a blank, also one of full width, all is right.
# One expects otherwise, since `orig` of the pieces is the text that was given, the parts of which are to be put beside
# their readings, and line ends are in every text of two lines, as in subtitles: words are there twice, in the original
# as well as in the reading, lengths and positions do not fit the text, and nothing is warned of.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check pykakasi==2.3.0
"$work/env/bin/python" - << 'END'
import sys

import pykakasi

kakasi = pykakasi.kakasi()
seen = []
for text in ("東京\n大阪", "東京\t大阪", "東京㈱大阪", "東京 大阪", "東京　大阪", "本を\n読む", "𠮷野"):
    pieces = kakasi.convert(text)
    seen.append(([piece["orig"] for piece in pieces], "".join(piece["hepburn"] for piece in pieces)))
    print(f"{text!r}: {seen[-1][0]}, read as {seen[-1][1]!r}")
twice = [(["東京", sign, "東京", "大阪"], "toukyoutoukyouoosaka") for sign in "\n\t㈱"]
right = [(["東京", sign, "大阪"], "toukyou oosaka") for sign in " \u3000"]
expected = [*twice, *right, (["本", "を", "\n", "を", "読む"], "honwowoyomu"), (["野"], "no")]
sys.exit(0 if seen == expected else f"this has changed: {seen}")
END
