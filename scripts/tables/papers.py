"""The solvers of both papers on what `aligner train` solves: how soon each is how far from the optimum, and its AER."""

import time
from pathlib import Path
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
from gold import SETS, Labelled, aer, text_with_gold
from solver_figures import style
from solver_problems import chain_field, letters

from aligner.model.decoding import decode_edges
from aligner.solvers import Result, Stop, make_solver, solve
from aligner.training.cross_validate import edge_weights
from aligner.training.settings import LearnSettings, plan
from features.extractor import FeatureSet
from features.statistics import CorpusStatistics
from tables import DATA, IMAGES, markdown, pyplot, table

GAPS = 0.1, 0.01, 0.001
SOLVERS: dict[str, tuple[str, dict[str, object]]] = {
    "bcfw": ("bcfw", {}),
    "bcfw-away": ("bcfw-away", {}),
    "extragradient": ("extragradient", {}),
    "extragradient, restarts": ("extragradient", {"restarts": True}),
    "extragradient, entropic": ("extragradient", {"projection": "entropic"}),
}


@table("papers", "letters-gap")
def papers(
    data: Path = DATA,
    pairs: int = 10_000,
    passes: int = 3000,
    seconds: float = 60.0,
    longest: float = 600.0,
    write: bool = False,
) -> dict[str, str]:
    """Seconds and passes to a gap, and AER there, of the hinge loss of the labelled Hansards at λ 0.1.

    Statistics are of the first pairs of the Hansards; AER is of gold-dev. Extragradient keeps ‖w‖ within that of the
    optimum, and its gap is that within the ball. Then how long letters of OCR take at λ = 1/n to a gap of 1 %.
    pairs: counted.  passes: of a solver, at most.  seconds: likewise.  longest: seconds of the letters.
    """
    gold, dev = SETS["hansards"], SETS["hansards, dev"]
    labelled, judged = Labelled.open(data, gold), Labelled.open(data, dev)
    text = text_with_gold(gold.corpus(data, "hansards/train"), pairs, labelled.corpora + judged.corpora)
    statistics, features = CorpusStatistics.from_bitext(text), FeatureSet()
    planned = plan(LearnSettings(loss="hinge"), len(labelled.links))
    problem = planned.problem(features.extract(labelled.bitext, statistics), labelled.links)
    edges = features.extract(judged.bitext, statistics)

    def error(w: npt.NDArray[np.float64]) -> float:
        found = decode_edges(edges, edge_weights(problem, w), problem.link_rewards(w))
        return aer(judged.links, found.links)

    best = solve(problem, "bcfw-pairwise", gap=1e-6, passes=100_000)
    radius, found = float(np.linalg.norm(best.w)), {}
    for name, (solver, options) in SOLVERS.items():
        given = {**options, "radius": radius} if solver == "extragradient" else options
        stop = Stop(gap=GAPS[-1], passes=passes, seconds=seconds, audit_growth=1.2)
        with patch("time.perf_counter", time.process_time):
            found[name] = solve(problem, make_solver(solver, **given), stop=stop, measure=error)
        print(name, found[name].trace[-1], flush=True)
    if write:
        draw(found)
    rows = [[f"`{name}`", *(reached(result, gap) for gap in GAPS)] for name, result in found.items()]
    at = [f"gap {gap:g}" for gap in GAPS]
    rows.append(["the optimum", *[""] * (len(GAPS) - 1), f"AER {error(best.w):.1f}"])
    compared = markdown([f"{len(labelled.links)} labelled pairs", *at], rows)
    return {"papers": compared, "letters-gap": of_letters(data, longest)}


def of_letters(data: Path, seconds: float) -> str:
    """How long the last half's average takes to a gap of 1 % at λ = 1/n, which [LJSP13 Fig. 1] does not reach."""
    field = chain_field("letters", "Letters of OCR", *letters(data))
    problem = field.at(1.0 / field.at(1.0).n_blocks)
    stop = Stop(gap=0.01, passes=10**6, seconds=seconds, audit_growth=1.2)
    with patch("time.perf_counter", time.process_time):
        end = solve(problem, make_solver("bcfw", average="suffix"), stop=stop, measure=field.error).trace[-1]
    return (
        f"{field.about}, at λ = 1/n: `bcfw, average suffix` certifies a gap of {end.relative_gap:.2%} after "
        f"{end.passes:,.0f} passes in {end.seconds:.0f} CPU seconds; {end.measured:.1%} of held-out letters are wrong."
    )


def reached(result: Result, gap: float) -> str:
    """CPU seconds, passes and AER at the first audit below a relative gap."""
    for point in result.trace:
        if point.relative_gap <= gap:
            return f"{point.seconds:.2g} s, {point.passes:,.0f} passes, AER {point.measured:.1f}"
    return f"– ({result.trace[-1].relative_gap:.2g} after {result.trace[-1].seconds:.0f} s)"


def draw(found: dict[str, Result]) -> None:
    figure, axes = pyplot().subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for name, result in found.items():
        points = [point for point in result.trace if point.seconds > 0]
        seconds = [point.seconds for point in points]
        axes[0].loglog(seconds, [point.relative_gap for point in points], label=name, **style(name))
        axes[1].semilogx(seconds, [point.measured for point in points], **style(name))
    for place, label in zip(axes, ("certified gap, relative", "AER of gold-dev, %"), strict=True):
        place.set(xlabel="CPU seconds of solving", ylabel=label)
    axes[1].set_ylim(0, 15)
    figure.legend(loc="outside upper center", ncols=5, frameon=False, fontsize=8)
    figure.savefig(IMAGES / "papers.png", dpi=90)
