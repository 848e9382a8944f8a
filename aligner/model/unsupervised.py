"""Aligning a bitext with no labels and no model: by translation models of the bitext itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from aligner.errors import SettingError
from aligner.matching import best_matchings
from aligner.model.decoding import Alignment
from aligner.progress import Progress, tell_passes
from corpora.alignment import Links
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


def align_texts(
    bitext: Bitext,
    *,
    decoding: str = "soft",
    threshold: float | None = None,
    null: float | None = None,
    iterations: int | None = None,
    seconds: float | None = None,
    memory: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Iterator[Alignment]:
    """Estimate translation models on a bitext and align it with them, an alignment a pair, in order.

    decoding: one of DECODINGS.  threshold: in [0, 1], of those in THRESHOLDED, 0.5 by default; the lower, the more
    links.  null, iterations, seconds, memory: see `estimate`.  on_progress: told of each pass of training, and of the
    pairs aligned.
    A link's score is its soft posterior, in [LEAST_SCORE, 1].

    The models are ready when this returns; links are then found as they are taken, on all cores, and few are held.
    Raises SettingError on a setting that cannot be.
    """
    check_decoding(decoding, threshold)
    model = estimate(bitext, null=null, iterations=iterations, seconds=seconds, memory=memory, on_progress=on_progress)
    return decode_texts(model, bitext, decoding=decoding, threshold=threshold, on_progress=on_progress)


def estimate(
    bitext: Bitext,
    *,
    null: float | None = None,
    iterations: int | None = None,
    seconds: float | None = None,
    memory: int | None = None,
    lexicons: Sequence[str] = AGREEING,
    on_progress: Callable[[Progress], None] | None = None,
) -> TranslationModel:
    """Translation models of a bitext.

    null: prior probability that a word translates nothing, between 0 and 1; the higher, the fewer links.
    iterations: passes of the HMM for each lexicon.  seconds: passes that would end later are left out, but for one of
    Model 1 and one of the HMM for each lexicon; the result then depends on the speed of the machine.
    memory: bytes for the numbers of word pairs, 4 for each in every pair of sentences; more go to a temporary file.
    lexicons: of `features.translation.lexicon.KINDS`; `decode_texts` looks at the agreeing ones.
    What is None has the default of `features.translation.expectation.Settings`.  on_progress: told of each pass.
    Raises SettingError on a setting that cannot be.
    """
    check_training(null, iterations, seconds)
    given = {"p0": null, "iterations_hmm": iterations, "seconds": seconds, "memory": memory}
    settings: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    on_pass = None if on_progress is None else tell_passes(on_progress)
    return train_translation(bitext, Settings(**settings), lexicons=lexicons, on_pass=on_pass)


def decode_texts(
    model: TranslationModel,
    bitext: Bitext,
    *,
    decoding: str = "soft",
    threshold: float | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Iterator[Alignment]:
    """Align a bitext, known to the model or not; as `align_texts` otherwise."""
    check_decoding(decoding, threshold)
    least = DEFAULT_THRESHOLD if threshold is None else threshold
    decoder = Decoder(bitext, model)

    def decode(run: tuple[int, int]) -> list[Alignment]:
        found = decoder.posteriors(*run)
        return _alignments(_links(found, decoding, least), found)

    def alignments() -> Iterator[Alignment]:
        done = 0
        for found in map_threads(decode, decoder.runs()):
            yield from found
            done += len(found)
            if on_progress is not None:
                on_progress(Progress("aligning", done, len(bitext), "pairs"))

    return alignments()


def check_decoding(decoding: str, threshold: float | None) -> None:
    """Raise SettingError on an unknown decoding, and on a threshold that it has not or that is out of [0, 1]."""
    if decoding not in DECODINGS:
        raise SettingError(f"unknown decoding {decoding!r} (choose from {', '.join(DECODINGS)})")
    if threshold is None:
        return
    if decoding not in THRESHOLDED:
        raise SettingError(f"decoding {decoding} has no threshold ({' and '.join(THRESHOLDED)} have)")
    if not 0.0 <= threshold <= 1.0:
        raise SettingError(f"the threshold must be from 0 to 1, not {threshold}")


def check_training(null: float | None, iterations: int | None, seconds: float | None) -> None:
    """Raise SettingError on what `estimate` cannot be asked for."""
    if null is not None and not 0.0 < null < 1.0:
        raise SettingError(f"the prior of NULL must be between 0 and 1, not {null}")
    if iterations is not None and iterations < 1:
        raise SettingError(f"there must be an iteration, not {iterations}")
    if seconds is not None and not seconds >= 0.0:
        raise SettingError(f"seconds must be 0 or more, not {seconds}")


def _links(found: Posteriors, decoding: str, threshold: float) -> Links:
    if decoding == "soft":
        return found.soft_links(threshold)
    if decoding == "assignment":
        return _assigned_links(found, threshold)
    return found.symmetrized_links(decoding)


def _assigned_links(found: Posteriors, threshold: float) -> Links:
    column_of_row = best_matchings(found.soft.astype(np.float64) - threshold, found.shapes)
    row_offsets = np.concatenate([[0], np.cumsum(found.shapes[:, 0])])
    linked = np.flatnonzero(column_of_row >= 0)
    pair = np.searchsorted(row_offsets, linked, side="right") - 1
    return Links(
        (linked - row_offsets[pair]).astype(np.int32), column_of_row[linked], np.ones(len(linked), np.bool_),
        np.searchsorted(linked, row_offsets).astype(np.int64),
    )  # fmt: skip


def _alignments(links: Links, found: Posteriors) -> list[Alignment]:
    pair = np.repeat(np.arange(len(links)), np.diff(links.offsets))
    edges = found.offsets[pair] + links.source.astype(np.int64) * found.shapes[pair, 1] + links.target
    products = found.forward[edges].astype(np.float64) * found.reverse[edges]  # float32 would underflow
    scores = np.clip(np.sqrt(products), LEAST_SCORE, 1.0).tolist()
    positions = list(zip(links.source.tolist(), links.target.tolist(), strict=True))
    return [
        Alignment(tuple(positions[first:last]), tuple(scores[first:last]))
        for first, last in pairwise(links.offsets.tolist())
    ]
