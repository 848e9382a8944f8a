#!/usr/bin/env bash
# sil-machine 1.9.2.
# Behaviour: `extract_scripture_corpus` writes `<range>` for a verse that is part of the one before, but
# `TextFileTextCorpus`, which reads such files of one verse a line, takes `<range>` for the words of the verse: the row is
# not marked as within a range, and `align_rows` pairs it with the other side's verse as its translation.
# One expects otherwise, since both functions are of one library, its rows have marks for ranges (`is_source_in_range`),
# and `align_rows` joins what belongs to a marked range: a word aligner that is trained on these rows learns that
# `<range>` translates whatever stands in such verses.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check sil-machine==1.9.2
mkdir "$work/book"
printf '%s\n' '\id MAT' '\c 1' '\p' '\v 1 one' '\v 2-3 two and three' '\v 4 four' > "$work/book/41MAT.SFM"
cd "$work"
"$work/env/bin/python" - << 'END'
import sys
from itertools import dropwhile, islice
from pathlib import Path

from machine.corpora import TextFileTextCorpus, UsfmFileTextCorpus, extract_scripture_corpus

verses = dropwhile(lambda verse: str(verse[1]) != "MAT 1:1", extract_scripture_corpus(UsfmFileTextCorpus("book")))
written = [text for text, *_ in islice(verses, 4)]
print("written:", written)
Path("v.en").write_text("".join(f"{text}\n" for text in written))
Path("v.fr").write_text("un\ndeux\ntrois\nquatre\n")
rows = TextFileTextCorpus("v.en").align_rows(TextFileTextCorpus("v.fr"))
read = [(row.source_text, row.target_text, row.is_source_in_range) for row in rows]
for row in read:
    print("read back as (source, target, whether in a range):", row)
expected = written == ["one", "two and three", "<range>", "four"] and ("<range>", "trois", False) in read
sys.exit(0 if expected else "this has changed")
END
