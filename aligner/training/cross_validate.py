"""Learn at one λ from all pairs, and cross-validate: the AER of held-out pairs, and their links."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from aligner.errors import OracleError, SettingError
from aligner.evaluation.counts import bootstrap, count, scores
from aligner.losses.fenchel_young import FenchelYoungProblem
from aligner.model.calibration import judged
from aligner.model.decoding import decode_edges
from aligner.model.operating_point import LEARNT_SLOPE, offset_of
from aligner.progress import ignore
from aligner.solvers import Result, Status, Stop, TracePoint, solve
from aligner.training.settings import LabelledProblem, Plan
from corpora.links import Links
from corpora.ragged import F64, I64
from features.table import DEFAULT_MEMORY

_RESAMPLES = 1000
"""Bootstrap resamples of a standard error."""

_LOG_ODDS = "fermi-dirac", "default"
"""Regularizer and prior of losses whose scores are log-odds of links."""

_ENDED = Status.INTERRUPTED, Status.CALLBACK
"""After these nothing further is solved."""


@dataclass(frozen=True)
class FoldFigures:
    """Figures of the finished folds, as a model's record has them; 0 or None without any.

    learnt_aer: a fraction, of their pairs together.  standard_error: of it, over the choice of pairs, by bootstrap.
    early_folds: how many ended before they were within the tolerance.
    fold_passes, fold_seconds: of their solutions together.  fold_gap: the largest relative gap of one.
    """

    finished_folds: int = 0
    learnt_aer: float | None = None
    standard_error: float | None = None
    early_folds: int = 0
    fold_passes: float = 0.0
    fold_seconds: float = 0.0
    fold_gap: float | None = None


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """The solution on all pairs, and the links of each fold's pairs by the solution without that fold.

    interrupted: by Ctrl-C; there may be fewer finished folds than planned.
    held_out: the links found in the pairs of finished folds, see `calibration.judged`; None without any.
    """

    result: Result
    interrupted: bool
    held_out: Links | None = None
    folds: FoldFigures = FoldFigures()


@dataclass(frozen=True, eq=False)
class _Fold:
    """The links of a fold's pairs by the solution without it.  counts: (m, 5).  end: the solution's last audit."""

    counts: I64
    judged: Links
    end: TracePoint
    status: Status


def cross_validate(
    problem: LabelledProblem,
    links: Links,
    plan: Plan,
    *,
    stop: Stop = Stop(),  # noqa: B008 - frozen
    seed: int = 0,
    memory: int = DEFAULT_MEMORY,
    callback: Callable[[TracePoint, int | None], bool | None] = ignore,
) -> CrossValidation:
    """Solve on all pairs, then without each fold of a plan, and evaluate the latter solutions on the held-out pairs.

    links: gold of the pairs, sure and possible, as it is evaluated.  stop: for each solution.
    seed: of the solver, and of the folds, which are parts of the pairs, each held out once.
    memory: bytes of features to hold in memory; a larger copy for a fold is on disk.
    callback: called at each audit with the fold left out, from 1 on, or None for the solution on all pairs; if it
    returns False, all ends as by Ctrl-C.

    After Ctrl-C the result has the finished folds, and the best audit on all pairs. Memory: the features of one fold
    and its remainder are copied at a time, so as much as the features take.

    Raises SettingError for weights that are not finite, OracleError for a wrong oracle, and KeyboardInterrupt before
    the first audit.
    """

    def solution(part: LabelledProblem, fold: int | None) -> Result:
        result = solve(part, plan.solver, stop=stop, seed=seed, callback=lambda at: callback(at.trace[-1], fold))
        if result.status is Status.NOT_FINITE:
            raise SettingError(
                f"λ {plan.regularization:.4g}: the weights grew without bound (raise the regularization)"
            )
        if result.status is Status.NEGATIVE_GAP:
            raise OracleError(f"λ {plan.regularization:.4g}: {result.status.value} (please report this)")
        if not result.trace:
            raise KeyboardInterrupt
        return result

    result = solution(problem, None)
    folds: list[_Fold] = []
    status = result.status
    pairs = np.random.default_rng(seed).permutation(len(links))
    try:
        for number, held_out in enumerate(np.array_split(pairs, plan.folds) if plan.folds else (), 1):
            if status in _ENDED:
                break
            found = _hold_out(problem, links, np.sort(held_out), plan, memory, partial(solution, fold=number))
            status = found.status
            if status not in _ENDED:
                folds.append(found)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    interrupted = status is Status.INTERRUPTED
    if not folds:
        return CrossValidation(result, interrupted)
    counts = np.concatenate([fold.counts for fold in folds])
    figures = FoldFigures(
        len(folds),
        learnt_aer=float(scores(counts.sum(axis=0)).aer),
        standard_error=float(bootstrap([counts], _RESAMPLES, seed)[0].aer.std(ddof=1)),
        early_folds=sum(fold.status is not Status.CONVERGED for fold in folds),
        fold_passes=sum(fold.end.passes for fold in folds),
        fold_seconds=sum(fold.end.seconds for fold in folds),
        fold_gap=max(fold.end.relative_gap for fold in folds),
    )
    return CrossValidation(result, interrupted, Links.join(fold.judged for fold in folds), figures)


def edge_weights(problem: LabelledProblem, w: F64) -> F64:
    """Return the weights of edges' features in a solution w, without those of further links of a word.

    Near the default weights scores are log-odds, which far languages need more links of, see `operating_point`.
    """
    weights = problem.weights(w)[: len(problem.edges.names)]
    if isinstance(problem, FenchelYoungProblem) and (problem.regularizer, problem.prior_name) == _LOG_ODDS:
        bias = np.array(problem.edges.names) == "bias"
        weights = weights + offset_of(weights, problem.edges, LEARNT_SLOPE) * bias
    return weights


def _hold_out(
    problem: LabelledProblem,
    links: Links,
    held_out: I64,
    plan: Plan,
    memory: int,
    solution: Callable[[LabelledProblem], Result],
) -> _Fold:
    """Solve without the held-out pairs, (m,) ascending, and evaluate the solution on them."""
    size = problem.edges.features.nbytes
    memory = size if 2 * size <= memory else 0  # features that are too large themselves are on disk
    rest = problem.take(np.setdiff1d(np.arange(len(links)), held_out), memory=memory)
    part = problem.take(held_out, memory=memory)
    gold = links.take(held_out)
    result = solution(rest)
    found = decode_edges(part.edges, edge_weights(rest, result.w), rest.link_rewards(result.w))
    return _Fold(count(gold, found.links), judged(found.links, gold), result.trace[-1], result.status)
