"""The figures of tags in docs/markup.md: where translators put them, beside relative position and the hull of links.

    python scripts/markup.py --write

Localisation of GNOME and mozilla.org, English with German, French, Russian and Japanese (`markup/dev.jsonl.gz` in
`--data`); each target without its tags gets those of its source back. Needs `--data`.
"""

from __future__ import annotations

import gzip
import json
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tables import markdown, parser_of, publish, with_interval

if TYPE_CHECKING:
    from aligner.evaluation.markup import SpanFigures
    from aligner.model.inline import LinkProbabilities
    from corpora.inline.carrying import Placed
    from corpora.inline.examples import Examples
    from corpora.inline.kinds import Marked

LANGUAGES = {"de": "German", "fr": "French", "ru": "Russian", "ja": "Japanese"}
SEGMENTS = 300
"""Of a small document that is aligned alone."""

KINDS = 12
"""The most frequent kinds of tags, which have a row of their own."""


class Example(NamedTuple):
    """source: with its tags.  target: without.  gold: the target with them."""

    source: Marked
    target: Marked
    gold: Marked


def main() -> None:
    asked = parser_of(__doc__).parse_args()
    from corpora.inline.examples import collect_examples

    rows, by_kind = list[list[str]](), dict[str, list[str]]()
    for place, (language, name) in enumerate(LANGUAGES.items()):
        examples = [*read(asked.data, language)]
        links = align(examples)
        starts = range(0, len(examples), SEGMENTS)
        alone = [own for start in starts for own in align(examples[start : start + SEGMENTS])]
        memories = [collect_examples((one.source, one.gold) for one in examples[1 - half :: 2]) for half in (0, 1)]
        ways = {
            "relative position": carried(examples, [{}] * len(examples), [{}]),
            "hull of links": [hull(*one[:2], own) for one, own in zip(examples, links, strict=True)],
            f"`project`, {SEGMENTS} segments at a time": carried(examples, alone, [{}]),
            "… with the other half as `--examples`": carried(examples, alone, memories),
            "`project`": carried(examples, links, [{}]),
            "`project`, with the other half as `--examples`": carried(examples, links, memories),
        }
        for way, placed in ways.items():
            of_all = judge(examples, placed)["all"]
            rows.append(["" if len(rows) % len(ways) else name, way, *in_percent(of_all, "`" in way)])
            print(*rows[-1], flush=True)
        for kind, of in judge(examples, ways["`project`"]).items():
            by_kind.setdefault(kind, [""] * len(LANGUAGES))[place] = f"{100 * of.exact:.0f} of {of.tags}"
    header = ["", "", "exact, %", "word F1, %", "sure, %", "exact of these, %"]
    publish("markup", markdown(header, rows, 2), pages=["docs/markup.md"], write=asked.write)
    kinds = [[f"`{kind}`", *cells] for kind, cells in by_kind.items() if kind != "all"][:KINDS]
    publish("markup-kinds", markdown(["", *LANGUAGES.values()], kinds), pages=["docs/markup.md"], write=asked.write)


def read(data: Path, language: str) -> Iterator[Example]:
    from corpora.inline.kinds import read_marked, read_plain

    with gzip.open(data / "markup" / "dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        for entry in map(json.loads, lines):
            if entry["lang"] == language:
                source, gold = (read_marked(entry[side], "html") for side in ("raw_src", "raw_tgt"))
                yield Example(source, read_plain(gold.text, "html", source), gold)


def align(examples: Sequence[Example]) -> list[LinkProbabilities]:
    import aligner

    found = aligner.align([(one.source.words, one.target.words) for one in examples])
    return [dict(zip(own.links, own.scores, strict=True)) for own in found]


def hull(source: Marked, target: Marked, links: LinkProbabilities) -> list[Placed]:
    """Each tag around all words that are linked to its own, which need not nest; others by relative position."""
    from corpora.inline.carrying import Placed, carry

    starts, found = [start for start, _ in source.tokens], []
    for one in carry(source, target, {}):
        own = range(bisect_left(starts, one.tag.start), bisect_left(starts, one.tag.end))
        linked = [k for j, k in links if j in own]
        if linked and one.tag.is_pair:
            one = Placed(one.tag, target.tokens[min(linked)][0], target.tokens[max(linked)][1], None)
        found.append(one)
    return found


def carried(
    examples: Sequence[Example], links: Sequence[LinkProbabilities], memories: Sequence[Examples]
) -> list[list[Placed]]:
    """The tags of each example, which are in turn given the examples of each memory."""
    from corpora.inline.carrying import carry

    given = zip(examples, links, cycle(memories))
    return [carry(one.source, one.target, own, examples=memory) for one, own, memory in given]


def judge(examples: Sequence[Example], placed: Sequence[Sequence[Placed]]) -> dict[str, SpanFigures]:
    from aligner.evaluation.markup import count_tags, figures

    return figures(count_tags(own, one.target, one.gold) for own, one in zip(placed, examples, strict=True))


def in_percent(of: SpanFigures, with_sure: bool) -> list[str]:
    figures = zip((of.exact, of.f1), of.intervals, strict=True)
    cells = [with_interval(100 * rate, 100 * low, 100 * high) for rate, (low, high) in figures]
    return [*cells, *([f"{100 * of.sure:.0f}", f"{100 * of.sure_exact:.1f}"] if with_sure else ["", ""])]


if __name__ == "__main__":
    main()
