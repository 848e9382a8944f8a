"""Links on another tokenisation of the text, against a comparison character by character."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from commands import write

from aligner.model.decoding import Alignments
from aligner.model.remapping import PLAIN, Retokenized, compare, shared, visible
from corpora.alignment import Links
from corpora.errors import CorpusError
from corpora.readers import open_texts

LETTERS = [*"abcdeé.,'ßﬁ…中文กี", "e\u0301", "Ａ", "𝔘", "\u200b", "½"]


def words(rng: np.random.Generator) -> list[str]:
    return ["".join(rng.choice(LETTERS, rng.integers(1, 7))) for _ in range(rng.integers(0, 8))]


def cut(rng: np.random.Generator, text: str, rate: float) -> list[str]:
    """A text without spaces in pieces, of which some are marked as SentencePiece does, and some are marks alone."""
    ends = np.flatnonzero(rng.random(max(len(text) - 1, 0)) < rate) + 1
    pieces = [text[a:b] for a, b in pairwise([0, *ends.tolist(), len(text)]) if text]
    marked = [piece if rng.random() < 0.7 else f"▁{piece}" for piece in pieces]
    return [one for piece in marked for one in ([piece] if rng.random() < 0.9 else ["▁", piece])]


def by_characters(tokens: list[str], others: list[str]) -> list[list[int]]:
    """Of each token the others that have one of its characters, numbered from the start of the sentence."""
    numbers = []
    for side in (tokens, others):
        first, sets = 0, []
        for token in side:
            sets.append({*range(first, first + len(visible(token)))})
            first += len(visible(token))
        numbers.append(sets)
    return [[i for i, other in enumerate(numbers[1]) if other & token] for token in numbers[0]]


@pytest.mark.slow
def test_ten_thousand_tokenisations() -> None:
    rng = np.random.default_rng(0)
    lost = 0
    for _ in range(10_000):
        ours = words(rng)
        text = "".join(ours)
        fine, other = [piece for word in ours for piece in cut(rng, word, 0.4)], cut(rng, text, 0.4)
        for tokens, others in ((ours, other), (other, fine), (fine, ours)):
            found = shared(*compare(tokens, others))
            assert found == by_characters(tokens, others)
            assert len(found) == len(tokens)
            assert all(0 <= i < len(others) for token in found for i in token)
            assert all(bool(visible(token)) == bool(places) for token, places in zip(tokens, found, strict=True))
        there, back = shared(*compare(ours, fine)), shared(*compare(fine, ours))
        assert all({j for i in pieces for j in back[i]} <= {word} for word, pieces in enumerate(there))
        lost += sum(not pieces for pieces in there)
    assert lost < 500, "words that nobody can see"


@pytest.mark.parametrize(
    ("tokens", "others", "places"),
    [
        ("Don't go .", "▁don 't ▁go .", [[0, 1], [2], [3]]),
        ("a b c", "▁a ▁ b ▁c", [[0], [2], [3]]),  # a mark that is a token of its own
        ("ﬁne … Ａ", "▁fin e ▁.. . ▁A", [[0, 1], [2, 3], [4]]),  # NFKC, as SentencePiece does
        ("caf\u00e9 s", "▁cafe \u0301s", [[0, 1], [1]]),
        ("a b c d", "abcd", [[0], [0], [0], [0]]),
        ("\u200b a", "a", [[], [0]]),
    ],
)
def test_how_tokenisers_write(tokens: str, others: str, places: list[list[int]]) -> None:
    assert shared(*compare(tokens.split(" "), others.split(" "))) == places


def test_another_text_is_refused() -> None:
    with pytest.raises(ValueError, match="'e' in place of"):
        compare(["a", "bcdx"], ["abc", "de"])
    with pytest.raises(ValueError, match="'' in place of 'b'"):
        compare(["a", "b"], ["a"])


class Desk:
    """A text of n pairs, each side in our words and in other tokens, and random links of the words."""

    def __init__(self, folder: Path, n: int = 40, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.folder = folder
        self.ours = [[words(rng) for _ in range(n)] for _ in range(2)]
        self.others = [[cut(rng, "".join(line), 0.3) for line in side] for side in self.ours]
        self.files = [
            write(folder / name, *map(" ".join, side))
            for name, side in zip(("a.en", "a.fr", "b.en", "b.fr"), [*self.ours, *self.others], strict=True)
        ]
        shapes = np.array([[len(line) for line in pair] for pair in zip(*self.ours, strict=True)])
        links = [{(j, k) for j in range(J) for k in range(K) if rng.random() < 0.3} for J, K in shapes.tolist()]
        packed = Links.from_sets(links)
        self.found = Alignments.of(packed, rng.random(len(packed.source)), shapes)

    def remapped(self, check: bool = True) -> list[tuple[tuple[int, bytes, bytes], Alignments]]:
        corpus, other = open_texts(*self.files[:2]), open_texts(*self.files[2:])
        remap = Retokenized(corpus, PLAIN, other)
        if check:
            remap.check()
        texts = list(corpus.texts())
        parts = [(texts[:7], self.part(0, 7)), (texts[7:], self.part(7, len(texts)))]
        found = list(remap.remapped(iter(parts)))
        lines = [line for texts, _ in found for line in texts]
        return list(zip(lines, [Alignments.join([one for _, one in found])] * len(lines), strict=True))

    def part(self, first: int, last: int) -> Alignments:
        bounds = self.found.bounds[first : last + 1]
        rows = slice(bounds[0], bounds[-1])
        links = Links(self.found.source[rows], self.found.target[rows], np.ones(0, np.bool_), bounds - bounds[0])
        return Alignments.of(links, self.found.scores[rows], self.found.shapes[first:last])


def test_links_are_those_of_shared_characters(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    lines = desk.remapped()
    found = lines[0][1]
    assert [line for line, _ in lines] == list(open_texts(*desk.files[2:]).texts())
    for pair, alignment in enumerate(found):
        source, target = (
            by_characters(ours[pair], other[pair]) for ours, other in zip(desk.ours, desk.others, strict=True)
        )
        expected: dict[tuple[int, int], float] = {}
        for (j, k), score in zip(desk.found[pair].links, desk.found[pair].scores, strict=True):
            for link in ((a, b) for a in source[j] for b in target[k]):
                expected[link] = max(score, expected.get(link, 0.0))
        assert dict(zip(alignment.links, alignment.scores, strict=True)) == expected
        assert list(alignment.links) == sorted(expected)
        assert found.shapes[pair].tolist() == [len(side[pair]) for side in desk.others]


def test_a_pair_that_was_left_empty_stays_empty(tmp_path: Path) -> None:
    desk = Desk(tmp_path, n=3)
    corpus = open_texts(*desk.files[:2])
    empty = Alignments.of(Links.from_sets([[]] * 3), np.empty(0), np.zeros((3, 2), np.int64))
    texts = [(number, b"", b"") for number in (1, 2, 3)]
    ((lines, found),) = Retokenized(corpus, PLAIN, open_texts(*desk.files[2:])).remapped([(texts, empty)])
    assert lines == texts
    assert found.shapes.tolist() == [[0, 0]] * 3


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize("side", [0, 1])
def test_a_mismatch_names_the_line(tmp_path: Path, side: int, check: bool) -> None:
    desk = Desk(tmp_path, n=9)
    path = desk.files[2 + side]
    lines = path.read_text("utf-8").splitlines()
    for changed, line, what in (
        ([*lines[:4], "zz", *lines[5:]], 5, "is not the text that is aligned: 'zz' in place of"),
        (lines[:6], 6, "ends here, but"),
        ([*lines, "a"], 9, "ends here, but"),
    ):
        write(path, *changed)
        with pytest.raises(CorpusError, match=what) as caught:
            desk.remapped(check)
        assert caught.value.line == line
    for file in desk.files[2:]:
        write(file, *file.read_text("utf-8").splitlines()[:9], *[""] * (9 - len(lines)), "a")
    write(path, *lines, "a")
    with pytest.raises(CorpusError, match="goes on, but the text has ended") as caught:
        desk.remapped(check)
    assert (caught.value.line, caught.value.path) == (10, str(desk.files[2]))
