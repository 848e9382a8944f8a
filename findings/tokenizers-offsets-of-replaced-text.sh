#!/usr/bin/env bash
# tokenizers 0.23.3.
# Behaviour: with the normaliser Replace, the offsets of what stands in place of several characters are those of the last
# one alone: where `` is replaced by ", as models such as ALBERT have it, the token " has the offsets of the second `;
# where ab is replaced by xy, the token xy has those of b. Of one character they are right.
# One expects otherwise, since the new text stands for all that was replaced, and a character that became two (NFKC of a
# ligature) has the offsets of all of it: a span that begins with such a token is cut out one character short.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check tokenizers==0.23.3
"$work/env/bin/python" - << 'END'
import sys

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

tokenizer = Tokenizer(models.WordLevel({"?": 0, '"': 1, "yes": 2, "xy": 3}, unk_token="?"))
tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
seen = []
for old, new, text in (("``", '"', "`` yes"), ("...", '"', "... yes"), ("`", '"', "` yes"), ("ab", "xy", "ab yes")):
    tokenizer.normalizer = normalizers.Replace(old, new)
    found = tokenizer.encode(text)
    (begin, end), *_ = found.offsets
    print(f"{old!r} replaced by {new!r}: {found.tokens}, offsets {found.offsets}, the first of which is {text[begin:end]!r}")
    seen.append((begin, end))
sys.exit(0 if seen == [(1, 2), (2, 3), (0, 1), (1, 2)] else f"this has changed: {seen}")
END
