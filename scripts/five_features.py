"""Word alignment with five features by two algorithms and an LP oracle: a table and a figure of docs/solvers.md.

    python scripts/five_features.py --write

Europarl with the links of GIZA++, German-English, as in the student report that docs/seeds.md names, §3.1: Dice, the
difference of relative positions, its root and its square, and the Hamming distance of two words; the loss counts wrong
edges. Pairs with more than `--longest` words on a side are left out: to cut them, where no link crosses, one needs the
links, which new text does not have. Block-coordinate Frank-Wolfe calls the oracle, here a linear programme, for each
pair; dual extragradient projects instead, and calls it for its certificate alone.
"""

from __future__ import annotations

import time
from importlib.util import find_spec
from typing import Any

import numpy as np
from tables import ROOT, markdown, parser_of, publish

PAGE, IMAGE = "docs/solvers.md", ROOT / "docs" / "images" / "solvers-five-features.png"
FEATURES = "dice", "position", "position_root", "position_square", "hamming"
RUNS: dict[str, tuple[str, dict[str, Any], str]] = {
    "BCFW, LP oracle": ("bcfw", {}, "lp"),
    "BCFW, assignment oracle": ("bcfw", {}, "assignment"),
    "dual extragradient": ("extragradient", {}, "assignment"),
    "dual extragradient, entropic": ("extragradient", {"projection": "entropic"}, "assignment"),
    "dual extragradient, restarts": ("extragradient", {"restarts": True}, "assignment"),
}


def problems(options: Any) -> tuple[Any, Any]:
    """A function that makes the training problem with an oracle, and one that measures AER on the held-out pairs."""
    from gold import aer

    from aligner.losses.hinge import Costs, MatchingProblem
    from aligner.model.decoding import decode_edges
    from corpora.bitext import read_bitext
    from corpora.link_files import read_links
    from corpora.normalize import Normalizer
    from corpora.readers import open_corpus
    from features.extractor import FeatureSet
    from features.statistics import CorpusStatistics
    from features.table import EdgeTable

    folder = options.data / "comtrans-de-en"
    text = read_bitext([open_corpus(str(folder / "train"), source="de", target="en")], Normalizer(), Normalizer())
    links = read_links(folder / "train.giza.gz")
    fit = np.flatnonzero(np.maximum(text.source.lengths, text.target.lengths) <= options.longest)
    chosen = fit[: options.pairs + options.held_out]
    features = FeatureSet(("association", "position", "orthography"), candidates="all")
    every = features.extract(text.take(chosen), CorpusStatistics.from_bitext(text))
    columns = [every.names.index(name) for name in FEATURES]
    edges = EdgeTable(np.ascontiguousarray(every.features[:, columns]), every.lists, FEATURES)
    train, test = np.split(np.arange(len(chosen)), [options.pairs])
    held_out, gold = edges.take(test), links.take(chosen[test])

    def make(oracle: str) -> Any:
        costs = Costs(1.0, 1.0, 0.0)
        given = links.take(chosen[train])
        return MatchingProblem.from_links(edges.take(train), given, regularization=0.01, costs=costs, oracle=oracle)

    def error(w: np.ndarray) -> float:
        return aer(gold, decode_edges(held_out, w).links)

    return make, error


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--pairs", type=int, default=1000, help="to train on")
    parser.add_argument("--held-out", type=int, default=500, help="pairs to judge by")
    parser.add_argument("--longest", type=int, default=25, help="words of a side, at most")
    parser.add_argument("--passes", type=int, default=100)
    options = parser.parse_args()
    from aligner.solvers import Stop, make_solver, solve

    make, error = problems(options)
    rows, traces = [], {}
    for name, (solver, chosen, oracle) in RUNS.items():
        start = time.process_time()
        stop = Stop(gap=1e-3, passes=options.passes, audit_growth=1.5)
        result = solve(make(oracle), make_solver(solver, **chosen), stop=stop, measure=error)
        traces[name], last = result.trace, result.trace[-1]
        figures = [f"{last.passes:g}", f"{last.seconds:.2f}", f"{result.primal:.4f}", f"{last.relative_gap:.1e}"]
        weights = ", ".join(f"{weight:.2f}" for weight in result.w)
        rows.append([name, *figures, f"{last.measured:.2f}", weights])
        print(f"{name}: {time.process_time() - start:.0f} CPU seconds", flush=True)
    header = [
        f"{options.pairs:,} pairs",
        "passes",
        "s",
        "primal",
        "gap",
        "AER held out",
        "weights of " + ", ".join(FEATURES),
    ]
    publish("five-features", markdown(header, rows), pages=[PAGE], write=options.write)
    if options.write and find_spec("matplotlib") is not None:
        draw(traces)


def draw(traces: dict[str, Any]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for name, trace in traces.items():
        seconds = [point.seconds for point in trace[1:]]
        axes[0].loglog(seconds, [point.relative_gap for point in trace[1:]], label=name)
        axes[1].semilogx(seconds, [point.measured for point in trace[1:]])
    for place, label in zip(axes, ("certified gap, relative", "AER of held-out pairs"), strict=True):
        place.set(xlabel="seconds of solving", ylabel=label)
        place.grid(alpha=0.25, linewidth=0.5)
    figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=8)
    figure.savefig(IMAGE, dpi=90)


if __name__ == "__main__":
    main()
