"""Which sentence pairs, aligned by hand, would teach a model most."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aligner.errors import SettingError
from aligner.model.decoding import Alignment, best_links, score_batches
from aligner.model.model import Model
from aligner.model.streaming import Job, LinksFile, jobs
from aligner.svm.hinge import DEFAULT_FALSE_COST, DEFAULT_MISS_COST
from aligner.svm.prices import LinkRewards
from corpora.alignment import Links, PairLinks
from corpora.readers import Corpus, TextLine
from corpora.threads import map_threads

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

Text = tuple[str, str]
"""Source and target sentence, their tokens joined by single spaces."""


@dataclass(frozen=True)
class Suggestion:
    """A pair worth aligning by hand.

    line: of the corpus, from 1 on.  text: see `Text`; links count its tokens.  doubt: see `doubts`.
    alignment: what the model finds, to be corrected.
    """

    line: int
    text: Text
    doubt: float
    alignment: Alignment


def doubts(scores: F64, shapes: I64, offsets: I64, rewards: LinkRewards) -> F64:
    """(n,) how unsure a model is of its best alignment ŷ of each pair: the hinge that training would see, were ŷ gold.

        (max_z [L(z, ŷ) + s(z)] − s(ŷ)) / √words,   L = c⁺ links of ŷ that z leaves out + c⁻ links of z outside ŷ

    with the default costs, the unit in which scores are learnt: 0 where every other alignment is worse by its loss,
    and the more, the more of the alignment could be otherwise. The margin of selective sampling [Tong and Koller
    2001], in the loss-augmented form of SPEC §3. A long pair teaches more, and takes longer to align by hand: the
    root, of the words of both sides, lies between the most per pair and the most per word.

    scores: (E,) of the edges of pairs with these shapes and offsets.
    """
    best = best_links(scores, shapes, offsets, rewards)
    augmented = scores + DEFAULT_FALSE_COST
    augmented[best.edge] = scores[best.edge] - DEFAULT_MISS_COST
    other = best_links(augmented, shapes, offsets, rewards)
    values = np.zeros(len(shapes))
    np.add.at(values, other.pair, augmented[other.edge])
    np.subtract.at(values, best.pair, scores[best.edge] - DEFAULT_MISS_COST)
    for sign, found in ((1.0, other), (-1.0, best)):
        for side, words, steps in ((0, found.source, rewards.source), (1, found.target, rewards.target)):
            starts = np.cumsum(shapes[:, side]) - shapes[:, side]
            links = np.bincount(starts[found.pair] + words, minlength=int(shapes[:, side].sum()))
            gained = np.concatenate([[0.0, 0.0], np.cumsum(steps)])[links]
            np.add.at(values, np.repeat(np.arange(len(shapes)), shapes[:, side]), sign * gained)
    values = np.maximum(values, 0.0)  # below by rounding only
    return np.asarray(values / np.sqrt(np.maximum(shapes.sum(axis=1), 1)))


def suggest(
    model: Model,
    corpus: Corpus,
    number: int,
    *,
    links: Sequence[LinksFile] = (),
    known: Collection[Text] = frozenset(),
    on_progress: Callable[[int], None] | None = None,
) -> list[Suggestion]:
    """The pairs of a corpus of whose alignment a model is least sure, at most so many, the most doubtful first.

    links: of other aligners, a stream for each file the model was trained with.  known: pairs to leave out, because
    they are labelled.  on_progress: told of the pairs seen.
    Of equal pairs the first is taken, and pairs with an empty side are not. Few pairs are held at a time.

    Raises CorpusError on bad data and SettingError unless a pair is asked for.
    """
    if number < 1:
        raise SettingError(f"there must be a pair to suggest, not {number}")

    def work(job: Job) -> tuple[Job, F64]:
        batch = score_batches(job.bitext(model, corpus), model.statistics, model.features, model.scorer, job.links)
        return job, np.concatenate([doubts(s, b.shapes, b.offsets, model.rewards) for b, s in batch])

    normalizers = model.source_normalizer, model.target_normalizer
    best: list[tuple[float, int, Text, TextLine, tuple[PairLinks, ...]]] = []
    held = set(known)
    seen = 0
    for job, values in map_threads(work, jobs(corpus.texts(), links)):
        for i in np.flatnonzero(values > (best[0][0] if len(best) == number else -1.0)).tolist():
            line, *sides = job.lines[i]
            source, target = (" ".join(n.tokens(side)) for n, side in zip(normalizers, sides, strict=True))
            text = source, target
            if not source or not target or text in held:
                continue
            item = (float(values[i]), -line, text, job.lines[i], tuple(other[i] for other in job.links))
            if len(best) < number:
                heapq.heappush(best, item)
            elif item[:2] > best[0][:2]:
                held.discard(heapq.heapreplace(best, item)[2])
            else:
                continue
            held.add(text)
        seen += len(values)
        if on_progress is not None:
            on_progress(seen)
    best.sort(reverse=True, key=lambda item: item[:2])
    chosen = Job([item[3] for item in best], [Links.from_pairs(i[4][f] for i in best) for f in range(len(links))])
    found = model.align_bitext(chosen.bitext(model, corpus), chosen.links)
    return [
        Suggestion(-negative, text, doubt, alignment)
        for (doubt, negative, text, *_), alignment in zip(best, found, strict=True)
    ]
