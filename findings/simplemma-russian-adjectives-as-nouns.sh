#!/usr/bin/env bash
# simplemma 2.0.0.
# Behaviour: for some Russian adjectives in their dictionary form, `lemmatize` returns a noun that often follows them:
# аварийный (of an emergency) becomes выход (exit), австралийский (Australian) футбол (football). Other forms of the same
# adjective have the right lemma, so one word has two.
# One expects otherwise, since the word is known to the library (`is_known`), it is its own lemma, and lemmas are there
# to bring the forms of a word together: texts that speak of Australia count as texts about football.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check simplemma==2.0.0
"$work/env/bin/python" - << 'END'
import sys

from simplemma import is_known, lemmatize

WORDS = {"аварийный": "аварийного", "австралийский": "австралийского", "абстинентный": "абстинентного"}
seen = []
for word, other in WORDS.items():
    seen.append((lemmatize(word, lang="ru"), lemmatize(other, lang="ru"), is_known(word, lang="ru")))
    print(f"{word} -> {seen[-1][0]}, its genitive {other} -> {seen[-1][1]}, known: {seen[-1][2]}")
expected = [("выход", "аварийный", True), ("футбол", "австралийский", True), ("синдром", "абстинентный", True)]
sys.exit(0 if seen == expected else f"this has changed: {seen}")
END
