"""Figures of the comparison of solvers, from the audits that bench_solvers.py writes.

python scripts/plot_solvers.py solvers.jsonl [--out solvers]
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

AXES = {"passes": "effective passes", "seconds": "seconds of solving"}


def draw(records: Sequence[Mapping[str, Any]], out: Path) -> list[Path]:
    """A figure for each λ: relative primal suboptimality against passes and seconds, each solver's band of seeds."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    written = []
    labels = list(dict.fromkeys(record["solver"] for record in records))
    colours = {label: plt.get_cmap("tab20")(i % 20) for i, label in enumerate(labels)}
    for regularization in dict.fromkeys(record["regularization"] for record in records):
        figure, panels = plt.subplots(1, len(AXES), figsize=(14, 6), sharey=True, layout="constrained")
        runs: dict[str, dict[int, list[Mapping[str, Any]]]] = defaultdict(lambda: defaultdict(list))
        for record in records:
            if record["regularization"] == regularization:
                runs[record["solver"]][record["seed"]].append(record)
        for axis, panel in zip(AXES, panels, strict=True):
            for label, seeds in runs.items():
                grid, low, middle, high = band(list(seeds.values()), axis)
                panel.plot(grid, middle, color=colours[label], label=label)
                panel.fill_between(grid, low, high, color=colours[label], alpha=0.2, linewidth=0)
            panel.set(xscale="log", yscale="log", xlabel=AXES[axis])
            panel.grid(alpha=0.3)
        panels[0].set_ylabel("primal suboptimality, relative")
        panels[0].set_ylim(1e-7, 10)
        figure.suptitle(f"{records[0]['problem']}, λ = {regularization:g}")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize="small")
        for suffix in (".png", ".svg"):
            path = out.with_name(f"{out.name}-{regularization:g}{suffix}")
            figure.savefig(path, dpi=120)
            written.append(path)
        plt.close(figure)
    return written


def band(
    runs: Sequence[Sequence[Mapping[str, Any]]], axis: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """On a common grid: the least, median and greatest over the seeds of the best value seen so far."""
    starts = [next((r[axis] for r in run if r[axis] > 0), 1e-3) for run in runs]
    grid = np.geomspace(min(starts), max(max(r[axis] for r in run) for run in runs) + 1e-12, 200)
    values = []
    for run in runs:
        places = np.array([r[axis] for r in run])
        best = np.minimum.accumulate(np.maximum([r["suboptimality"] for r in run], 1e-12))
        values.append(best[np.maximum(np.searchsorted(places, grid, side="right") - 1, 0)])
    return grid, np.min(values, axis=0), np.median(values, axis=0), np.max(values, axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("audits", type=Path)
    parser.add_argument("--out", type=Path, default=Path("solvers"))
    options = parser.parse_args()
    records = [json.loads(line) for line in options.audits.read_text().splitlines()]
    for path in draw(records, options.out):
        print(f"figure written to {path}")


if __name__ == "__main__":
    main()
