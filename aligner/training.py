"""train(): from corpora and labelled pairs to a model."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import inf
from typing import Any

import numpy as np

from aligner import __version__
from aligner.decoding import decode_edges
from aligner.errors import CorpusError, SettingError
from aligner.evaluation import evaluate
from aligner.matching import get_oracle
from aligner.model import Model
from aligner.problem import MatchingProblem
from aligner.progress import Progress
from aligner.solvers import Result, Status, Stop, TracePoint, make_solver, solve
from corpora.alignment import Links, PairLinks
from corpora.bitext import Bitext, read_bitext
from corpora.link_files import read_links
from corpora.normalize import Normalizer
from corpora.readers import Corpus, group_corpora, open_corpus
from corpora.streams import StrPath
from features.extractor import DEFAULT_MEMORY, FAMILIES, FeatureSet
from features.statistics import CorpusStatistics


@dataclass(frozen=True, eq=False)
class Training:
    """A model and how it came to be: ``model.record`` holds the figures, result the solver's history."""

    model: Model
    result: Result

    @property
    def interrupted(self) -> bool:
        return self.result.status is Status.INTERRUPTED


def train(
    corpora: StrPath | Sequence[StrPath],
    *,
    gold: StrPath | Sequence[StrPath] = (),
    source: str | None = None,
    target: str | None = None,
    source_normalizer: Normalizer = Normalizer(),  # noqa: B008 - frozen
    target_normalizer: Normalizer = Normalizer(),  # noqa: B008
    families: Sequence[str] | None = None,
    links: StrPath | Sequence[StrPath] = (),
    max_labelled: int = 50_000,
    solver: str = "bcfw",
    order: str = "permuted",
    step: str = "line-search",
    average: str = "none",
    oracle: str = "assignment",
    regularization: float = 0.1,
    miss_cost: float = 3.0,
    false_cost: float = 1.0,
    tolerance: float = 1e-3,
    max_passes: int = 200,
    max_seconds: float = inf,
    seed: int = 0,
    memory: int = DEFAULT_MEMORY,
    on_corpus: Callable[[Corpus], None] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    callback: Callable[[TracePoint], bool | None] | None = None,
) -> Training:
    """Count corpora, learn weights from labelled pairs, and return the model.

    corpora: paths in any form of `corpora.readers.open_corpus`; two consecutive texts of one language each make one.
    gold: the labelled pairs, in the same forms, with links; without it the corpora that carry links are used. The text
    of gold is not counted, so that its words look as those of new text will.
    families: of features, see `features.extractor.FAMILIES`; all by default.
    links: files of other aligners' links of the labelled pairs, in order; a feature each.
    max_labelled: of more labelled pairs a random sample is used.
    regularization: λ.  miss_cost, false_cost: c⁺ and c⁻ of the loss.  tolerance: of the relative duality gap.
    memory: bytes of features to hold before they go to a temporary file.
    on_corpus: told what each path was recognised as.  callback: called at each audit; training stops if it returns
    False. Ctrl-C during the solver's passes ends training with the weights of the last audit.

    Raises AlignerError (CorpusError with the line) on bad data and bad settings.
    """
    _check_settings(
        max_labelled=max_labelled,
        tolerance=tolerance,
        max_passes=max_passes,
        max_seconds=max_seconds,
        seed=seed,
        memory=memory,
    )
    links = _paths(links)
    chosen = make_solver(solver, order=order, step=step, average=average)
    stop = Stop(gap=tolerance, passes=max_passes, seconds=max_seconds)
    feature_set = FeatureSet(
        tuple(FAMILIES if families is None else families), tuple(str(n) for n in range(1, len(links) + 1))
    )
    get_oracle(oracle)
    started = time.perf_counter()

    def tell(progress: Progress) -> None:
        if on_progress is not None:
            on_progress(progress)

    def open_all(paths: StrPath | Sequence[StrPath]) -> list[Corpus]:
        opened = [open_corpus(group, source=source, target=target) for group in group_corpora(_paths(paths))]
        for corpus in opened:
            if on_corpus is not None:
                on_corpus(corpus)
        return opened

    texts = open_all(corpora)
    if not texts:
        raise SettingError("there is no corpus (give at least one)")
    labelled_texts = open_all(gold) if gold else [corpus for corpus in texts if corpus.has_links]
    if not labelled_texts:
        hint = "give hand-aligned pairs with --gold, or a corpus with links like train.giza beside it"
        raise CorpusError(texts[0].name, 0, "no labelled pairs", hint=hint)

    normalizers = source_normalizer, target_normalizer
    # Links count the tokens that are there: labelled text is never tokenised again.
    as_it_is = replace(source_normalizer, tokenize=False), replace(target_normalizer, tokenize=False)
    if not gold and as_it_is != normalizers:
        raise SettingError("the links of a corpus count its own tokens (leave --tokenize out, or give --gold)")

    def read(opened: Sequence[Corpus], how: tuple[Normalizer, Normalizer]) -> Bitext:
        return read_bitext(opened, *how, lambda pairs: tell(Progress("reading", pairs, None, "pairs")))

    # Labels first: a broken link is found before the long work.
    labels = Links.from_pairs(_all_links(labelled_texts))
    bitext = read(texts, normalizers)
    labelled = bitext if labelled_texts == texts else read(labelled_texts, as_it_is)
    _check_languages(bitext, labelled, labelled_texts[0])
    lengths = list(zip(labelled.source.lengths.tolist(), labelled.target.lengths.tolist(), strict=True))
    others = [read_links(path, lengths=lengths) for path in links]
    n_available = len(labelled)
    if n_available > max_labelled:
        sample = np.sort(np.random.default_rng(seed).choice(n_available, max_labelled, replace=False))
        labelled, labels, *others = [
            labelled.take(sample),
            labels.take(sample),
            *(o.take(sample) for o in others),
        ]

    statistics = CorpusStatistics.from_bitext(
        bitext, on_progress=lambda done: tell(Progress("counting", done, 1.0, "of the words"))
    )
    facts = {
        "corpora": [corpus.name for corpus in texts],
        "gold": [corpus.name for corpus in labelled_texts],
        "fingerprint": bitext.fingerprint(),
        "pairs": len(bitext),
        "source_tokens": len(bitext.source.ids),
        "target_tokens": len(bitext.target.ids),
        "labelled_pairs": len(labelled),
        "labelled_pairs_available": n_available,
    }
    del bitext
    edges = feature_set.extract(
        labelled, statistics, links=others, memory=memory,
        on_progress=lambda done: tell(Progress("features", done, len(labelled), "pairs")),
    )  # fmt: skip
    preference = edges.features[:, edges.names.index("dice")] if "dice" in edges.names else None
    problem = MatchingProblem.from_links(
        edges, labels, regularization=regularization, miss_cost=miss_cost, false_cost=false_cost, oracle=oracle,
        preference=preference,
    )  # fmt: skip

    def audited(point: TracePoint, _: Any) -> bool | None:
        detail = f"primal {point.primal:.5g}, relative gap {point.relative_gap:.1e}"
        tell(Progress("training", point.passes, max_passes, "passes", detail))
        return callback(point) if callback is not None else None

    result = solve(problem, chosen, stop=stop, seed=seed, callback=audited)
    if not result.trace:
        raise KeyboardInterrupt  # interrupted before the first audit: there are no weights to keep
    if result.status is Status.NOT_FINITE:
        raise SettingError("the weights grew without bound (raise the regularization)")
    point = result.trace[-1]
    links_found = Links.from_pairs(PairLinks(frozenset(a.links), frozenset()) for a in decode_edges(edges, result.w))
    (score,) = evaluate(labels, [links_found], gold_name="training", hypothesis_names=["model"], resamples=1)
    record = {
        "version": __version__,
        **facts,
        "links_lost": problem.links_lost,
        "features": len(edges.names),
        "solver": result.signature,
        "status": result.status.value,
        "converged": result.status is Status.CONVERGED,
        **asdict(point),
        "relative_gap": point.relative_gap,
        "training_aer": 100 * score.aer,
        "total_seconds": time.perf_counter() - started,
    }
    model = Model(
        result.w, feature_set, statistics, source_normalizer, target_normalizer,
        texts[0].source_language, texts[0].target_language, record,
    )  # fmt: skip
    return Training(model, result)


def _paths(given: StrPath | Sequence[StrPath]) -> list[str]:
    return [os.fspath(path) for path in ([given] if isinstance(given, str | os.PathLike) else given)]


def _check_settings(*, max_labelled: int, **others: float) -> None:
    for name, value, least in (("max_labelled", max_labelled, 1), *((*item, 0) for item in others.items())):
        if not value >= least:  # NaN is not, either
            raise SettingError(f"{name.replace('_', ' ')} must be a number of at least {least}, not {value}")


def _all_links(corpora: Sequence[Corpus]) -> Iterator[PairLinks]:
    for corpus in corpora:
        yield from corpus.links()


def _check_languages(bitext: Bitext, labelled: Bitext, gold: Corpus) -> None:
    """Raise CorpusError where gold's languages are known and are not those of the corpus."""
    for side in ("source", "target"):
        ours, theirs = getattr(bitext, side).language, getattr(labelled, side).language
        if ours is not None and theirs is not None and ours != theirs:
            what = f"its {side} language is {theirs}, the corpus has {ours}"
            raise CorpusError(gold.name, 0, what, hint="choose the same ones with --source and --target")
