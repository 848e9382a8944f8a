"""Model: how edges are scored, what that was learnt from, and the corpus statistics that new text is looked up in."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from aligner._version import __version__
from aligner.errors import AlignerError
from aligner.losses.capacity import LinkRewards
from aligner.model.aligning import PAIRS_AT_ONCE, Part, Task, align
from aligner.model.calibration import Calibration, judged, read_calibration
from aligner.model.decoding import Alignment, Alignments, best_alignments
from aligner.model.file import ModelError, read_model, write_model
from aligner.model.risk import WIDER, RiskCurve
from aligner.model.scoring import score_batch
from aligner.model.settings import check_offset, check_risk
from corpora.apostrophes import as_option
from corpora.bitext import Bitext, BitextBuilder
from corpora.files import StrPath, write_atomically
from corpora.link_counts import LinkCounts
from corpora.links import Links
from corpora.normalize import Normalizer, Normalizers
from corpora.ragged import F64, Lists
from features.batch import EdgeBatch, EncodedText
from features.extractor import FeatureSet
from features.statistics import CorpusStatistics


@dataclass(frozen=True, eq=False)
class Model:
    """A trained aligner.

    weights: (d,) of the features' columns.  normalizers, languages: of source and target; languages as the corpus named
    them, or None.
    record: JSON values about the training: corpus, fingerprint, solver, gap, AER…
    rewards: for the second and further links of a word.  calibration: turns scores of links into probabilities.
    risk: what labelled pairs say of thresholds, see `with_risk`; of another offset, text or links they say nothing.
    least: links of a lower score are left out.
    """

    weights: F64
    features: FeatureSet
    statistics: CorpusStatistics
    normalizers: Normalizers
    languages: tuple[str | None, str | None]
    record: Mapping[str, Any]
    rewards: LinkRewards = LinkRewards()  # noqa: RUF009 - frozen
    calibration: Calibration | None = None
    risk: RiskCurve | None = None
    least: float = -np.inf

    def __repr__(self) -> str:
        return f"Model({', '.join(f'{name}={value}' for name, value in self.info().items() if value is not None)})"

    def info(self) -> dict[str, Any]:
        """Facts about the model and its training, as JSON values, None where none is recorded.

        aer: of held-out pairs, in %.  status: why learning ended.  relative_gap: what is certified of its weights.
        text_fingerprint: equal for equal text.  risk: for some risks the share of the usual links that each keeps, as
        `risk_pairs` labelled pairs say, see `with_risk`.
        """
        known = self.record
        return {
            "languages": list(self.languages),
            **{name: known.get(name) for name in ("pairs", "labelled_pairs", "solver")},
            "weights": "default" if "default_weights" in known else "learnt",
            "tokenized": any(side.tokenize for side in self.normalizers),
            "keep": as_option(self.normalizers) or None,
            "updates": len(known.get("updates", ())),
            "words": [len(self.statistics.source_words), len(self.statistics.target_words)],
            "features": len(self.features.names),
            **{name: known.get(name) for name in ("aer", "status", "relative_gap", "date", "version")},
            "text_fingerprint": known.get("fingerprint"),
            "risk_pairs": self.risk and self.risk.pairs,
            "risk": self.risk and self.risk.describe(),
        }

    def with_offset(self, offset: float, *, of_text: bool = False) -> "Model":
        """The model with a number added to the score of every edge: above 0 there are more links.

        of_text: the offset is that of a text, see `fitting_offset`; with another one above 0 there are more candidates.
        Raises SettingError as `check_offset` does, and AlignerError for a model without ``bias``.
        """
        check_offset(offset)
        if "bias" not in self.features.names:
            raise AlignerError("the scores of this model have no offset (it has no bias)")
        weights = self.weights.copy()
        weights[self.features.names.index("bias")] += offset
        calibration = self.calibration and self.calibration.shifted(offset)
        model = replace(self, weights=weights, calibration=calibration, risk=None, least=self.least + offset)
        wants_more = offset > 0.0 and not of_text and self.features.candidates == "fewer"
        return model.with_candidates("likely") if wants_more else model

    def with_candidates(self, candidates: str) -> "Model":
        """The model with other candidates, one of `features.candidates.CANDIDATES`.  Raises SettingError."""
        return replace(self, features=replace(self.features, candidates=candidates), risk=None)

    def measured(self, bitext: Bitext, gold: Links, links: Sequence[Links] = ()) -> "Model":
        """The model with a `risk.RiskCurve` of labelled pairs, from which it must not have learnt, for `with_risk`.

        bitext: of the pairs, made by `builder`.  gold: their links.  links: other aligners', as in `align_bitext`.
        """
        wider = replace(self.with_offset(WIDER), calibration=None, least=-np.inf)
        found = judged(wider.align_bitext(bitext, links).links, gold)
        usual = len(self.align_bitext(bitext, links).links.source)
        return replace(self, risk=RiskCurve.of(replace(found, scores=found.known_scores - WIDER), usual))

    def with_risk(self, risk: float) -> "Model":
        """The model whose links have this risk: of a pair's links this share, in (0, 1), is wrong, in expectation.

        It is kept for pairs that could as well have been among those of `measured`, a random sample of the text, say.
        Raises AlignerError where there are none, SettingError where they do not suffice.
        """
        check_risk(risk)
        if self.risk is None:
            raise AlignerError("no labelled pairs have said which links have a risk (see `measured`)")
        return replace(self.with_offset(WIDER), least=self.risk.threshold(risk) + WIDER)

    def align(
        self, source: Sequence[str], target: Sequence[str], links: Sequence[Iterable[tuple[int, int]]] = ()
    ) -> Alignment:
        """Align one sentence pair, given as tokens.

        links: other aligners' links of the pair, a set or a mapping to probabilities for each file the model was
        trained with.
        Raises AlignerError if links are missing or out of range; TypeError unless these are sequences of strings.
        """
        # Not by way of threads, which take longer to start than a sentence to align.
        packed = [Links.from_sets([pair_links]) for pair_links in links]
        return next(iter(self.align_bitext(self.builder().add_pairs([(source, target)]).bitext(), packed)))

    def align_many(
        self,
        pairs: Iterable[tuple[Sequence[str], Sequence[str]]],
        links: Sequence[Iterable[Iterable[tuple[int, int]]]] = (),
    ) -> Iterator[Alignment]:
        """Align a stream of (source tokens, target tokens), in order, in batches on all cores.

        links: for each file of other aligners' links the model was trained with, the links of each pair.
        """
        others = [iter(file) for file in links]
        stream = iter(pairs)

        def parts() -> Iterator[Part]:
            while pairs := list(islice(stream, PAIRS_AT_ONCE)):
                packed = [Links.from_sets(islice(file, len(pairs))) for file in others]
                yield Part(self.builder().add_pairs(pairs).bitext(), links=packed)

        for _, found in align(parts(), self):
            yield from found

    def warm_up(self) -> "Model":
        """Compile or load now all that aligning needs, so that the first pair is as fast as others; return the model.

        That may take a minute if no command has aligned on this machine before.
        """
        words = [list(islice(ids, 3)) for ids in (self.statistics.source_ids, self.statistics.target_ids)]
        for source, target in ((words[0], words[1]), (["\0"], ["\0"]), ([], [])):
            self.align(source, target, [[]] * len(self.features.links))
        self.with_candidates("likely").align(words[0], words[1], [[]] * len(self.features.links))  # offsets above 0
        most = 2 + max(len(self.rewards.source), len(self.rewards.target))
        best_alignments(np.ones(most * most), Lists.of_all([(most, most)]), self.rewards)  # more than words may have
        return self

    def builder(self) -> BitextBuilder:
        """An empty bitext whose text is normalised as the model's corpus was."""
        return BitextBuilder(*self.normalizers, *self.languages)

    def align_bitext(self, bitext: Bitext, links: Sequence[Links] = ()) -> Alignments:
        """Align every pair of a bitext made by `builder`.

        links: one for each file of other aligners' links the model was trained with.
        """
        return Alignments.join([task() for task in self.tasks(bitext, links).values()])

    def score_bitext(self, bitext: Bitext, links: Links) -> Alignments:
        """Score given links of a bitext made by `builder`: the result of `align_bitext`, with these links.

        Raises AlignerError if they do not fit the bitext, or the model needs other aligners' links.
        """
        return Alignments.join([task() for task in self.tasks(bitext, given=links).values()])

    def tasks(
        self, bitext: Bitext, links: Sequence[Links] = (), *, given: Links | None = None
    ) -> dict[tuple[int, int], Task]:
        """What is to be done to align a bitext made by `builder`: a task for each batch, first .. last, in order.

        links: as in `align_bitext`.  given: links to be scored, in place of the best ones.  Raises AlignerError if they
        do not fit.
        """
        self.check_links(bitext, links)
        features = self.features
        if given is not None:
            _check_range(bitext, given)
            features = replace(features, candidates="all")
        text = features.encode(bitext, self.statistics, links, to_align=True)
        return {run: partial(self._align_batch, text, run, given) for run in text.runs()}

    def _align_batch(self, text: EncodedText, run: tuple[int, int], given: Links | None) -> Alignments:
        batch = text.batch(*run)
        scores = score_batch(self.weights, self.features, batch)
        if given is None:
            best = best_alignments(scores, batch.lists, self.rewards)
            if self.least > -np.inf:
                best = replace(best, links=best.links.where(best.links.known_scores >= self.least))
            return self._finished(batch, best)
        links = given.part(batch.pairs.start, batch.pairs.stop)
        edges = batch.lists.find(links.pairs, links.source, links.target)
        return self._finished(batch, Alignments.of(links, scores[edges], batch.lists.shapes))

    def _finished(self, batch: EdgeBatch, found: Alignments) -> Alignments:
        """Add the fit by translation models, and replace scores by probabilities if there is a calibration."""
        scores = found.links.known_scores
        if self.calibration is not None:
            scores = self.calibration.probabilities(scores, 0.0)
        fit = found.fit if batch.models is None else batch.models.hmm.fit
        return Alignments(replace(found.links, scores=scores), found.shapes, fit)

    def link_counts(self) -> LinkCounts:
        """The expected counts of linked words in the model's corpus, by its translation models.

        Raises AlignerError if it has no lexicon of words, because no feature needed one.
        """
        translation = self.statistics.translation
        if translation is None or "words" not in translation.lexicons:
            raise AlignerError("the model has no lexicon of words (train it with the default features)")
        return translation.link_counts()

    def check_links(self, bitext: Bitext, links: Sequence[Links]) -> None:
        """Raise AlignerError unless these are the other aligners' links that the model needs for a bitext."""
        if len(links) != len(self.features.links):
            raise AlignerError(
                f"the model was trained with {len(self.features.links)} files of other aligners' links, "
                f"{len(links)} are given (give as many, in the same order, as `links`)"
            )
        for other in links:
            _check_range(bitext, other)

    def save(self, path: StrPath, *, force: bool = False) -> None:
        """Write the model to one file, whole or not at all.  Raises CorpusError if it exists, without force."""
        header = {
            "version": __version__,
            "families": self.features.families,
            "links": self.features.links,
            "words": self.features.words,
            "candidates": self.features.candidates,
            "feature_names": self.features.names,
            "languages": self.languages,
            "normalizers": [asdict(normalizer) for normalizer in self.normalizers],
            "rewards": [self.rewards.source, self.rewards.target],
            "calibration": self.calibration and asdict(self.calibration),
            "risk": self.risk and asdict(self.risk),
            "least": self.least if self.least > -np.inf else None,
            "record": dict(self.record),
        }
        with write_atomically(path, force=force) as file:
            write_model(file, header, {"weights": self.weights, **self.statistics.to_arrays()})


@dataclass(frozen=True)
class Scorer:
    """Scores given links by a model, as an `aligning.Aligner` of one file of links."""

    model: Model

    def tasks(self, bitext: Bitext, links: Sequence[Links] = ()) -> dict[tuple[int, int], Task]:
        return self.model.tasks(bitext, given=links[0])


def _check_range(bitext: Bitext, links: Links) -> None:
    if len(links) != len(bitext):
        raise AlignerError(f"{len(links)} lines of links for {len(bitext)} sentence pairs (give one for each)")
    pair = links.pairs
    J, K = bitext.source.lengths[pair], bitext.target.lengths[pair]
    outside = (links.source >= J) | (links.target >= K) | (links.source < 0) | (links.target < 0)
    for m in np.flatnonzero(outside)[:1]:
        link = f"link {links.source[m]}-{links.target[m]} of another aligner"
        what = f"{link} is out of range for {J[m]} source and {K[m]} target words"
        raise AlignerError(f"pair {pair[m] + 1}: {what}")


def load(path: StrPath) -> Model:
    """Read a model file into memory.  Raises ModelError, a line for the user, on anything else."""
    header, arrays = read_model(path)
    try:
        source_words, target_words = map(tuple, header["words"])
        families, links = tuple(header["families"]), tuple(header["links"])
        features = FeatureSet(families, links, (source_words, target_words), header["candidates"])
        weights = arrays["weights"]
        if weights.dtype != np.float64 or weights.ndim != 1 or not np.isfinite(weights).all():
            raise AlignerError("the weights are not finite numbers")
        if features.names != tuple(header["feature_names"]) or len(weights) != len(features.names):
            raise AlignerError("the features of this version differ")
        source_normalizer, target_normalizer = (Normalizer(**n) for n in header["normalizers"])
        source_language, target_language = header["languages"]
        statistics, record = CorpusStatistics.from_arrays(arrays), header["record"]
        if not isinstance(record, dict) or not isinstance(record.get("updates", []), list):
            raise AlignerError("the record of its training is none")
        if not {*features.lexicons} <= {*(statistics.translation.lexicons if statistics.translation else ())}:
            raise AlignerError("a lexicon that its features need is missing")
        return Model(
            weights,
            features,
            statistics,
            normalizers=(source_normalizer, target_normalizer),
            languages=(source_language, target_language),
            record=record,
            rewards=LinkRewards(*(tuple(map(float, side)) for side in header["rewards"])),
            calibration=read_calibration(header["calibration"]),
            risk=RiskCurve.read(header.get("risk")),
            least=-np.inf if header.get("least") is None else float(header["least"]),
        )
    except (AlignerError, AttributeError, ImportError, LookupError, OverflowError, TypeError, ValueError) as error:
        what = (
            f"of version {header.get('version', '?')}, holds what this program, {__version__}, does not know: {error}"
        )
        raise ModelError(path, 0, what, hint="use the program that made it, or train the model again") from error
