"""Reliability of a model's probabilities: how many of its links are right, by the probability it gave them.

A link is right where gold has it, as sure or possible. The expected calibration error is that of ten bins.

    python scripts/reliability.py MODEL GOLD [--links FILE...]
"""

from __future__ import annotations

import argparse

from aligner.model.calibration import JudgedLinks, reliability
from aligner.model.model import load
from aligner.report.text import format_reliability
from aligner.training.inputs import read_labelled
from corpora.readers import open_corpus


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("gold", help="PREFIX of texts and links")
    parser.add_argument("--links", nargs="*", default=(), help="other aligners' links, as the model was trained with")
    options = parser.parse_args()
    model = load(options.model)
    if model.calibration is None:
        parser.error(f"{options.model} has no calibration: its scores are no probabilities")
    corpus = open_corpus(options.gold, source=model.source_language, target=model.target_language)
    labelled = read_labelled([corpus], (model.source_normalizer, model.target_normalizer), options.links)
    judged = JudgedLinks.of(model.align_bitext(labelled.bitext, labelled.others), labelled.links)
    print(format_reliability(reliability(judged.scores, judged.correct)))


if __name__ == "__main__":
    main()
