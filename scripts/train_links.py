"""Learn what other aligners' links are worth: the default weights of `--links`, and those of `aligner combine`.

    python scripts/train_links.py --fast-align BINARY --cache FOLDER --write \
        --weights aligner/model/links_weights.json

Each gold set of gold.py, under one corpus, is aligned by both programs; of the Hansards there are published links of
GIZA++ and of two neural aligners, too. The links of one aligner, or of several, become features beside the default
weights learnt without the set, which stay as they are: so an aligner that says nothing changes nothing. The weights of
a kind of aligner are those of a logistic regression of gold on these features, each set weighted alike. Those of a
consensus are of one on the edges that the systems disagree on. Figures are of weights learnt without the set.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from gold import F64, REWARDS, View, aer, default_weights, view
from gold import OFFSET as SHIFT
from gold_sets import GOLD_SETS
from peers import Text, directions, run_eflomal, run_fast_align
from tables import markdown, parser_of, publish

from aligner._version import __version__
from aligner.model.consensus import NAMES, agreement, decode
from aligner.model.decoding import best_alignments
from corpora.conversion import symmetrize_files
from corpora.corpus import Corpus
from corpora.formats.pharaoh import write_pharaoh
from corpora.link_files import read_links
from corpora.links import Links
from corpora.ragged import Lists
from corpora.symmetrize import symmetrize
from features.extractor import FeatureSet

CORPORA = {"hansards": 10_000, "europarl": 10_000, "en-es": 2_500, "fr-en-stories": 3_000, "cs-en": 2_500}
"""Pairs of the corpus of each gold set."""

PUBLISHED = {
    "giza.forward": "giza-train.forward", "giza.reverse": "giza-train.reverse", "giza": "giza-train.grow-diag-final",
    "cross-align": "neural-train.cross-align", "awesome-align": "neural-train.awesome-align",
}  # fmt: skip
"""Links of the 100 pairs of gold-train of the Hansards."""

NEURAL = "cross-align", "awesome-align"
ALONE = ("fast_align",), ("eflomal",), ("fast_align", "eflomal")
WITH_PUBLISHED = (
    ("cross-align",), ("awesome-align",), ("cross-align", "awesome-align"), ("giza",), ("cross-align", "giza"),
    ("awesome-align", "eflomal"), ("cross-align", "awesome-align", "giza"),
)  # fmt: skip
"""Aligners whose links are given together."""

COMBINED = (
    ("fast_align.forward", "fast_align.reverse"), ("eflomal.forward", "eflomal.reverse"), ("fast_align", "eflomal"),
    ("fast_align.forward", "fast_align.reverse", "eflomal"),
    ("fast_align.forward", "fast_align.reverse", "eflomal.forward", "eflomal.reverse"),
)  # fmt: skip
COMBINED_PUBLISHED = (
    ("giza.forward", "giza.reverse"), ("cross-align", "awesome-align"), ("cross-align", "giza"),
    ("cross-align", "awesome-align", "giza"), ("giza.forward", "giza.reverse", "cross-align", "awesome-align"),
)  # fmt: skip

OFFSET = 0.8
"""Added to the weight of doubt: logistic regression weighs a false link as much as a missed one, AER less."""
PRICE = -0.6
"""Of each further link of a word in a consensus."""
STRENGTH = 1.0
"""λ of the logistic regressions, where each gold set counts as `CASES` edges."""
CASES = 100_000.0


@dataclass(frozen=True, eq=False)
class Judged:
    """A gold set with the links of other aligners.  links: by the name of the aligner, of the first pairs at least."""

    gold: str
    view: View
    links: Mapping[str, Links]

    def systems(self, names: Sequence[str]) -> tuple[list[Links], Links]:
        """The links of some aligners, and gold, of the pairs that all of them have."""
        pairs = np.arange(min(len(self.links[name]) for name in names))
        return [self.links[name].take(pairs) for name in names], self.view.labelled.links.take(pairs)

    @cached_property
    def given(self) -> tuple[tuple[str, ...], ...]:
        return (*ALONE, *(WITH_PUBLISHED if "giza" in self.links else ()))

    @cached_property
    def combined(self) -> tuple[tuple[str, ...], ...]:
        return (*COMBINED, *(COMBINED_PUBLISHED if "giza" in self.links else ()))

    def columns(self, names: Sequence[str]) -> F64:
        """(E, 4) of every edge of these pairs: the columns of neural aligners, then of statistical ones, summed."""
        links, gold = self.systems(names)
        bitext = self.view.labelled.bitext.take(np.arange(len(gold)))
        features = FeatureSet((), links=tuple(names), candidates="all")
        found = features.extract(bitext, self.view.statistics, links=links).features.astype(np.float64)
        parts = found.reshape(len(found), len(names), -1)
        neural = np.array([name in NEURAL for name in names])
        return np.hstack([parts[:, neural].sum(axis=1), parts[:, ~neural].sum(axis=1)])


def judged(data: Path, cache: Path, fast_align: Path) -> list[Judged]:
    sets = []
    for name, pairs in CORPORA.items():
        (prefix,) = (prefix for prefix, size in GOLD_SETS[name].corpora if size == pairs)
        seen = view(data, name, prefix, pairs)
        files = aligned(cache / f"{name}.{pairs}", seen, GOLD_SETS[name].corpus(data, prefix), fast_align)
        if name == "hansards":
            files |= {system: data / "hansards" / file for system, file in PUBLISHED.items()}
        sets.append(Judged(name, seen, {system: read_links(file) for system, file in files.items()}))
        print(f"{name}: aligned", flush=True)
    return sets


def aligned(folder: Path, seen: View, corpus: Corpus, fast_align: Path) -> dict[str, Path]:
    """Files of the links of a gold set by both programs, together with its corpus; made once."""
    programs, n = ("fast_align", "eflomal"), len(seen.labelled.links)
    if not (folder / programs[-1]).exists():
        folder.mkdir(parents=True, exist_ok=True)
        texts = [line for part in seen.labelled.corpora for line in part.texts()]
        texts += islice(corpus.texts(), seen.pairs)
        lines = ([" ".join(side.decode().split()) for side in sides] for _, *sides in texts)
        written = Text.write(folder, lines, seen.labelled.links)
        run_fast_align(written, folder, fast_align)
        if run_eflomal(written, folder) is None:
            raise SystemExit("eflomal-align is needed")
        for program in programs:
            with (folder / program).open("wb") as file:
                grown = symmetrize_files(*directions(folder, program), "grow-diag-final-and")
                write_pharaoh(file, islice(grown, n))
            for direction in directions(folder, program):  # of the corpus no more is wanted
                direction.write_text("".join(direction.read_text().splitlines(keepends=True)[:n]))
    names = [file for program in programs for file in (folder / program, *directions(folder, program))]
    return {file.name: file for file in names}


def regression(parts: Sequence[tuple[F64, F64, F64, float]], columns: int) -> F64:
    """(d,) weights of a logistic regression by Newton steps.

    parts: (m, d) features, (m,) 1 of links, -1 of none and 0 of edges left out, (m,) known scores, and a weight.
    """
    w = np.zeros(columns)
    for _ in range(30):
        gradient, hessian = STRENGTH * w, STRENGTH * np.eye(columns)
        for features, signs, known, weight in parts:
            chosen = signs != 0
            part, share = features[chosen], CASES * weight / chosen.sum()
            p = 1.0 / (1.0 + np.exp(-(known[chosen] + part @ w)))
            gradient += share * (part.T @ (p - (signs[chosen] > 0)))
            hessian += share * ((part * (p * (1.0 - p))[:, None]).T @ part)
        step = np.linalg.solve(hessian, gradient)
        w -= step
        if np.abs(step).max() < 1e-5:
            break
    return w


def signs_of(lists: Lists, gold: Links) -> F64:
    """(E,) 1 of sure links, 0 of possible ones, -1 of others."""
    sets = list(gold)
    edges = zip(lists.pairs.tolist(), zip(lists.source.tolist(), lists.target.tolist(), strict=True), strict=True)
    return np.array([1.0 if e in sets[i].sure else 0.0 if e in sets[i].possible else -1.0 for i, e in edges])


def of_links(sets: Sequence[Judged]) -> tuple[F64, list[list[Any]]]:
    """(4,) weights of `Judged.columns`; for each set and statistical aligners: their AER, by default, and with links.

    What the neural ones are worth: `measure.py others`.
    """
    views = [one.view for one in sets]
    bias = SHIFT * (np.array(FeatureSet().names) == "bias")
    cases = []
    for number, one in enumerate(sets):
        of_set = np.eye(len(sets))[number]
        scores = one.view.edges.features @ default_weights(views, one.gold)
        shift = one.view.edges.features @ bias
        signs = signs_of(one.view.edges.lists, one.view.labelled.links)
        # How far off the default scores are of themselves is learnt without links, so as to be no merit of these.
        nothing = np.tile(np.append(np.zeros(4), of_set), (len(signs), 1)), signs, scores - shift, 1.0
        cases.append((one.gold, (), one.view.labelled.links, one.view.edges.lists, scores, nothing))
        for names in one.given:
            columns, gold = one.columns(names), one.systems(names)[1]
            lists = one.view.edges.lists.take(np.arange(len(gold)))
            known = scores[: len(columns)]
            columns = np.hstack([columns, np.tile(of_set, (len(columns), 1))])
            part = columns, signs[: len(columns)], known - shift[: len(columns)], 1.0 / len(one.given)
            cases.append((one.gold, names, gold, lists, known, part))
    rows = []
    for one in sets:
        w = regression([case[-1] for case in cases if case[0] != one.gold], 4 + len(sets))[:4]
        for name, names, gold, lists, known, (columns, *_) in cases:
            if name == one.gold and names and not set(names) & set(NEURAL):  # there are no others to learn from
                scores = known, known + columns[:, :4] @ w
                found = [f"{aer(gold, best_alignments(known, lists, REWARDS).links):.2f}" for known in scores]
                alone = [f"{aer(gold, links):.2f}" for links in one.systems(names)[0]]
                rows.append([name, ", ".join(names), ", ".join(alone), *found])
    return regression([case[-1] for case in cases], 4 + len(sets))[:4], rows


def of_consensus(sets: Sequence[Judged]) -> tuple[F64, list[list[Any]]]:
    """(3,) weights of `consensus.NAMES`, and for each set and systems: AER of others' ways, and of the consensus."""
    doubt = OFFSET * (np.array(NAMES) == "doubt")
    cases = []
    for one in sets:
        for names in one.combined:
            systems, gold = one.systems(names)
            lists, found = agreement(systems)
            signs = np.where(found[:, 0] < 1.0, signs_of(lists, gold), 0.0)
            part = found, signs, np.zeros(len(found)), 1.0 / len(one.combined)
            cases.append((one.gold, names, gold, systems, lists, part))
    rows = []
    for one in sets:
        w = doubt + regression([case[-1] for case in cases if case[0] != one.gold], len(NAMES))
        for name, names, gold, systems, lists, (found, *_) in cases:
            if name == one.gold:
                ours = decode(lists, found, w, PRICE)
                others = [*by_votes(systems), ours]
                rows.append([name, ", ".join(names), *(f"{aer(gold, links):.2f}" for links in others)])
    return doubt + regression([case[-1] for case in cases], len(NAMES)), rows


def by_votes(systems: Sequence[Links]) -> Iterator[Links]:
    """The links that more than half of the systems have, and grow-diag-final-and of one after the other."""
    rows = [[pair.sure | pair.possible for pair in row] for row in zip(*systems, strict=True)]
    yield Links.from_sets(
        {link for link in set().union(*row) if 2 * sum(link in links for links in row) > len(row)} for row in rows
    )
    grown = []
    for first, *rest in rows:
        links = set(first)
        for other in rest:
            links = symmetrize(links, other, "grow-diag-final-and")
        grown.append(links)
    yield Links.from_sets(grown)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--fast-align", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True, help="folder of the links of both, made where it is empty")
    parser.add_argument("--weights", type=Path, help="write the weights to this file")
    options = parser.parse_args()

    sets = judged(options.data, options.cache, options.fast_align)
    consensus, combined = of_consensus(sets)
    header = ["gold set", "systems", "majority", "grow-diag-final-and", "`aligner combine`"]
    publish("combine", markdown(header, with_mean(combined), words=2), write=options.write)
    links, beside = of_links(sets)
    header = ["gold set", "`--links`", "alone", "default", "default with `--links`"]
    publish("links", markdown(header, with_mean(beside), words=2), write=options.write)
    if options.weights is not None:
        kinds = ("links:neural", "links:neural:pair", "links:statistical", "links:statistical:pair")
        links = np.where(np.repeat(links[::2] > 0, 2), links, 0.0)  # what an aligner links is no evidence against it
        content = {
            "version": __version__,
            "links": {name: round(float(w), 3) for name, w in zip(kinds, links, strict=True)},
            "consensus": {name: round(float(w), 3) for name, w in zip(NAMES, consensus, strict=True)}
            | {"price": PRICE},
        }
        options.weights.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def with_mean(rows: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    """The rows, and the mean over gold sets of the mean of the rows of each."""
    sets = dict.fromkeys(row[0] for row in rows)
    means = []
    for column in range(2, len(rows[0])):
        if any("," in str(row[column]) for row in rows):
            means.append("")
            continue
        of_sets = [np.mean([float(row[column]) for row in rows if row[0] == name]) for name in sets]
        means.append(f"{np.mean(of_sets):.2f}")
    return [*rows, ["mean of the sets", "", *means]]


if __name__ == "__main__":
    main()
