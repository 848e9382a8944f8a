"""Reliability of a model's probabilities: how many of its links are right, by the probability it gave them.

A link is right where gold has it, as sure or possible. The expected calibration error is that of ten bins.

    python scripts/reliability.py MODEL GOLD [--links FILE...]
"""

from __future__ import annotations

import argparse

from aligner.model.calibration import JudgedLinks, reliability
from aligner.model.model import load
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
    corpus = open_corpus(options.gold, source=model.languages[0], target=model.languages[1])
    labelled = read_labelled([corpus], model.normalizers, options.links)
    judged = JudgedLinks.of(model.align_bitext(labelled.bitext, labelled.others), labelled.links)
    found = reliability(judged.scores, judged.correct)
    print(f"{'probability':<12}{'links':>9}{'mean':>8}{'right':>8}")
    width = 100 / len(found.links)
    for number, links in enumerate(found.links):
        if links:
            part = f"{width * number:g}-{width * (number + 1):g} %"
            print(f"{part:<12}{links:>9,}{100 * found.predicted[number]:>8.2f}{100 * found.correct[number]:>8.2f}")
    print(f"expected calibration error {100 * found.error:.2f} % ({found.links.sum():,} links)")


if __name__ == "__main__":
    main()
