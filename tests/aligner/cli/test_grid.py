"""A grid shows every link in its row and column, whatever the width and the letters."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from rich.text import Text

from aligner.cli.grid import draw_grid
from corpora.alignment import Link, PairLinks

SOURCE, TARGET = ["a", "red", "house"], ["une", "maison", "rouge"]
FOUND: dict[Link, float | None] = {(0, 0): 0.99, (1, 2): 0.6, (2, 2): 0.1}
GOLD = PairLinks(frozenset({(0, 0), (2, 1)}), frozenset({(1, 1), (1, 2)}))


def plain(lines: list[Text]) -> list[str]:
    return [line.plain.rstrip() for line in lines]


def test_a_row_for_each_source_word_and_a_column_for_each_target_word() -> None:
    *head, first, second, third = plain(list(draw_grid(SOURCE, TARGET, FOUND, None, 80)))
    assert [first, second, third] == ["a     ■ · ·", "red   · · ■", "house · · ■"]
    columns = zip(*(line.ljust(12)[6::2] for line in head), strict=True)
    assert ["".join(column).strip() for column in columns] == TARGET


def test_gold_is_told_by_shapes() -> None:
    rows = plain(list(draw_grid(SOURCE, TARGET, FOUND, GOLD, 80)))[-3:]
    assert rows == ["a     ■ · ·", "red   · ▫ ■", "house · □ ×"]


@pytest.mark.parametrize("probabilities", [True, False])
def test_colours_are_probabilities_where_there_are_some(probabilities: bool) -> None:
    found = FOUND if probabilities else dict.fromkeys(FOUND)
    rows = list(draw_grid(SOURCE, TARGET, found, GOLD, 80))[-3:]
    colours = [span.style for row in rows for span in row.spans if row.plain[span.start] in "■×"]
    assert colours == (["green", "yellow", "red"] if probabilities else ["green", "green", "red"])


def test_a_wide_grid_goes_on_below() -> None:
    whole = plain(list(draw_grid(SOURCE, TARGET, FOUND, GOLD, 80)))[-3:]
    lines = plain(list(draw_grid(SOURCE, TARGET, FOUND, GOLD, 9)))
    assert max(map(len, lines)) <= 9
    rows = [[line for line in lines if line.startswith(f"{word} ")] for word in SOURCE]
    assert [len(parts) for parts in rows] == [3, 3, 3]
    assert [f"{parts[0][:6]}{' '.join(part[6:] for part in parts)}" for parts in rows] == whole


def test_wide_letters_marks_and_orders_to_the_terminal() -> None:
    source, target = ["\u6211\u5728", "e\u0301te"], ["\u5bb6", "\u0e14\u0e34", "\x1b[2J"]
    lines = list(draw_grid(source, target, {(1, 2): None}, None, 80))
    assert {cell_len(line.plain) for line in lines} == {5 + 2 * 3}, "columns stand below each other"
    assert "\x1b" not in "".join(plain(lines))
    assert lines[-1].plain.split()[-1] == "■"
    assert [*draw_grid([], [], {}, None, 80)] == []
