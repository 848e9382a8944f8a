"""Alignments as bytes, in the formats of ``aligner align``."""

import json
from collections.abc import Callable, Sequence

import numpy as np

from aligner.model.decoding import Alignments
from corpora.corpus import Languages, TextLine
from corpora.formats.jsonl import pair_object, with_languages
from corpora.formats.tsv import ROW
from corpora.normalize import Normalizers


def _pharaoh(texts: Sequence[TextLine], found: Alignments, *of_text: object) -> bytes:
    return found.lines()


def _scored(texts: Sequence[TextLine], found: Alignments, *of_text: object) -> bytes:
    lines = (" ".join(f"{j}-{k}:{score:.4f}" for (j, k), score in zip(a.links, a.scores, strict=True)) for a in found)
    return "".join(f"{line}\n" for line in lines).encode()


def _jsonl(texts: Sequence[TextLine], found: Alignments, normalizers: Normalizers, languages: Languages) -> bytes:
    objects = [
        pair_object(normalizers[0].tokens(source), normalizers[1].tokens(target), alignment.links, alignment.scores)
        for (_, source, target), alignment in zip(texts, found, strict=True)
    ]
    named = (with_languages(pair, languages) for pair in objects)
    return "".join(f"{json.dumps(pair, ensure_ascii=False)}\n" for pair in named).encode()


def _tsv(texts: Sequence[TextLine], found: Alignments, *of_text: object) -> bytes:
    numbers = np.column_stack([found.fit, found.unlinked, [alignment.score for alignment in found]]).tolist()
    links = found.lines().split(b"\n")
    return b"".join(ROW % (*row, line) for row, line in zip(numbers, links, strict=False))


FORMATS: dict[str, Callable[[Sequence[TextLine], Alignments, Normalizers, Languages], bytes]] = {
    "pharaoh": _pharaoh,
    "scored": _scored,
    "jsonl": _jsonl,
    "tsv": _tsv,
}
"""Formats of ``align``, which `aligner.cli.outputs` lists, too.

``i-j``; ``i-j:score``; a `pair_object`; and the columns of `corpora.formats.tsv`.

One line for each pair.
"""

WITH_WORDS = {"jsonl"}
"""Formats that contain the text, and its languages."""
