"""An alignment as a grid of characters: a row for each source word, a column for each target word."""

from collections.abc import Iterator, Mapping, Sequence

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from corpora.links import Link, PairLinks

SHAPES = "■ link; with gold: ■ right  × wrong  □ missed  ▫ possible, not found"
COLOURS = "green: 90 % sure or more; yellow: 50 % or more; red: less"


def draw_grid(
    source: Sequence[str], target: Sequence[str], links: Mapping[Link, float | None], gold: PairLinks | None, width: int
) -> Iterator[Text]:
    """The lines of a grid; if it is wider than `width` cells of the terminal, it goes on below.

    links: those found, with their probabilities, shown as colours.  gold: shown as shapes, and as colours if there are
    no probabilities.
    """
    rows, columns = ([_letters(word) for word in side] for side in (source, target))
    margin = 1 + max((cell_len("".join(row)) for row in rows), default=0)
    at_once = max((width - margin) // 2, 1)
    for first in range(0, len(columns), at_once):
        part = columns[first : first + at_once]
        height = max(map(len, part))
        for level in range(height):
            words = ([" "] * (height - len(word)) + word for word in part)
            yield Text(" " * margin + "".join(set_cell_size(word[level], 2) for word in words))
        for j, row in enumerate(rows):
            line = Text(set_cell_size("".join(row), margin))
            for k, _ in enumerate(part, first):
                line.append(*_mark((j, k), links, gold)).append(" ")
            yield line


def _mark(link: Link, links: Mapping[Link, float | None], gold: PairLinks | None) -> tuple[str, str]:
    right = gold is None or link in gold.sure | gold.possible
    if link in links:
        probability = links[link]
        if probability is None:
            return "■" if right else "×", "" if gold is None else "green" if right else "red"
        return "■" if right else "×", "green" if probability >= 0.9 else "yellow" if probability >= 0.5 else "red"
    if gold is None or not right:
        return "·", "dim"
    return "□" if link in gold.sure else "▫", "blue"


def _letters(word: str) -> list[str]:
    """The letters of a word, each with its marks, without characters that control a terminal."""
    letters: list[str] = []
    for letter in (letter if letter.isprintable() else "?" for letter in word):
        letters += [letter] if cell_len(letter) or not letters else [letters.pop() + letter]
    return letters
