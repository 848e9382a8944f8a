"""Learning from all pairs is solving alone; cross-validation is leaving out by hand."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from aligner.errors import SettingError
from aligner.evaluation.counts import count, scores
from aligner.losses.hinge import Costs, MatchingProblem
from aligner.model.decoding import decode_edges
from aligner.problem import BlockProblem
from aligner.solvers import Solver, Stop, TracePoint, make_solver, solve
from aligner.solvers.block import Block
from aligner.solvers.records import Audit
from aligner.training.cross_validate import CrossValidation, FoldFigures, cross_validate
from aligner.training.settings import Plan
from corpora.links import Links, PairLinks
from corpora.ragged import Lists
from features.table import EdgeTable

Example = tuple[MatchingProblem, Links]
MakeExample = Callable[..., Example]

BLOCK = Block()


@pytest.fixture(scope="session")
def make_example(make_problem: Callable[..., MatchingProblem]) -> MakeExample:
    """A problem and gold that is more than the problem's target: words linked twice, and possible links."""

    def make(n: int = 20, seed: int = 0, **settings: Any) -> Example:
        edges = make_problem(n=n, seed=seed, **settings).edges
        rng = np.random.default_rng(seed)
        pairs = []
        for J, K in edges.lists.shapes.tolist():
            sure = {(j, j) for j in range(min(J, K))} | {(0, int(rng.integers(K)))}
            possible = {(int(rng.integers(J)), int(rng.integers(K)))} - sure
            pairs.append(PairLinks(frozenset(sure), frozenset(possible)))
        links = Links.from_pairs(pairs)
        # What is to be learnt: a feature says roughly where the sure links are.
        for i, pair in enumerate(links):
            for j, k in pair.sure:
                edges[i][j * edges.lists.shapes[i, 1] + k, 0] += 2
        return MatchingProblem.from_links(edges, links, regularization=1.0, costs=Costs(possible=0.0)), links

    return make


def planned(folds: int = 0, solver: Solver[Any, Any] = BLOCK) -> Plan:
    return Plan("hinge", solver, 1.0, folds=folds)


def subset(edges: EdgeTable, pairs: list[int]) -> EdgeTable:
    return EdgeTable(np.concatenate([edges[i] for i in pairs]), Lists.of_all(edges.lists.shapes[pairs]), edges.names)


TIGHT = Stop(gap=1e-6, passes=2000)
FAST = make_solver("bcfw-pairwise")


def test_without_folds_all_pairs_are_solved_for_and_nothing_is_judged(make_example: MakeExample) -> None:
    problem, links = make_example()
    found, alone = cross_validate(problem, links, planned(), seed=5), solve(problem, BLOCK, seed=5)
    assert found.result.w.tobytes() == alone.w.tobytes()
    assert (found.folds, found.interrupted, found.held_out) == (FoldFigures(), False, None)


@pytest.mark.slow
@pytest.mark.parametrize("regularization", [1.0, 0.1])
def test_cross_validation_is_leaving_out_by_hand(make_example: MakeExample, regularization: float) -> None:
    """With as many folds as pairs the folds are known: each pair judged by what is learnt from all others."""
    problem, links = make_example(n=14, d=3, largest=4)
    problem = replace(problem, regularization=regularization)
    found = cross_validate(problem, links, planned(len(links), FAST), stop=TIGHT).folds
    projected, tables, ends = 0, [], []
    for i in range(len(links)):
        others = [k for k in range(len(links)) if k != i]
        rest = MatchingProblem.from_links(
            subset(problem.edges, others),
            links.take(np.array(others)),
            regularization=regularization,
            costs=Costs(possible=0.0),
        )
        result = solve(rest, FAST, stop=TIGHT)
        ends.append(result.trace[-1])
        (alignment,) = decode_edges(subset(problem.edges, [i]), result.w)
        answer = Links.from_pairs([PairLinks(frozenset(alignment.links))])
        tables.append(count(links.take(np.array([i])), answer))
        projected += int(tables[-1][0, 1]) != int((problem.labels[problem.edges.lists.pairs == i] == 2).sum())
    assert projected, "gold is not only what can be learnt"
    counts = np.concatenate(tables)
    assert found.learnt_aer == pytest.approx(float(scores(counts.sum(axis=0)).aer), abs=1e-12)
    # The standard error of a ratio of sums, by its linearisation.
    a, s, _, a_and_s, a_and_p = counts.T
    errors = (a + s - a_and_s - a_and_p) - found.learnt_aer * (a + s)
    linear = np.sqrt((errors**2).sum()) / (a + s).sum()
    assert found.standard_error == pytest.approx(linear, rel=0.35)
    assert found.fold_passes == sum(end.passes for end in ends)
    assert found.fold_gap == max(end.relative_gap for end in ends)


def test_folds_are_of_the_seed_and_leave_every_pair_out_once(make_example: MakeExample) -> None:
    problem, links = make_example(n=23)
    first, again, other = (cross_validate(problem, links, planned(4), seed=seed).folds for seed in (1, 1, 2))
    assert replace(first, fold_seconds=0) == replace(again, fold_seconds=0)
    assert first.learnt_aer != other.learnt_aer
    assert first.finished_folds == 4


def test_held_out_links_are_those_that_the_error_is_of(make_example: MakeExample) -> None:
    problem, links = make_example()
    sure = Links.from_pairs(PairLinks(pair.sure) for pair in links)  # so that AER is 1 - F1
    learnt = cross_validate(problem, sure, planned(3))
    assert learnt.held_out is not None
    found, right = len(learnt.held_out.sure), int(learnt.held_out.sure.sum())
    assert learnt.folds.learnt_aer == pytest.approx(1 - 2 * right / (found + len(sure.source)))
    assert (learnt.held_out.known_scores > 0).all()


@pytest.mark.parametrize("interrupt", [True, False])
@pytest.mark.parametrize("solutions", range(5))
def test_whatever_is_finished_is_kept(make_example: MakeExample, interrupt: bool, solutions: int) -> None:
    """Ended at the second audit of a solution, on all pairs or without one of three folds, or not at all."""
    problem, links = make_example()
    places: list[int | None] = []

    def callback(point: TracePoint, fold: int | None) -> bool | None:
        places.append(fold)
        if fold != (None, 1, 2, 3, 4)[solutions] or point.passes == 0:
            return None
        if interrupt:
            raise KeyboardInterrupt
        return False

    found = cross_validate(problem, links, planned(3), callback=callback)
    whole = cross_validate(problem, links, planned(3))
    assert [*dict.fromkeys(places)] == [None, 1, 2, 3][: solutions + 1]
    assert found.interrupted == (interrupt and solutions < 4)
    assert found.folds.finished_folds == max(0, solutions - 1)
    assert (found.folds.learnt_aer is not None) == (found.held_out is not None) == (solutions > 1)
    if solutions:
        assert found.result.w.tobytes() == whole.result.w.tobytes()
    else:
        assert [point.passes for point in found.result.trace] == [0, 1]
    if solutions == 4:
        assert replace(found.folds, fold_seconds=0) == replace(whole.folds, fold_seconds=0)


def test_ctrl_c_before_the_first_audit_leaves_nothing(
    make_example: MakeExample, monkeypatch: pytest.MonkeyPatch
) -> None:
    def audit(self: Block, problem: BlockProblem, state: Any) -> Audit:
        raise KeyboardInterrupt

    monkeypatch.setattr(Block, "audit", audit)
    with pytest.raises(KeyboardInterrupt):
        cross_validate(*make_example(), planned())


def test_weights_that_are_not_finite_say_what_to_do(make_example: MakeExample, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Block.audit

    def audit(self: Block, problem: BlockProblem, state: Any) -> Audit:
        found = real(self, problem, state)
        return replace(found, w=found.w * np.nan) if problem.n_blocks < 20 else found  # where some are held out

    monkeypatch.setattr(Block, "audit", audit)
    with pytest.raises(SettingError, match=r"λ 1: .*raise the regularization"):
        cross_validate(*make_example(), planned(3))


@pytest.mark.parametrize("memory", [0, 1 << 30])
def test_a_part_is_the_problem_of_its_pairs(make_example: MakeExample, memory: int) -> None:
    problem, links = make_example()
    pairs = [17, 3, 4, 11]
    part = problem.take(np.array(pairs), memory=memory)
    alone = MatchingProblem.from_links(
        subset(problem.edges, pairs), links.take(np.array(pairs)), regularization=1.0, costs=Costs(possible=0.0)
    )
    assert (isinstance(part.edges.features, np.memmap), part.n_blocks) == (memory == 0, 4)
    for ours, theirs in (
        (part.edges.features, alone.edges.features),
        (part.edges.lists.offsets, alone.edges.lists.offsets),
        (part.labels, alone.labels),
        (part.gold, alone.gold),
        (part.target_costs, alone.target_costs),
    ):
        np.testing.assert_array_equal(ours, theirs)
    w = np.random.default_rng(0).standard_normal(problem.n_features)
    ours, theirs = part.corners(np.array([2, 0]), w), problem.corners(np.array([4, 17]), w)
    np.testing.assert_array_equal(ours.psi, theirs.psi)


def test_folds_take_one_more_copy_of_the_features_or_none(make_problem: Callable[..., MatchingProblem]) -> None:
    problem = make_problem(n=40, d=32, largest=60)
    size = problem.edges.features.nbytes
    links = Links.from_pairs([PairLinks(frozenset({(0, 0)}))] * 40)

    def learn(memory: int) -> CrossValidation:
        return cross_validate(problem, links, planned(4), stop=Stop(passes=1), memory=memory)

    def peak(memory: int) -> float:
        tracemalloc.start()
        learn(memory)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most / size

    in_memory, on_disk = learn(2 * size), learn(0)  # and what is compiled is loaded
    assert in_memory.folds.learnt_aer == on_disk.folds.learnt_aer
    assert 0.9 < peak(2 * size) < 1.3
    assert peak(2 * size - 1) < 0.3
