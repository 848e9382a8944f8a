#!/usr/bin/env bash
# nltk 3.10.4, SnowballStemmer("arabic").
# Behaviour: the stem of a word depends on the words that the same stemmer has stemmed before. A new stemmer makes
# كتب of كتبوا (they wrote); after أثينا (Athens) it makes كتبو of it, and does so from then on.
# One expects otherwise, since a stemmer maps a word to a stem: `stem` takes the word alone and is called as a function
# everywhere, results are cached by word, and the stemmers of the other languages do not depend on the words before.
# Vocabularies that were stemmed in another order, or in parallel, do not fit one another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check nltk==3.10.4
"$work/env/bin/python" - << 'END'
import sys

from nltk.stem.snowball import SnowballStemmer

WROTE, ATHENS = "كتبوا", "أثينا"
alone = SnowballStemmer("arabic").stem(WROTE)
one = SnowballStemmer("arabic")
before = one.stem(WROTE)
one.stem(ATHENS)
after = [one.stem(WROTE), one.stem(WROTE)]
print(f"by a new stemmer {alone}, at first {before}, after {ATHENS} {' and '.join(after)}")
others = [
    language
    for language, word, other in (
        ("english", "houses", "Athens"),
        ("french", "maisons", "Athènes"),
        ("russian", "дома", "Афины"),
        ("hungarian", "házak", "Athén"),
    )
    for stemmer in [SnowballStemmer(language)]
    if stemmer.stem(word) != (stemmer.stem(other), stemmer.stem(word))[1]
]
print(f"other languages with this: {others}")
seen = (alone, before, after, others)
sys.exit(0 if seen == ("كتب", "كتب", ["كتبو", "كتبو"], []) else f"this has changed: {seen}")
END
