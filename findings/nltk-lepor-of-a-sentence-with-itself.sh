#!/usr/bin/env bash
# nltk 3.10.4.
# Behaviour: LEPOR of a sentence with itself is less than 1 if two words in a row come twice in it: `sentence_lepor`
# gives 0.67 for `the dog of the man and the dog of the woman`, and 0.79 for `good morning , good morning`. A worse
# translation can score better than the reference itself. Where no two words in a row come again, it is 1.
# One expects otherwise, since LEPOR is a product of precision, recall and penalties for length and for words that
# stand in other places, each of which is 1 for the same sentence, and 1 is the best score: a perfect translation is
# punished as if its words had moved, and systems are compared by how often references repeat themselves.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check nltk==3.10.4
"$work/env/bin/python" - << 'END'
import sys

from nltk.translate.lepor import sentence_lepor

seen = []
for reference, hypothesis in (
    ("the dog and the cat sleep", "the dog and the cat sleep"),
    ("the dog of the man and the dog of the woman", "the dog of the man and the dog of the woman"),
    ("good morning , good morning", "good morning , good morning"),
    ("he sees the cat and he sees the dog .", "he sees the cat and he sees the dog ."),
    ("he sees the cat and he sees the dog .", "he sees the cat and a dog ."),
):
    (score,) = sentence_lepor([reference], hypothesis, tokenizer=str.split)
    seen.append(round(score, 2))
    print(f"{seen[-1]:.2f} for {hypothesis!r}", "with itself" if hypothesis == reference else f"with {reference!r}")
expected = [1.0, 0.67, 0.79, 0.74, 0.75]
sys.exit(0 if seen == expected else f"this has changed: {seen}")
END
