"""Aligning a bitext with no labels and no model: by translation models of the bitext itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligner.errors import SettingError
from aligner.model.decoding import Alignments, best_alignments
from aligner.progress import Progress, ignore, tell_passes
from aligner.svm.prices import LinkRewards
from corpora.bitext import Bitext
from corpora.symmetrize import METHODS
from corpora.threads import map_threads
from features.translation.expectation import Settings
from features.translation.lexicon import AGREEING
from features.translation.model import TranslationModel
from features.translation.posteriors import DEFAULT_THRESHOLD, Decoder, Posteriors
from features.translation.training import train_translation

THRESHOLDED = ("soft", "assignment")
DECODINGS = (*THRESHOLDED, *METHODS)
"""Ways from posteriors to links.

soft: the links whose soft posterior, the geometric mean of both directions', is above a threshold [LTK06].
assignment: the matching of greatest sum of soft posterior minus threshold; a word has at most one link.
The others: the likeliest link or NULL of each word in each direction, combined as `corpora.symmetrize` says.

[LTK06] Liang, Taskar and Klein 2006, Alignment by agreement.
"""

LEAST_SCORE = 1e-4
"""Least score of a link: what four decimals can show, for links that one direction alone believes in."""


@dataclass(frozen=True)
class Unsupervised:
    """How a bitext is aligned by translation models alone.  Raises SettingError on a setting that cannot be.

    decoding: one of DECODINGS.  threshold: in [0, 1], of those in THRESHOLDED, 0.5 by default; the lower, the more
    links.
    null: prior probability that a word translates nothing, between 0 and 1; the higher, the fewer links.
    iterations: passes of the HMM for each lexicon.  seconds: passes that would end later are left out, but for one of
    Model 1 and one of the HMM for each lexicon; the result then depends on the speed of the machine.
    memory: bytes for the numbers of word pairs, 4 for each in every pair of sentences; more go to a temporary file.
    What is None has the default of `features.translation.expectation.Settings`.
    """

    decoding: str = "soft"
    threshold: float | None = None
    null: float | None = None
    iterations: int | None = None
    seconds: float | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        if self.decoding not in DECODINGS:
            raise SettingError(f"unknown decoding {self.decoding!r} (choose from {', '.join(DECODINGS)})")
        if self.threshold is not None and self.decoding not in THRESHOLDED:
            raise SettingError(f"decoding {self.decoding} has no threshold ({' and '.join(THRESHOLDED)} have)")
        if self.threshold is not None and not 0.0 <= self.threshold <= 1.0:
            raise SettingError(f"the threshold must be from 0 to 1, not {self.threshold}")
        if self.null is not None and not 0.0 < self.null < 1.0:
            raise SettingError(f"the prior of NULL must be between 0 and 1, not {self.null}")
        if self.iterations is not None and self.iterations < 1:
            raise SettingError(f"there must be an iteration, not {self.iterations}")
        if self.seconds is not None and not self.seconds >= 0.0:
            raise SettingError(f"seconds must be 0 or more, not {self.seconds}")

    def estimate(
        self, bitext: Bitext, lexicons: Sequence[str] = AGREEING, on_progress: Callable[[Progress], None] = ignore
    ) -> TranslationModel:
        """Translation models of a bitext.

        lexicons: of `features.translation.lexicon.KINDS`; `decode` looks at the agreeing ones.
        on_progress: told of each pass.
        """
        given = {"p0": self.null, "iterations_hmm": self.iterations, "seconds": self.seconds, "memory": self.memory}
        settings: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        return train_translation(bitext, Settings(**settings), lexicons=lexicons, on_pass=tell_passes(on_progress))

    def decode(self, model: TranslationModel, bitext: Bitext) -> Iterator[Alignments]:
        """Align a bitext, known to the model or not: some pairs at a time, in order, on all cores; few are held.

        A link's score is its soft posterior, in [LEAST_SCORE, 1].
        """
        decoder = Decoder(bitext, model)
        return map_threads(lambda run: self._alignments(decoder.posteriors(*run)), decoder.runs())

    def _alignments(self, found: Posteriors) -> Alignments:
        threshold = DEFAULT_THRESHOLD if self.threshold is None else self.threshold
        if self.decoding == "soft":
            links = found.soft_links(threshold)
        elif self.decoding == "assignment":
            gains = found.soft.astype(np.float64) - threshold
            links = best_alignments(gains, found.shapes, found.offsets, LinkRewards()).to_links()
        else:
            links = found.symmetrized_links(self.decoding)
        pair = np.repeat(np.arange(len(links)), np.diff(links.offsets))
        source, target = links.source.astype(np.int64), links.target.astype(np.int64)
        edges = found.offsets[pair] + source * found.shapes[pair, 1] + target
        products = found.forward[edges].astype(np.float64) * found.reverse[edges]  # float32 would underflow
        return Alignments(source, target, np.clip(np.sqrt(products), LEAST_SCORE, 1.0), links.offsets)
