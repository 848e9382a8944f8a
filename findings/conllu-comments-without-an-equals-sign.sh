#!/usr/bin/env bash
# conllu 6.0.0.
# Behaviour: of a sentence's comments, `parse` keeps those of the form `# key = value`, `# newdoc` and `# newpar`;
# `serialize` writes the sentence without the others. A key with an empty value is lost, too, and of two comments with
# one key the first.
# One expects otherwise, since CoNLL-U allows any line that begins with # as a comment of its sentence, all other columns
# come back as they were, and nothing is warned of: whoever opens a treebank and writes it again, changing a tag, deletes
# the remarks of its annotators. pyconll keeps them.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check conllu==6.0.0 pyconll==3.3.1
"$work/env/bin/python" - << 'END'
import sys

import conllu
import pyconll

COMMENTS = ["# newpar", "# sent_id = 1", "# to do: is this a verb?", "# text_en =", "# note = one", "# note = two"]
SENTENCE = "\n".join([*COMMENTS, "1\tRain\train\tNOUN\t_\t_\t0\troot\t_\t_", "", ""])


def comments(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("#")]


(sentence,) = conllu.parse(SENTENCE)
written = comments(sentence.serialize())
print("written again by conllu:", written)
kept = comments(pyconll.load_from_string(SENTENCE).conll())
print("written again by pyconll:", kept)
expected = ["# newpar", "# sent_id = 1", "# note = two"]
sys.exit(0 if written == expected and COMMENTS[2] in kept else "this has changed")
END
