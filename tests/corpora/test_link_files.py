"""Links files are recognised by their content and checked against the text; packed links are what was packed."""

import lzma
import time
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from readings import refuses

from corpora.errors import CorpusError
from corpora.link_files import LINK_FORMATS, open_links, read_links
from corpora.links import NO_LINKS, Links, PairLinks, check_range

PAIRS = [PairLinks(frozenset({(0, 0), (1, 1)})), NO_LINKS, PairLinks(frozenset({(2, 0)}))]
LENGTHS = [(2, 2), (1, 1), (3, 1)]
# One file of each format with these links.
FILES = {
    "pharaoh": "0-0 1-1\n\n2-0\n",
    "talp": "1-1 2-2\n\n3-1\n",
    "naacl": "3 3 1 S\n001 1 1\n1 2 2 S 0.5\n",
    "giza": (
        "# Sentence pair (1) source length 2 target length 2 alignment score : 0.1\n"
        "x y\nNULL ({ }) a ({ 1 }) b ({ 2 })\n"
        "# Sentence pair (2) source length 1 target length 1 alignment score : 0.1\n"
        "x\nNULL ({ 1 }) a ({ })\n"
        "# Sentence pair (3) source length 3 target length 1 alignment score : 0.1\n"
        "x\nNULL ({ }) a ({ }) b ({ }) c ({ 1 })\n"
    ),
    "comtrans": "a b\nx y\n0-0 1-1\na\nx\n\na b c\nx\n2-0\n",
    "jsonl": (
        '{"source": ["a", "b"], "target": ["x", "y"], "links": [[0, 0, 0.9], [1, 1, 0.8]], "score": 0.85}\n'
        '{"source": ["a"], "target": ["x"], "links": [], "score": 0.0}\n'
        '{"source": ["a", "b", "c"], "target": ["x"], "links": [[2, 0, 1.0]], "score": 1.0}\n'
    ),
    "tsv": (
        "-1.5000\t-2.0000\t-0.8750\t0.0000\t0.8500\t0-0 1-1\n"
        "-inf\t-inf\t-inf\t1.0000\t0.0000\t\nnan\tnan\tnan\t0.5000\t1.0000\t2-0\n"
    ),
    "tmx": (
        '<?xml version="1.0"?>\n<tmx version="1.4"><header/><body>\n'
        '<tu><prop type="x-links">0-0 1-1</prop><tuv xml:lang="en"><seg>a b</seg></tuv></tu>\n'
        '<tu><tuv xml:lang="en"><prop type="id">7</prop><seg>a</seg></tuv><prop type="x-links"/></tu>\n'
        '<tu><prop type="x-links">\n2-0 </prop></tu></body></tmx>'
    ),
}


def write(folder: Path, format_: str, pack: Callable[[bytes], bytes] = bytes) -> Path:
    file = folder / ("links.talp" if format_ == "talp" else "links")
    file.write_bytes(pack(FILES[format_].encode()))
    return file


def test_every_format_has_a_file() -> None:
    assert set(FILES) == set(LINK_FORMATS)


@pytest.mark.parametrize("pack", [bytes, lzma.compress])
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("format_", LINK_FORMATS)
def test_formats(tmp_path: Path, format_: str, named: bool, pack: Callable[[bytes], bytes]) -> None:
    file = write(tmp_path, format_, pack)
    asked = format_ if named else None
    for lengths in (None, iter(LENGTHS)):
        found = open_links(file, format=asked, lengths=lengths)
        assert [pair[:2] for pair in found] == [pair[:2] for pair in PAIRS]
    if not named:
        assert [pair[:2] for pair in read_links(file, lengths=LENGTHS)] == [pair[:2] for pair in PAIRS]


def test_what_is_no_file_of_links(tmp_path: Path) -> None:
    with refuses(r"unknown links format 'moses' \(known are pharaoh, talp, naacl"):
        open_links(write(tmp_path, "pharaoh"), format="moses")
    (tmp_path / "bad.wa").write_text("garbage 0-0\n1-1\n1-1\n")
    for name, what in (("none.wa", "none.wa: no such file"), ("bad.wa", "bad.wa:1: 'garbage' is not a link")):
        with refuses(what):
            list(open_links(tmp_path / name))


@pytest.mark.parametrize(
    ("format_", "line"),
    [("pharaoh", 3), ("talp", 3), ("naacl", 1), ("giza", 9), ("comtrans", 9), ("tsv", 3), ("tmx", 3)],
)
@pytest.mark.parametrize("lengths", [(2, 1), (3, 0)])
def test_a_link_out_of_range(tmp_path: Path, format_: str, line: int, lengths: tuple[int, int]) -> None:
    what = f"link 2-0 is out of range for {lengths[0]} source and {lengths[1]} target words"
    with refuses(rf":{line}: {what} \(are source and target swapped, or"):
        list(open_links(write(tmp_path, format_), lengths=[*LENGTHS[:2], lengths]))


@pytest.mark.parametrize(
    ("format_", "step"), [("pharaoh", 1), ("talp", 1), ("giza", 3), ("comtrans", 3), ("tsv", 1), ("tmx", 1)]
)
def test_as_many_links_as_pairs(tmp_path: Path, format_: str, step: int) -> None:
    file = write(tmp_path, format_)
    with refuses(f":{3 * step}: the links end after 3 pairs, but the text goes on"):
        list(open_links(file, lengths=[*LENGTHS, (1, 1)]))
    with refuses(f":{3 * step}: the text ends after 2 pairs, but the links go on"):
        list(open_links(file, lengths=LENGTHS[:2]))


@pytest.mark.parametrize("gone", [0, 1])
def test_a_line_that_is_missing_in_the_middle(tmp_path: Path, gone: int) -> None:
    """The links after it belong to other pairs: that one of them leaves its sentences is not the fault."""
    lines = FILES["pharaoh"].splitlines(keepends=True)
    (tmp_path / "links").write_text("".join(lines[:gone] + lines[gone + 1 :]))
    what = "out of range .*, and there are links for 2 pairs, but 3 of text .is a line missing, here or before"
    with refuses(f"links:2: link 2-0 is {what}"):
        list(open_links(tmp_path / "links", lengths=LENGTHS))


def test_naacl_names_sentences_so_their_number_is_the_texts(tmp_path: Path) -> None:
    file = write(tmp_path, "naacl")
    assert list(open_links(file, lengths=[*LENGTHS, (1, 1)])) == [*PAIRS, NO_LINKS]
    with refuses(r"links:1: there is no sentence 3 in the text"):
        list(open_links(file, lengths=LENGTHS[:2]))


@pytest.mark.parametrize("format", LINK_FORMATS)
@pytest.mark.parametrize("begin", ["", "0-0:", "1 1 1 S ", "a ({ ", "<s snum=1>", '{"source": ['])
@pytest.mark.parametrize("again", ["1", "a", " ", "}", "({ ", "0-0:1.", "</s> "])
def test_a_line_costs_no_more_than_its_length(format: str, begin: str, again: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(f"{FILES[format]}{begin}{again * 20_000}x\n")
    before = time.process_time()
    with pytest.raises(CorpusError):
        open_links(tmp_path / "x", format=format, probable=True).read()
    assert time.process_time() - before < 2  # of work by the square, twenty


LINK = st.tuples(st.integers(0, 60), st.integers(0, 60))


@st.composite
def pair_links(draw: st.DrawFn) -> PairLinks:
    sure = draw(st.frozensets(LINK, max_size=8))
    possible = draw(st.frozensets(LINK, max_size=8)) - sure
    if not draw(st.booleans()):
        return PairLinks(sure, possible)
    return PairLinks(sure, possible, {link: draw(st.sampled_from([0.25, 0.5])) for link in sure | possible})


@given(st.lists(pair_links(), max_size=6), st.lists(pair_links(), max_size=2))
def test_packed_links_are_the_pairs_in_sorted_rows(pairs: list[PairLinks], others: list[PairLinks]) -> None:
    def explicit(pairs: Iterable[PairLinks]) -> list[PairLinks]:
        """With the probability of each link."""
        return [
            pair._replace(scores={link: pair.scores.get(link, 1.0) for link in pair.sure | pair.possible})
            for pair in pairs
        ]

    links, n = Links.from_pairs(iter(pairs)), len(pairs)
    assert explicit(links) == explicit(links[index - n] for index in range(n)) == explicit(pairs)
    assert len(links) == n
    for beyond in (n, -n - 1):
        with pytest.raises(IndexError):
            links[beyond]
    types = [array.dtype.name for array in (links.source, links.target, links.sure, links.offsets)]
    assert types == ["int32", "int32", "bool", "int64"]
    rows = [*zip(links.source.tolist(), links.target.tolist(), strict=True)]
    for first, last in pairwise(links.offsets.tolist()):
        assert rows[first:last] == sorted({*rows[first:last]})
    assert (links == Links.from_pairs(others)) == (explicit(pairs) == explicit(others))
    assert links == Links.from_pairs(explicit(pairs))


def test_sets_and_mappings_to_probabilities() -> None:
    both = Links.from_sets([{(0, 1): 0.5, (2, 0): 1.0}, {(1, 1)}])
    assert both.known_scores.tolist() == [0.5, 1.0, 1.0]
    assert both == Links.from_sets([{(2, 0): 1.0, (0, 1): 0.5}, {(1, 1): 1.0}])
    assert both != Links.from_sets([{(0, 1), (2, 0)}, {(1, 1)}])
    link = frozenset({(0, 1)})
    assert Links.from_pairs([PairLinks(link)]) != Links.from_pairs([PairLinks(frozenset(), link)])
    assert both.take(np.array([1, 0])).known_scores.tolist() == [1.0, 0.5, 1.0]


@pytest.mark.parametrize("kind", ["sure", "possible"])
def test_range(kind: str) -> None:
    link = frozenset({(6, 11)})
    links = PairLinks(link) if kind == "sure" else PairLinks(frozenset(), link)
    check_range(links, 7, 12, "a.wa", 3)
    for n_source, n_target in ((6, 12), (7, 11)):
        with refuses(f"^a.wa:3: link 6-11 is out of range for {n_source} source"):
            check_range(links, n_source, n_target, "a.wa", 3)
