"""Links on another tokenisation of the text, against a comparison character by character."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from commands import write

from aligner.model.decoding import Alignments
from aligner.model.remapping import Retokenized
from corpora.corpus import TextLine
from corpora.errors import CorpusError
from corpora.links import Links
from corpora.normalize import PLAIN
from corpora.readers import open_texts
from corpora.same_text import compare, shared, visible

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


def test_any_tokenisations() -> None:
    rng = np.random.default_rng(0)
    for _ in range(3000):
        ours = words(rng)
        fine, other = [piece for word in ours for piece in cut(rng, word, 0.4)], cut(rng, "".join(ours), 0.4)
        for tokens, others in ((ours, other), (other, fine), (fine, ours)):
            found = shared(*compare(tokens, others))
            assert found == by_characters(tokens, others)
            assert [bool(places) for places in found] == [bool(visible(token)) for token in tokens]


@pytest.mark.parametrize(
    ("tokens", "others", "places"),
    [
        ("Don't go .", "▁don 't ▁go .", [[0, 1], [2], [3]]),
        ("a b c", "▁a ▁ b ▁c", [[0], [2], [3]]),  # a mark that is a token of its own
        ("ﬁne … Ａ", "▁fin e ▁.. . ▁A", [[0, 1], [2, 3], [4]]),  # NFKC, as SentencePiece does
        ("caf\u00e9 s", "▁cafe \u0301s", [[0, 1], [1]]),
        ("\u200b a", "a", [[], [0]]),
        # What looks like marks.
        ("a@@ ##b ￭ &amp;", "a@@ ##b ￭ &amp;", [[0], [1], [2], [3]]),  # the text has them
        ("a@@ b", "a@@ @@ b", [[0, 1], [2]]),
        ("####x y", "# ### ### ### ##x y", [[0, 1, 2, 3, 4], [5]]),
        ("grand-mère", "grand @-@ mère", [[0, 1, 2]]),
        ("A ｟ent：1｠ B", "｟mrk_case_modifier_C｠ a ｟ent：1｠ ｟mrk_begin_case_region_U｠ b", [[1], [2], [4]]),
        ("R&D 'x'", "R &amp; D &#39;@@ x@@ &apos;", [[0, 1, 2], [3, 4, 5]]),
        ("<0xE2> x", "<0xE2> x", [[0], [1]]),
    ],
)
def test_how_tokenisers_write(tokens: str, others: str, places: list[list[int]]) -> None:
    assert shared(*compare(tokens.split(" "), others.split(" "))) == places


@pytest.mark.parametrize(
    ("tokens", "others", "what"),
    [
        (["a", "bcdx"], ["abc", "de"], "'e' in place of"), (["a", "b"], ["a"], "'' in place of 'b'"),
        (["abc", "dxz"], ["a@@", "bc", "d@@", "yz"], "'yz' in place of 'xz'"),  # behind the marks
    ],
)  # fmt: skip
def test_another_text_is_refused(tokens: list[str], others: list[str], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        compare(tokens, others)


Piece = tuple[str, set[int]]  # and of which characters of the sentence


def pieces(rng: random.Random, word: str, first: int) -> list[Piece]:
    """A word in pieces at random.  first: number of its first character."""
    ends = [0, *sorted(rng.sample(range(1, len(word)), rng.randrange(min(len(word), 4)))), len(word)]
    return [(word[a:b], {*range(first + a, first + b)}) for a, b in pairwise(ends)]


def numbered(text: list[str]) -> list[tuple[str, int]]:
    places = np.cumsum([0, *map(len, text)]).tolist()
    return list(zip(text, places, strict=False))


def marked(change: Callable[[str, bool, bool], str]) -> Callable[[random.Random, list[str]], list[Piece]]:
    """Pieces of words, changed by whether they are the first and the last of their word."""

    def encode(rng: random.Random, text: list[str]) -> list[Piece]:
        parts = [pieces(rng, *word) for word in numbered(text)]
        return [
            (change(piece, i == 0, i == len(of_word) - 1), places)
            for of_word in parts
            for i, (piece, places) in enumerate(of_word)
        ]

    return encode


def joiners(rng: random.Random, text: list[str]) -> list[Piece]:
    found: list[Piece] = []
    for word in numbered(text):
        for i, (piece, places) in enumerate(pieces(rng, *word)):
            way = rng.randrange(3) if i else None
            if way == 0:
                found[-1] = found[-1][0] + "￭", found[-1][1]
            found += [("￭", set())] if way == 1 else []
            found.append(("￭" * (way == 2) + piece, places))
    return found


def byte_pieces(rng: random.Random, text: list[str]) -> list[Piece]:
    found: list[Piece] = []
    for word, first in numbered(text):
        found.append(("▁", set()))
        for place, c in enumerate(word, first):
            found += [(f"<0x{b:02X}>", {place}) for b in c.encode()] if not c.isascii() or c == "@" else [(c, {place})]
    return found


def byte_level(rng: random.Random, text: list[str]) -> list[Piece]:
    plain = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    others = [b for b in range(256) if b not in plain]
    shown = {b: chr(b) if b in plain else chr(256 + others.index(b)) for b in range(256)}
    found: list[Piece] = []
    for word, first in numbered(text):
        every = [(32, None), *((b, first + i) for i, c in enumerate(word) for b in c.encode())]
        ends = [0, *sorted(rng.sample(range(1, len(every)), rng.randrange(min(len(every), 5)))), len(every)]
        for a, b in pairwise(ends):
            places = {place for _, place in every[a:b] if place is not None}
            found.append(("".join(shown[byte] for byte, _ in every[a:b]), places))
    return found


def moses(rng: random.Random, text: list[str]) -> list[Piece]:
    """Moses' escapes, which pieces of subword-nmt divide."""
    escapes = {"&": "&amp;", "|": "&#124;", "<": "&lt;", ">": "&gt;", "'": "&apos;", '"': "&quot;", "[": "&#91;"}
    found: list[Piece] = []
    for word, first in numbered(text):
        every = [(c, place) for place, one in enumerate(word, first) for c in escapes.get(one, one)]
        parts = pieces(rng, "".join(c for c, _ in every), 0)
        found += [
            (piece + "@@" * (i < len(parts) - 1), {every[at][1] for at in where})
            for i, (piece, where) in enumerate(parts)
        ]
    return found


def uncased(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(c))


SCHEMES = {
    "subword-nmt": marked(lambda piece, first, last: piece + "@@" * (not last)),
    "XLM": marked(lambda piece, first, last: piece + "</w>" * last),
    "WordPiece": marked(lambda piece, first, last: "##" * (not first) + piece),
    "uncased": marked(lambda piece, first, last: "##" * (not first) + uncased(piece)),
    "spacers": marked(lambda piece, first, last: "▁" * first + piece),
    "features": marked(lambda piece, first, last: f"{piece.lower()}￨{'CL'[first]}" if last else f"{piece}￭￨N"),
    "joiners": joiners, "byte pieces": byte_pieces, "byte level": byte_level, "Moses": moses,
}  # fmt: skip


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("letters", ["abcé'&", "aÉ☃𝔘中北กี\u0301½ß", "a|<>\"['#@", "aĠÃ©œ"])
def test_marks_of_tokenisers(scheme: str, letters: str) -> None:
    rng = random.Random(0)
    for _ in range(200):
        text = ["".join(rng.choices(letters, k=rng.randint(1, 6))) for _ in range(rng.randint(0, 6))]
        found = SCHEMES[scheme](rng, text)
        seen = uncased if scheme == "uncased" else str
        places = {i for i, c in enumerate("".join(text)) if visible(seen(c))}
        expected = [
            [i for i, (_, of_piece) in enumerate(found) if of_piece & places & {*range(first, first + len(word))}]
            for word, first in numbered(text)
        ]
        assert shared(*compare(text, [piece for piece, _ in found])) == expected, (text, found)


class Desk:
    """A text of n pairs, each side in our words and in other tokens, and random links of the words."""

    def __init__(self, folder: Path, n: int = 40) -> None:
        rng = np.random.default_rng(0)
        self.ours = [[words(rng) for _ in range(n)] for _ in range(2)]
        self.others = [[cut(rng, "".join(line), 0.3) for line in side] for side in self.ours]
        sides = zip(("a.en", "a.fr", "b.en", "b.fr"), [*self.ours, *self.others], strict=True)
        self.files = [write(folder / name, *map(" ".join, side)) for name, side in sides]
        self.text, self.other = open_texts(*self.files[:2]), open_texts(*self.files[2:])
        shapes = np.array([[len(line) for line in pair] for pair in zip(*self.ours, strict=True)])
        links = Links.from_sets(
            [(j, k) for j in range(J) for k in range(K) if rng.random() < 0.3] for J, K in shapes.tolist()
        )
        self.found = Alignments.of(links, rng.random(len(links.source)), shapes)

    def remapped(self, check: bool = True) -> tuple[list[TextLine], Alignments]:
        """In two parts."""
        remap, texts = Retokenized(self.text, PLAIN, self.other), list(self.text.texts())
        if check:
            remap.check()
        parts = []
        for first, last in ((0, 7), (7, len(texts))):
            links = self.found.links.part(first, last)
            parts.append((texts[first:last], Alignments.of(links, links.known_scores, self.found.shapes[first:last])))
        found = list(remap.remapped(iter(parts)))
        return [line for lines, _ in found for line in lines], Alignments.join([part for _, part in found])


def test_links_are_those_of_shared_characters(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    lines, found = desk.remapped()
    assert lines == list(desk.other.texts())
    for pair, alignment in enumerate(found):
        source, target = (by_characters(a[pair], b[pair]) for a, b in zip(desk.ours, desk.others, strict=True))
        expected: dict[tuple[int, int], float] = {}
        for (j, k), score in zip(desk.found[pair].links, desk.found[pair].scores, strict=True):
            for link in ((a, b) for a in source[j] for b in target[k]):
                expected[link] = max(score, expected.get(link, 0.0))
        assert list(zip(alignment.links, alignment.scores, strict=True)) == sorted(expected.items())
        assert found.shapes[pair].tolist() == [len(side[pair]) for side in desk.others]


def test_a_pair_that_was_left_empty_stays_empty(tmp_path: Path) -> None:
    desk = Desk(tmp_path, n=3)
    empty = Alignments.of(Links.from_sets([[]] * 3), np.empty(0), np.zeros((3, 2), np.int64))
    texts = [(number, b"", b"") for number in (1, 2, 3)]
    ((lines, found),) = Retokenized(desk.text, PLAIN, desk.other).remapped([(texts, empty)])
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
    write(path, *lines)
    for file in desk.files[2:]:
        write(file, *file.read_text("utf-8").splitlines(), "a")
    with pytest.raises(CorpusError, match="goes on, but the text has ended") as caught:
        desk.remapped(check)
    assert (caught.value.line, caught.value.path) == (10, str(desk.files[2]))
