"""Where translators put tags, and where `project` does."""

import gzip
import json
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

import aligner
from aligner.evaluation.markup import SpanFigures, count_tags, figures
from aligner.model.inline import LinkProbabilities
from corpora.inline.carrying import Placed, carry
from corpora.inline.examples import Examples, collect_examples
from corpora.inline.kinds import Marked, read_marked, read_plain
from tables import DATA, markdown, table, with_interval

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


@table("markup", "markup-kinds")
def markup(data: Path = DATA, most: int = 100_000) -> dict[str, str]:
    """Where translators put tags, beside what `project` does, relative position, and the hull of links.

    Localisation of GNOME and mozilla.org, English with German, French, Russian and Japanese (`markup/dev.jsonl.gz`);
    each target without its tags gets those of its source back.
    most: segments of a language.
    """
    rows, by_kind = list[list[str]](), dict[str, list[str]]()
    for place, (language, name) in enumerate(LANGUAGES.items()):
        examples = [*islice(read(data, language), most)]
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
            rows.append([name, way, *in_percent(of_all, "`" in way)])
            print(*rows[-1], flush=True)
        for kind, of in judge(examples, ways["`project`"]).items():
            by_kind.setdefault(kind, [""] * len(LANGUAGES))[place] = f"{100 * of.exact:.0f} of {of.tags}"
    header = ["language", "places by", "exact, %", "word F1, %", "sure, %", "exact of these, %"]
    kinds = [[f"`{kind}`", *cells] for kind, cells in by_kind.items() if kind != "all"][:KINDS]
    return {"markup": markdown(header, rows, 2), "markup-kinds": markdown(["element", *LANGUAGES.values()], kinds)}


def read(data: Path, language: str) -> Iterator[Example]:
    with gzip.open(data / "markup" / "dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        for entry in map(json.loads, lines):
            if entry["lang"] == language:
                source, gold = (read_marked(entry[side], "html") for side in ("raw_src", "raw_tgt"))
                yield Example(source, read_plain(gold.text, "html", source), gold)


def align(examples: Sequence[Example]) -> list[LinkProbabilities]:
    found = aligner.align([(one.source.words, one.target.words) for one in examples])
    return [dict(zip(own.links, own.scores, strict=True)) for own in found]


def hull(source: Marked, target: Marked, links: LinkProbabilities) -> list[Placed]:
    """Each tag around all words that are linked to its own, which need not nest; others by relative position."""
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
    given = zip(examples, links, cycle(memories))
    return [carry(one.source, one.target, own, examples=memory) for one, own, memory in given]


def judge(examples: Sequence[Example], placed: Sequence[Sequence[Placed]]) -> dict[str, SpanFigures]:
    return figures(count_tags(own, one.target, one.gold) for own, one in zip(placed, examples, strict=True))


def in_percent(of: SpanFigures, with_sure: bool) -> list[str]:
    figures = zip((of.exact, of.f1), of.intervals, strict=True)
    cells = [with_interval(100 * rate, 100 * low, 100 * high) for rate, (low, high) in figures]
    return [*cells, *([f"{100 * of.sure:.0f}", f"{100 * of.sure_exact:.1f}"] if with_sure else ["", ""])]
