"""Text of any size to try pipelines with: pairs of sentences drawn from a trained model.

    python scripts/make_corpus.py my.model big.en big.fr --pairs 20000000

A source word is drawn by how often the model has seen it, a target word by the position that the jumps lead to and by
the word there, or by NULL. Of a share of the source words none was seen: they follow Zipf's law without end, as the
names of real text do, and each has a translation of its own, so that the vocabulary grows with the text. The sentences
mean nothing. The same model, seed and number of pairs give the same bytes, and more pairs begin with the fewer. Outputs
whose names end in .gz, .xz, .bz2 or .zst are packed.
"""

from __future__ import annotations

import argparse
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

import aligner
from corpora.files import write_packed
from corpora.link_counts import NULL
from features.translation._lattice_kernels import INSIDE, WIDTHS, WINDOW

F64, I64 = npt.NDArray[np.float64], npt.NDArray[np.int64]

BLOCK = 20_000
LONGEST = 60
SYLLABLES = (
    [a + b for a in "bdfgklmnprst" for b in "aeiou"],
    [a + b for a in "chjlmnqrtvxz" for b in ("é", "au", "in", "o", "u")],
)
ZIPF = 1.2
"""Exponent of the frequencies of new words by their rank."""


class Drawing:
    """Sentence pairs of a model.  mean: words of a source sentence.  new: share of source words that are new."""

    def __init__(self, model: aligner.Model, mean: float, new: float) -> None:
        translation, counts = model.statistics.translation, model.link_counts()
        if translation is None:
            raise SystemExit("the model has no translation models")
        jumps = translation.lexicons["words"].forward.jumps[INSIDE : INSIDE + WIDTHS]
        self.jumps = np.cumsum(jumps) / jumps.sum()
        self.mean, self.new, self.p0 = mean, new, translation.p0
        self.words = [np.array(side, dtype=object) for side in counts.words]
        self.sources = np.cumsum(translation.source_counts) / translation.source_counts.sum()
        self.null = counts.words[0].index(NULL)
        linked = counts.target != counts.words[1].index(NULL)
        self.targets = counts.target[linked]
        self.bounds = np.searchsorted(counts.source[linked], np.arange(len(self.words[0]) + 1))
        self.linked = np.concatenate([[0.0], np.cumsum(counts.counts[linked])])
        self.ratio = float(translation.target_counts.sum() / translation.source_counts.sum())

    def block(self, random: np.random.Generator, pairs: int) -> tuple[bytes, bytes]:
        """Lines of both sides."""
        of_source = 1 + np.minimum(random.negative_binomial(3, 3 / (self.mean + 2), pairs), LONGEST - 1)
        of_target = np.clip(random.poisson(self.ratio * of_source), 1, LONGEST)
        offsets = np.concatenate([[0], np.cumsum(of_source)])
        source = np.searchsorted(self.sources[:-1], random.random(offsets[-1]), side="right")
        spelt = self.words[0][source]
        rank = np.flatnonzero(random.random(len(source)) < self.new)
        names = np.zeros(len(source), np.int64)
        names[rank] = np.minimum(random.zipf(ZIPF, len(rank)), 1 << 40)
        spelt[rank] = [spell(number, 0) for number in names[rank].tolist()]

        target = np.zeros((pairs, of_target.max()), dtype=object)
        place = np.zeros(pairs, np.int64)
        for k in range(target.shape[1]):
            there = np.flatnonzero(of_target > k)
            width = np.searchsorted(self.jumps[:-1], random.random(len(there)), side="right") - WINDOW
            place[there] = np.clip(place[there] + width, 0, of_source[there] - 1)
            given = offsets[there] + place[there]
            is_null = random.random(len(there)) < self.p0
            word = self.translate(np.where(is_null, self.null, source[given]), random.random(len(there)))
            column = self.words[1][word]
            strange = np.flatnonzero((names[given] > 0) & ~is_null)
            column[strange] = [spell(number, 1) for number in names[given[strange]].tolist()]
            target[there, k] = column
        rows = (row[:length] for row, length in zip(target.tolist(), of_target.tolist(), strict=True))
        ends = offsets.tolist()
        lines = [" ".join(spelt[a:b]) for a, b in pairwise(ends)], [" ".join(row) for row in rows]
        one, other = ("\n".join([*side, ""]).encode() for side in lines)
        return one, other

    def translate(self, words: I64, draws: F64) -> I64:
        """A target word for each source word, by how often they are linked; draws: in [0, 1)."""
        low, high = self.bounds[words], self.bounds[words + 1]
        none = low == high  # never linked: what NULL translates
        low, high = np.where(none, self.bounds[self.null], low), np.where(none, self.bounds[self.null + 1], high)
        at = self.linked[low] + draws * (self.linked[high] - self.linked[low])
        return np.asarray(self.targets[np.clip(np.searchsorted(self.linked, at, side="right") - 1, low, high - 1)])


def spell(number: int, side: int) -> str:
    """A word for a number, another for each number and side."""
    syllables, word = SYLLABLES[side], ""
    while number:
        number, digit = divmod(number, len(syllables))
        word += syllables[digit]
    return word + "xx"[side:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("source", help="file to write")
    parser.add_argument("target", help="file to write")
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--mean", type=float, default=18.0, help="words of a source sentence")
    parser.add_argument("--new", type=float, default=0.01, help="share of source words that the model does not know")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    drawing = Drawing(aligner.load(asked.model), asked.mean, asked.new)
    with write_packed(asked.source) as source, write_packed(asked.target) as target:
        for number in range(math.ceil(asked.pairs / BLOCK)):
            random = np.random.default_rng([asked.seed, number])
            lines = drawing.block(random, BLOCK)
            left = asked.pairs - number * BLOCK
            for file, side in zip((source, target), lines, strict=True):
                file.write(side if left >= BLOCK else b"".join(side.splitlines(keepends=True)[:left]))


if __name__ == "__main__":
    main()
