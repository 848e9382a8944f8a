"""The sample corpus is well formed: parallel files, links inside the sentences, test pairs not in training.

The files are read here as plain text, not with the package's own readers, so that a fault in a reader
and a fault in the sample cannot hide each other.
"""

import re
import unicodedata
from pathlib import Path
from typing import NamedTuple

import pytest

SAMPLE = Path(__file__).resolve().parents[2] / "corpora" / "sample"
LINK = re.compile(r"(0|[1-9]\d*)([-?])(0|[1-9]\d*)")
PARTS = [("train", "en", "fr"), ("test", "en", "fr"), ("more/train", "de", "en")]


class Pair(NamedTuple):
    """One sentence pair; links are (source, target, is_sure)."""

    source: list[str]
    target: list[str]
    links: list[tuple[int, int, bool]]


def read_lines(name: str) -> list[str]:
    return (SAMPLE / name).read_bytes().decode("utf-8").removesuffix("\n").split("\n")


def read_links(line: str) -> list[tuple[int, int, bool]]:
    links = []
    for item in line.split(" "):
        match = LINK.fullmatch(item)
        assert match, f"not a link: {item!r} in {line!r}"
        links.append((int(match[1]), int(match[3]), match[2] == "-"))
    return links


def read_pairs(part: str, source: str, target: str) -> list[Pair]:
    return [
        Pair(s.split(" "), t.split(" "), read_links(w))
        for s, t, w in zip(
            read_lines(f"{part}.{source}"), read_lines(f"{part}.{target}"), read_lines(f"{part}.wa"), strict=True
        )
    ]


@pytest.mark.parametrize(("part", "source", "target"), PARTS)
def test_text_is_clean(part: str, source: str, target: str) -> None:
    for suffix in (source, target):
        text = (SAMPLE / f"{part}.{suffix}").read_bytes().decode("utf-8")
        assert unicodedata.is_normalized("NFC", text)
        assert text.endswith("\n")
        for line in text.removesuffix("\n").split("\n"):
            # One space between tokens, none at the ends, and no other white space or control character.
            assert line.split() == line.split(" ")
            assert line.replace(" ", "").isprintable()
            assert not re.search(r"\w[.,;:?!]+$", line)


@pytest.mark.parametrize(("part", "source", "target"), PARTS)
def test_links_lie_inside_their_sentences(part: str, source: str, target: str) -> None:
    for number, pair in enumerate(read_pairs(part, source, target), start=1):
        edges = [(j, k) for j, k, _ in pair.links]
        assert len(edges) == len(set(edges)), f"{part}.wa:{number}: a link is given twice"
        assert edges == sorted(edges), f"{part}.wa:{number}: links are not sorted"
        assert all(j < len(pair.source) and k < len(pair.target) for j, k in edges), f"{part}.wa:{number}"


@pytest.mark.parametrize(("part", "source", "target"), PARTS)
def test_both_kinds_of_link_are_common_and_nearly_every_word_has_one(part: str, source: str, target: str) -> None:
    pairs = read_pairs(part, source, target)
    sure = sum(is_sure for pair in pairs for *_, is_sure in pair.links)
    possible = sum(not is_sure for pair in pairs for *_, is_sure in pair.links)
    assert sure >= 6 * len(pairs)
    assert possible >= len(pairs)
    # A pair may be all possible (a loose phrase), but its full stop or question mark is still sure.
    assert all(any(is_sure for *_, is_sure in pair.links) for pair in pairs)
    linked = sum(len({j for j, _, _ in p.links}) + len({k for _, k, _ in p.links}) for p in pairs)
    words = sum(len(p.source) + len(p.target) for p in pairs)
    assert 0.97 * words <= linked < words


def test_no_pair_occurs_twice_and_no_test_sentence_is_in_training() -> None:
    train, test, more = (read_pairs(*part) for part in PARTS)
    for pairs in (train + test, more):
        for side in ("source", "target"):
            sentences = [" ".join(getattr(pair, side)).lower() for pair in pairs]
            assert len(sentences) == len(set(sentences))


def test_equal_numbers_and_closing_marks_are_linked() -> None:
    for part in PARTS:
        for pair in read_pairs(*part):
            sure = {(j, k) for j, k, is_sure in pair.links if is_sure}
            assert (len(pair.source) - 1, len(pair.target) - 1) in sure
            for j, word in enumerate(pair.source):
                if word.isdecimal() and pair.source.count(word) == pair.target.count(word) == 1:
                    assert (j, pair.target.index(word)) in sure


def test_readme_states_the_counts() -> None:
    readme = (SAMPLE / "README.md").read_text(encoding="utf-8")
    for part in PARTS:
        pairs = read_pairs(*part)
        sure = sum(is_sure for pair in pairs for *_, is_sure in pair.links)
        possible = sum(len(pair.links) for pair in pairs) - sure
        row = (
            len(pairs), sum(len(pair.source) for pair in pairs), sum(len(pair.target) for pair in pairs), sure,
            possible,
        )  # fmt: skip
        assert f"| `{part[0]}` | {part[1]}-{part[2]} | " + " | ".join(map(str, row)) + " |" in readme
