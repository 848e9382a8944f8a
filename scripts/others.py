"""The table of other aligners' links beside ours, a part of accuracy.py."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from gold import Labelled, aer, decode_with, learn
from tables import markdown, publish

from aligner.model.consensus import combine
from aligner.model.default import default_weights
from corpora.links import Links, PairLinks
from features.extractor import FeatureSet
from features.families.links import numbered

if TYPE_CHECKING:
    from accuracy import Study

PAGE = "docs/accuracy.md"

OTHERS = (
    (), ("giza-{}.intersection",), ("giza-{}.grow-diag-final",), ("giza-{}.forward", "giza-{}.reverse"),
    ("neural-{}.awesome-align",), ("neural-{}.cross-align",), ("neural-{}.cross-align", "neural-{}.awesome-align"),
    ("neural-{}.cross-align", "giza-{}.grow-diag-final"),
    ("neural-{}.cross-align", "neural-{}.awesome-align", "giza-{}.grow-diag-final"),
)  # fmt: skip
"""Links that are given together: files of the Hansards, of both parts of gold."""


def others(study: Study) -> None:
    """Links of other aligners beside the features: without labels, and with those of gold-train and gold-trial."""
    labelled = Labelled.open(study.options.data, ("hansards/gold-train", "hansards/gold-trial"), "en", "fr")
    rows = []
    for names in OTHERS:
        kinds = ["neural" if name.startswith("neural") else "statistical" for name in names]
        train, dev = (
            Labelled.open(
                study.options.data,
                (f"hansards/gold-{part}",),
                "en",
                "fr",
                [f"hansards/{name.format(part)}" for name in names],
            )
            for part in ("train", "dev")
        )
        silent = [PairLinks(frozenset())] * (len(labelled.links) - len(train.links))  # there are none
        train = replace(labelled, others=tuple(Links.from_pairs([*links, *silent]) for links in train.others))
        alone = ", ".join(f"{aer(dev.links, links):.2f}" for links in dev.others)
        agreed = f"{aer(dev.links, Links.from_pairs(combine(zip(*dev.others, strict=True)))):.2f}" if names else ""
        cells = []
        for test in study.hansards:
            features = FeatureSet(links=numbered(kinds))
            edges = features.extract(dev.bitext, test.statistics, links=dev.others)
            base = study.default("hansards")
            weights = np.concatenate([base, default_weights().of(features.names[len(base) :])])
            default = decode_with(weights, edges)
            learnt = learn(train, np.arange(len(train.links)), test.statistics, kinds=kinds)
            taught = learnt.align(dev.bitext, test.statistics, dev.others)
            cells += [f"{aer(dev.links, found.links):.2f}" for found in (default, taught)]
        given = " and ".join(name.removeprefix("neural-{}.").replace("giza-{}.", "GIZA++ ") for name in names)
        rows.append([given or "none", alone, agreed, *cells])
    header = ["`--links`", "alone", "`aligner combine`"]
    for size in study.options.sizes:
        header += [f"{size:,} pairs, no labels", f"{size:,} pairs, {len(labelled.links)} labels"]
    publish("others", markdown(header, rows), pages=[PAGE], write=study.options.write)
