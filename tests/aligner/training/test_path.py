"""The regularisation path against solutions from nothing, and cross-validation against leaving out by hand."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from solver_configurations import Configuration, knowing

from aligner.errors import SettingError
from aligner.model.decoding import decode_edges
from aligner.model.scoring import LinearScorer
from aligner.problem import BlockProblem
from aligner.report.evaluation import count, scores
from aligner.solvers import SOLVERS, Solver, Stop, TracePoint, make_solver, solve
from aligner.solvers.block import Block
from aligner.solvers.records import Audit, DualPoint
from aligner.svm.hinge import MatchingProblem
from aligner.training.path import Place, RegularizationPath, Resumable, follow_path, scorer_of
from aligner.training.settings import Plan, geometric_path
from corpora.alignment import Links, PairLinks
from corpora.ragged import Lists
from features.table import EdgeTable

Example = tuple[MatchingProblem, Links]
MakeExample = Callable[..., Example]


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
        return MatchingProblem.from_links(edges, links, regularization=1.0, possible_cost=0.0), links

    return make


@dataclass(frozen=True)
class Cold:
    """A solver that cannot resume."""

    solver: Solver[Any, Any]

    @property
    def signature(self) -> str:
        return self.solver.signature

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> Any:
        return self.solver.init(problem, rng)

    def sweep(self, problem: BlockProblem, state: Any) -> int:
        return self.solver.sweep(problem, state)

    def audit(self, problem: BlockProblem, state: Any) -> Audit:
        return self.solver.audit(problem, state)

    def dual_point(self, problem: BlockProblem, state: Any) -> DualPoint | None:
        return self.solver.dual_point(problem, state)


def planned(solver: Solver[Any, Any], regularizations: tuple[float, ...], folds: int = 0, **costs: Any) -> Plan:
    return Plan("hinge", solver, regularizations, folds=folds, **costs)


def total_passes(path: RegularizationPath) -> float:
    return sum(row.passes for row in path.rows)


def subset(edges: EdgeTable, pairs: list[int]) -> EdgeTable:
    return EdgeTable(np.concatenate([edges[i] for i in pairs]), Lists.of_all(edges.lists.shapes[pairs]), edges.names)


PATH = geometric_path(10, 0.01, 7)
TIGHT = Stop(gap=1e-6, passes=2000)
FAST = make_solver("bcfw-pairwise")


def test_a_path_is_geometric() -> None:
    path = geometric_path(3, 1e-3, 11)
    assert (len(path), path[0], path[-1]) == (11, 3, 1e-3)
    ratios = [later / earlier for earlier, later in pairwise(path)]
    np.testing.assert_allclose(ratios, ratios[0])


@pytest.mark.parametrize(
    "path", [(1, 1, 3), (0.1, 1, 3), (1, 0, 3), (1, -1, 3), (np.inf, 1, 3), (1, np.nan, 3), (1, 0.1, 1), (1, 0.1, -2)]
)
def test_paths_that_cannot_be(path: tuple[float, float, int]) -> None:
    with pytest.raises(SettingError, match="LARGEST:SMALLEST:N"):
        geometric_path(*path)


@pytest.mark.slow
@pytest.mark.parametrize("solver", [Block(), FAST, make_solver("bcfw-gap")], ids=["bcfw", "bcfw-pairwise", "bcfw-gap"])
def test_warm_starts_reach_the_same_optima(make_example: MakeExample, solver: Solver[Any, Any]) -> None:
    problem, links = make_example(n=60)
    assert isinstance(solver, Resumable)
    stop = Stop(gap=1e-4, passes=20_000, audit_growth=1.0)
    warm, cold = (follow_path(problem, links, planned(each, PATH), stop=stop) for each in (solver, Cold(solver)))
    for ours, theirs in zip(warm.results, cold.results, strict=True):
        points = [*ours.trace, *theirs.trace]
        assert ours.trace[-1].relative_gap <= stop.gap
        assert max(p.dual for p in points) <= min(p.primal for p in points) + 1e-12  # all are certificates
    if solver != make_solver("bcfw-gap"):  # in gap order they may take more, which differs from processor to processor
        assert total_passes(warm) < total_passes(cold)


MATCHINGS = knowing([Configuration(name, ()) for name in SOLVERS], "matchings")


@pytest.mark.parametrize("name", [one.name for one in MATCHINGS if isinstance(one.solver, Resumable)])
def test_resuming_keeps_the_dual_point(make_example: MakeExample, name: str) -> None:
    """D = ℓ - λ/2 ‖w‖² with the same ℓ, and w in proportion to 1/λ."""
    problem, links = make_example()
    solver = make_solver(name)
    first, second = follow_path(problem, links, planned(solver, (1.0, 0.2)), stop=Stop(gap=0.0, passes=3)).results
    last: list[np.ndarray] = []
    solve(problem, solver, stop=Stop(gap=0.0, passes=3), callback=lambda _, w: last.append(w))
    norm = scorer_of(solver, problem, last[-1]).norm
    loss = first.trace[-1].dual + 0.5 * norm**2
    assert norm > 0
    assert second.trace[0].passes == 0
    assert second.trace[0].dual == pytest.approx(loss - 0.5 * 0.2 * (5 * norm) ** 2, rel=1e-9)
    assert second.trace[-1].gap >= -1e-12


def test_without_resuming_each_solution_is_of_its_own(make_example: MakeExample) -> None:
    problem, links = make_example()
    path = follow_path(problem, links, planned(Cold(Block()), PATH), seed=5)
    for regularization, result in zip(PATH, path.results, strict=True):
        alone = solve(replace(problem, regularization=regularization), Block(), seed=5)
        assert result.w.tobytes() == alone.w.tobytes()


def test_without_folds_the_last_is_chosen(make_example: MakeExample) -> None:
    problem, links = make_example()
    path = follow_path(problem, links, planned(Block(), PATH))
    assert (path.chosen, path.finished_folds, path.interrupted) == (len(PATH) - 1, 0, False)
    assert [row.regularization for row in path.rows] == [*PATH]
    for row, result in zip(path.rows, path.results, strict=True):
        assert row.norm == pytest.approx(np.linalg.norm(result.w))
        assert (row.passes, row.relative_gap) == (result.trace[-1].passes, result.trace[-1].relative_gap)
        assert row.aer is row.standard_error is row.fold_gap is None
    norms = [row.norm for row in path.rows]
    assert all(earlier <= later * (1 + 1e-2) for earlier, later in pairwise(norms))  # as they do at the optima


@pytest.mark.slow
def test_cross_validation_is_leaving_out_by_hand(make_example: MakeExample) -> None:
    """With as many folds as pairs the folds are known: each pair judged by what is learnt from all others."""
    problem, links = make_example(n=14, d=3, largest=4)
    path = (1.0, 0.1)
    found = follow_path(problem, links, planned(FAST, path, len(links)), stop=TIGHT)
    projected = 0
    for row in found.rows:
        tables = []
        for i in range(len(links)):
            others = [k for k in range(len(links)) if k != i]
            rest = MatchingProblem.from_links(
                subset(problem.edges, others), links.take(np.array(others)), regularization=row.regularization,
                possible_cost=0.0,
            )  # fmt: skip
            w = solve(rest, FAST, stop=TIGHT).w
            (alignment,) = decode_edges(subset(problem.edges, [i]), LinearScorer(w))
            answer = Links.from_pairs([PairLinks(frozenset(alignment.links), frozenset())])
            tables.append(count(links.take(np.array([i])), answer))
            projected += int(tables[-1][0, 1]) != int((problem.labels[problem.edges.lists.pairs == i] == 2).sum())
        counts = np.concatenate(tables)
        assert row.aer == pytest.approx(float(scores(counts.sum(axis=0)).aer), abs=1e-12)
        # The standard error of a ratio of sums, by its linearisation.
        a, s, _, a_and_s, a_and_p = counts.T
        errors = (a + s - a_and_s - a_and_p) - row.aer * (a + s)
        linear = np.sqrt((errors**2).sum()) / (a + s).sum()
        assert row.standard_error == pytest.approx(linear, rel=0.35)
    assert projected, "gold is not only what can be learnt"
    aers = [row.aer for row in found.rows]
    assert found.chosen == aers.index(min(aers))


def test_folds_are_of_the_seed_and_leave_every_pair_out_once(make_example: MakeExample) -> None:
    problem, links = make_example(n=23)
    first, again, other = (follow_path(problem, links, planned(Block(), PATH[:3], 4), seed=s) for s in (1, 1, 2))
    assert first.rows == tuple(replace(a, seconds=f.seconds, fold_seconds=f.fold_seconds)
                               for f, a in zip(first.rows, again.rows, strict=True))  # fmt: skip
    assert [row.aer for row in first.rows] != [row.aer for row in other.rows]
    assert first.finished_folds == 4


def test_held_out_links_are_those_that_the_error_is_of(make_example: MakeExample) -> None:
    problem, links = make_example()
    sure = Links.from_pairs(PairLinks(pair.sure, frozenset()) for pair in links)  # so that AER is 1 - F1
    path = follow_path(problem, sure, planned(Block(), PATH, 3))
    assert path.held_out is not None
    found, right = len(path.held_out), int(path.held_out.correct.sum())
    assert path.rows[path.chosen].aer == pytest.approx(1 - 2 * right / (found + len(sure.source)))
    assert (path.held_out.scores > 0).all()
    assert follow_path(problem, sure, planned(Block(), PATH)).held_out is None


def test_links_that_a_feature_tells_are_found_without_error(make_problem: Callable[..., MatchingProblem]) -> None:
    edges = make_problem(n=30).edges
    links = Links.from_pairs(
        PairLinks(frozenset({(i % J, i % K)}), frozenset()) for i, (J, K) in enumerate(edges.lists.shapes)
    )
    edges.features[:, 0] = -1
    for i, pair in enumerate(links):
        for j, k in pair.sure:
            edges[i][j * edges.lists.shapes[i, 1] + k, 0] = 1
    problem = MatchingProblem.from_links(edges, links, regularization=1.0)
    (row,) = follow_path(problem, links, planned(Block(), (1e-3,), 4)).rows
    assert row.aer == row.standard_error == 0


@pytest.mark.slow
def test_the_lowest_error_is_chosen_and_of_equal_ones_the_largest(make_example: MakeExample) -> None:
    chosen = set()
    for seed in range(4):
        path = follow_path(*make_example(seed=seed), planned(Block(), PATH, 3))
        errors = [row.aer for row in path.rows if row.aer is not None]
        assert path.chosen == errors.index(min(errors))
        chosen.add(path.chosen)
    assert len(chosen) > 1
    same = follow_path(*make_example(), planned(Cold(Block()), (0.1, 0.1 * (1 - 1e-12)), 3))
    assert same.rows[0].aer == same.rows[1].aer
    assert same.chosen == 0


@pytest.mark.parametrize("interrupt", [True, False])
@pytest.mark.parametrize("solutions", range(1, 9))
def test_whatever_is_finished_is_kept(make_example: MakeExample, interrupt: bool, solutions: int) -> None:
    """Two λ, on all pairs and on three folds, ended at the second audit of the next solution."""
    problem, links = make_example()
    plan = planned(Block(), (1.0, 0.1), 3)
    done: list[int] = []
    audits: list[Place] = []

    def callback(point: TracePoint, place: Place) -> bool | None:
        audits.append(place)
        if len(done) < solutions or point.passes == 0:
            return None
        if interrupt:
            raise KeyboardInterrupt
        return False

    found = follow_path(problem, links, plan, callback=callback, on_solution=done.append)
    whole = follow_path(problem, links, plan)
    assert (
        list(dict.fromkeys(audits))
        == [Place(regularization, fold) for fold in (None, 1, 2, 3) for regularization in plan.regularizations][
            : solutions + 1
        ]
    )
    ended = solutions < 8
    assert found.interrupted == (ended and interrupt)
    assert found.finished_folds == max(0, solutions // 2 - 1)
    assert len(found.results) == 2
    assert [row.aer is not None for row in found.rows] == [solutions >= 4] * 2
    if solutions >= 2:
        for ours, theirs in zip(found.results, whole.results, strict=True):
            assert ours.w.tobytes() == theirs.w.tobytes()
    else:
        assert found.chosen == 1
        assert found.results[1].trace == found.results[1].trace[:2]
    if not ended:
        assert found.chosen == whole.chosen
        assert done == [*range(1, 9)]


def test_ctrl_c_before_the_first_audit_leaves_nothing(make_example: MakeExample) -> None:
    @dataclass(frozen=True)
    class Impatient(Cold):
        def audit(self, problem: BlockProblem, state: Any) -> Audit:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        follow_path(*make_example(), planned(Impatient(Block()), PATH))


def test_weights_that_are_not_finite_say_where(make_example: MakeExample) -> None:
    @dataclass(frozen=True)
    class Broken(Cold):
        def audit(self, problem: BlockProblem, state: Any) -> Audit:
            audit = super().audit(problem, state)
            return replace(audit, w=audit.w * np.nan) if problem.regularization < 0.5 else audit

    with pytest.raises(SettingError, match=r"λ 0\.1: .*raise the regularization"):
        follow_path(*make_example(), planned(Broken(Block()), (1.0, 0.1)))


@pytest.mark.parametrize("memory", [0, 1 << 30])
def test_a_part_is_the_problem_of_its_pairs(make_example: MakeExample, memory: int) -> None:
    problem, links = make_example()
    pairs = [17, 3, 4, 11]
    part = problem.take(np.array(pairs), memory=memory)
    alone = MatchingProblem.from_links(
        subset(problem.edges, pairs), links.take(np.array(pairs)), regularization=1.0, possible_cost=0.0
    )
    assert (isinstance(part.edges.features, np.memmap), part.n_blocks) == (memory == 0, 4)
    for ours, theirs in (
        (part.edges.features, alone.edges.features), (part.edges.lists.offsets, alone.edges.lists.offsets),
        (part.labels, alone.labels), (part.gold, alone.gold), (part.target_costs, alone.target_costs),
    ):  # fmt: skip
        np.testing.assert_array_equal(ours, theirs)
    w = np.random.default_rng(0).standard_normal(problem.n_features)
    ours, theirs = part.corners(np.array([2, 0]), w), problem.corners(np.array([4, 17]), w)
    np.testing.assert_array_equal(ours.psi, theirs.psi)


def test_folds_take_one_more_copy_of_the_features_or_none(make_problem: Callable[..., MatchingProblem]) -> None:
    problem = make_problem(n=40, d=32, largest=60)
    size = problem.edges.features.nbytes
    links = Links.from_pairs([PairLinks(frozenset({(0, 0)}), frozenset())] * 40)

    def follow(memory: int) -> RegularizationPath:
        return follow_path(problem, links, planned(Block(), (1.0,), 4), stop=Stop(passes=1), memory=memory)

    def peak(memory: int) -> float:
        tracemalloc.start()
        follow(memory)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most / size

    in_memory, on_disk = follow(2 * size), follow(0)  # and what is compiled is loaded
    assert in_memory.rows[0].aer == on_disk.rows[0].aer
    assert 0.9 < peak(2 * size) < 1.3
    assert peak(2 * size - 1) < 0.3
