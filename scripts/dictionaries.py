"""The table of dictionaries in docs/accuracy.md: what little text gains by lemmas, and by dictionaries with both forms.

    python scripts/dictionaries.py --write

The dictionaries are those of Debian's packages dict-freedict-*; lemmas need simplemma. The default weights have learnt
from none of these gold sets. Some minutes.
"""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

from tables import markdown, parser_of, publish

DICTIONARIES = {
    "en-tr": ("eng-tur", "tur-eng"),
    "xl-wa, hu": ("eng-hun", "hun-eng"),
    "xl-wa, bg": ("eng-bul",),
    "xl-wa, es": ("eng-spa", "spa-eng"),
    "xl-wa, sl": ("slv-eng",),
    "xl-wa, ru": ("eng-rus",),
}
"""Gold sets, and FreeDict's dictionaries by their languages."""


def main() -> None:
    options = parser_of(__doc__)
    options.add_argument(
        "--dictionaries", type=Path, default=Path("/usr/share/dictd"), help="folder of the dictionaries"
    )
    asked = options.parse_args()

    from gold import Labelled
    from gold_sets import TURKISH, WIKIPEDIA

    from aligner.model.settings import AlignSettings
    from aligner.model.unsupervised import align
    from corpora.bitext import read_bitext
    from corpora.normalize import PLAIN
    from corpora.stemming import stemming

    sets, rows = {"en-tr": TURKISH, **WIKIPEDIA}, []
    for name, pairs in DICTIONARIES.items():
        gold = sets[name]
        labelled = Labelled.open(asked.data, gold.prefixes, gold.source, gold.target, words=gold.words)
        files = tuple(str(asked.dictionaries / f"freedict-{languages}.index") for languages in pairs)
        stemmed = read_bitext(labelled.corpora, *stemming(PLAIN, labelled.corpora[0]))
        errors = []
        for text, dictionary, lemmas in (
            (labelled.bitext, (), False),
            (stemmed, (), False),
            (labelled.bitext, files, False),
            (labelled.bitext, files, True),
        ):
            with (
                nullcontext() if lemmas else patch("features.forms.find_lemmatizer", return_value=None),
                warnings.catch_warnings(action="ignore"),  # of what is left out of a dictionary
            ):
                found = align(text, settings=AlignSettings(dictionary=dictionary))
            errors.append(labelled.aer(found.links))
        rows.append([name, f"{len(labelled.links):,}", " ".join(pairs), *(f"{error:.1f}" for error in errors)])
        print(rows[-1], flush=True)
    header = [
        "gold set",
        "pairs of text",
        "FreeDict",
        "without",
        "with --stem alone",
        "with it, forms by beginnings",
        "with it, forms by lemmas",
    ]
    publish("dictionary", markdown(header, rows, words=3), pages=["docs/accuracy.md"], write=asked.write)


if __name__ == "__main__":
    main()
