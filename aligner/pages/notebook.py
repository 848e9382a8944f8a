"""Drawings in notebooks: those of the report, in a frame that shares nothing with the notebook."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from aligner.pages.assets import render
from corpora.links import Link, PairLinks


@dataclass(frozen=True)
class Drawing:
    """The links of one pair; a notebook draws it if it is the last value of a cell.

    source, target: the words.  links: (source, target) positions; those of an `Alignment` have scores.
    gold: to compare the links with.  view: lines or matrix.
    """

    source: Sequence[str]
    target: Sequence[str]
    links: Iterable[Link]
    gold: PairLinks | None = None
    view: str = "lines"

    def _repr_html_(self) -> str:
        links = list(self.links)
        scores = [min(score, 1.0) for score in getattr(self.links, "scores", ())] or [None] * len(links)
        gold = self.gold and [
            [j, k, int(link in self.gold.sure)] for link in self.gold.sure | self.gold.possible for j, k in [link]
        ]
        pair = {
            "source": list(self.source),
            "target": list(self.target),
            "gold": gold,
            "systems": [[[j, k, score] for (j, k), score in zip(links, scores, strict=True)]],
        }
        height = 320 if self.view == "lines" else min(220 + 26 * len(self.source), 700)
        return _frame("cell-picture.js", {"pair": pair, "view": self.view}, "Links of a sentence pair", height)


def draw_positions(alignment: Collection[Link]) -> str:
    """The HTML of an alignment whose words are not known: a matrix of their numbers."""
    sides = zip(*alignment, strict=True) if alignment else ((), ())
    source, target = ([f"{number}" for number in range(1 + max(side, default=-1))] for side in sides)
    return Drawing(source, target, alignment, view="matrix")._repr_html_()


def draw_evaluation(evaluation: Mapping[str, Any], title: str) -> str:
    """The HTML of an `Evaluation`, as JSON values: its figures, and AER by sentence length."""
    return _frame("cell-figures.js", evaluation, title, 520)


def _frame(module: str, data: Mapping[str, Any], title: str, height: int) -> str:
    page = render("notebook.html", data, module=module, styles=["drawing.css"], title=title)
    style = f"width: 100%; height: {height}px; border: 0; resize: vertical"
    return f'<iframe sandbox="allow-scripts" title="{escape(title)}" style="{style}" srcdoc="{escape(page)}"></iframe>'
