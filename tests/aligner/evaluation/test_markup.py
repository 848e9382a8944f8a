"""Tags counted against gold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from marked_texts import HTML
from tables.markup import align, judge, read

from aligner.evaluation.markup import CODES, TagCount, count_tags, figures
from corpora.inline.carrying import Placed, carry
from corpora.inline.kinds import Tag, read_marked, read_plain


@given(HTML)
def test_gold_against_itself_is_right(content: str) -> None:
    gold = read_marked(content, "html")
    placed = dict[Tag | None, Placed]()
    for tag in gold.tags:
        placed[tag] = Placed(tag, tag.start, tag.end, placed.get(tag.parent), 1.0)
    counts = count_tags([*placed.values()], gold, gold)
    assert len(counts) == len(gold.tags)
    for one in figures([counts]).values():
        assert (one.exact, one.sure, one.sure_exact) == (1.0, 1.0, 1.0)
        assert one.intervals[0] == (1.0, 1.0)


def test_counts() -> None:
    source = read_marked("<b>a</b> <i>b</i> <b>c</b> <u>d</u> <br>", "html")
    gold = read_marked("<b>A B</b> <i>C</i> <b>D</b> <br>E", "html")
    target = read_plain(gold.text, "html", source)
    found = count_tags(carry(source, target, {(0, 0): 1.0, (1, 2): 1.0, (2, 4): 0.1}), target, gold)
    assert found == [
        TagCount("b", False, True, 1, 2, 1),  # A of A B
        TagCount("b", False, False, 1, 1, 0),  # E, not D
        TagCount("i", True, True, 1, 1, 1),
        TagCount(CODES, False, True, 0, 0, 0),  # not where it is
    ], "the translator left <u> out"
    of = figures([found, found])
    assert list(of)[-1] == "all"
    assert (of["b"].tags, of["i"].exact, of["all"].tags) == (4, 1.0, 6)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("language", "exact", "f1"), [("de", 90, 95), ("fr", 87, 94), ("ru", 89, 95.5), ("ja", 75, 87)]
)
def test_tags_are_where_translators_put_them(language: str, exact: float, f1: float, data: Path) -> None:
    examples = [*read(data, language)]
    placed = [carry(*one[:2], links) for one, links in zip(examples, align(examples), strict=True)]
    found = judge(examples, placed)["all"]
    assert 100 * found.exact >= exact
    assert 100 * found.f1 >= f1
    assert 100 * found.sure_exact >= 95


def test_intervals_hold_the_figure() -> None:
    rng = np.random.default_rng(0)
    segments = [[TagCount("b", bool(right), True, 1, 1, int(right))] for right in rng.random(200) < 0.8]
    of = figures(segments)["b"]
    assert of.exact == of.f1 == pytest.approx(sum(one.exact for (one,) in segments) / 200)
    assert of.intervals[0][0] < of.exact < of.intervals[0][1]
    assert figures([]) == {}
