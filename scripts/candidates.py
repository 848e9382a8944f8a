"""The table of candidates in docs/accuracy.md: which links of gold are listed, of the gold sets of --data.

    python scripts/candidates.py --write

The rule was chosen on those gold sets that the default weights are learnt from; the others are reported only.
"""

from __future__ import annotations

from tables import markdown, parser_of, publish

MOST = 12_500
"""Pairs of the largest corpus of a gold set."""


def main() -> None:
    parser = parser_of(__doc__)
    asked = parser.parse_args()
    from gold import decode_with, shipped_weights, view
    from gold_sets import DEV_SETS, GERMAN, GOLD_SETS, TURKISH, WIKIPEDIA

    from corpora.links import Links
    from features.candidates import count_unlisted
    from features.extractor import FeatureSet

    rows = []
    for name, gold in (GOLD_SETS | {"rwth-de-en": GERMAN, "en-tr": TURKISH} | DEV_SETS | WIKIPEDIA).items():
        corpora = [corpus for corpus in gold.corpora if corpus[1] <= MOST] or gold.corpora
        seen = view(asked.data, name, gold, *corpora[-1])
        links, text = seen.labelled.links, seen.labelled.bitext
        tables = [FeatureSet(candidates=kind).extract(text, seen.statistics) for kind in ("likely", "all")]
        sure = Links.from_sets(pair.sure for pair in links)
        recalls = [1 - count_unlisted(tables[0].lists, part) / len(part.source) for part in (sure, links)]
        errors = [seen.labelled.aer(decode_with(shipped_weights(), table).links) for table in tables]
        listed, every = (len(table.features) for table in tables)
        shares = [f"{100 * share:.2f}" for share in (*recalls, listed / every)]
        shares.insert(2, f"{2 * listed / tables[0].lists.shapes.sum():.2f}")
        rows.append([name, f"{seen.pairs:,}", *shares, *(f"{error:.2f}" for error in errors)])
    header = ["gold set", "pairs of the corpus", "sure links", "all links", "candidates a word", "of all edges", "AER"]
    header.append("AER with all")
    publish("candidates", markdown(header, rows), pages=["docs/accuracy.md"], write=asked.write)


if __name__ == "__main__":
    main()
