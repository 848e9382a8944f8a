#!/usr/bin/env bash
# sentencepiece 0.2.3.
# Behaviour: `encode(text, return_type="offset_mapping")` counts characters, `encode(text, return_type="proto")` counts
# bytes: the first word of `été house` is at (0, 3) in the one and at (0, 5) in the other. In English text they agree.
# One expects otherwise, since both are offsets of one call into the same Python string, whose slices are in characters,
# and nothing in names or values tells them apart: text[begin:end] is right in all tests in English, and wrong from the
# first accent on in others.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check sentencepiece==0.2.3 protobuf
"$work/env/bin/python" - << 'END'
import io
import sys

import sentencepiece

LINES = ["the house is near the river", "été house 東京 the"] * 50
model = io.BytesIO()
sentencepiece.SentencePieceTrainer.train(
    sentence_iterator=iter(LINES), model_writer=model, vocab_size=45, model_type="bpe", character_coverage=1.0,
    minloglevel=9,
)
processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
seen = []
for text in ("the house", "été house 東京 the"):
    mapped = processor.encode(text, return_type="offset_mapping")["offsets"]
    pieces = processor.encode(text, return_type="proto").pieces
    placed = [(piece.begin, piece.end) for piece in pieces]
    as_bytes = [(len(text[:begin].encode()), len(text[:end].encode())) for begin, end in mapped]
    print(f"{text!r}: offset_mapping {mapped}, proto {placed}, by proto {[text[a:b] for a, b in placed]}")
    seen.append((mapped == placed, placed == as_bytes))
sys.exit(0 if seen == [(True, True), (False, True)] else "this has changed")
END
