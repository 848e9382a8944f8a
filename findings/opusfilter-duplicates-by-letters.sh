#!/usr/bin/env bash
# opusfilter 3.3.1.
# Behaviour: with `letter_words_only`, `remove_duplicates` takes different Hindi sentences for duplicates and deletes
# all but the first: vowel signs are marks for Unicode, not letters, so whatever word has one is left out of what is
# compared, and sentences of such words are all equal. With `letters_only`, का, की and के are one word. English is not.
# One expects otherwise, since these options are there to ignore digits and punctuation, a vowel sign is as much a part
# of its word as a vowel of Latin script, and most words of the scripts of India have one: of a corpus in Hindi, or of a
# bitext that is compared by its Hindi side, little is left.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check opusfilter==3.3.1
cd "$work"
"$work/env/bin/python" - << 'END'
import sys
from pathlib import Path

from opusfilter.opusfilter import OpusFilter

TEXTS = {
    "hi": ["मेरी किताब", "ठंडा पानी", "बड़ी गाड़ी"],  # my book, cold water, big car
    "hi, one word": ["का", "की", "के"],
    "en": ["my book", "cold water", "big car"],
}
seen = {}
for name, lines in TEXTS.items():
    Path("in.txt").write_text("".join(f"{line}\n" for line in lines))
    for option in ("letter_words_only", "letters_only"):
        parameters = {"inputs": ["in.txt"], "outputs": ["out.txt"], option: True}
        step = {"type": "remove_duplicates", "parameters": parameters}
        OpusFilter({"common": {"output_directory": "."}, "steps": [step]}).execute_steps(overwrite=True)
        seen[name, option] = Path("out.txt").read_text().splitlines()
        print(f"{name}, {option}: {lines} -> {seen[name, option]}")
one = [seen["hi", "letter_words_only"], seen["hi, one word", "letter_words_only"], seen["hi, one word", "letters_only"]]
kept = [seen["en", "letter_words_only"], seen["en", "letters_only"], seen["hi", "letters_only"]]
expected = one == [["मेरी किताब"], ["का"], ["का"]] and kept == [TEXTS["en"]] * 2 + [TEXTS["hi"]]
sys.exit(0 if expected else f"this has changed: {seen}")
END
