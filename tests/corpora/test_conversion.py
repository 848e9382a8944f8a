"""Conversion loses nothing that the formats can hold; symmetrisation of files is that of their pairs."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.alignment import PairLinks
from corpora.conversion import convert, symmetrize_files, transposed
from corpora.errors import CorpusError
from corpora.formats.pharaoh import format_links
from corpora.link_files import WRITTEN_FORMATS, open_links, read_links
from corpora.readers import open_corpus
from corpora.symmetrize import METHODS, symmetrize

LENGTH = 4
positions = st.tuples(st.integers(0, LENGTH - 1), st.integers(0, LENGTH - 1))
link_sets = st.tuples(st.frozensets(positions, max_size=6), st.frozensets(positions, max_size=6))
pairs = link_sets.map(lambda sets: PairLinks(sets[0], sets[1] - sets[0]))
files = st.lists(pairs, min_size=1, max_size=5)


def converted(source: Path | str, to: str, **options: object) -> bytes:
    stream = io.BytesIO()
    convert(source, stream, to=to, **options)  # type: ignore[arg-type]
    return stream.getvalue()


def make(folder: Path, links: Sequence[PairLinks]) -> Path:
    """A corpus t.de, t.en with these links; each word tells its side and place."""
    for side in ("de", "en"):
        text = "".join(" ".join(f"{side}{n}.{j}" for j in range(LENGTH)) + "\n" for n in range(len(links)))
        (folder / f"t.{side}").write_text(text)
    (folder / "t.wa").write_text("".join(f"{format_links(pair)}\n" for pair in links))
    return folder / "t"


@settings(deadline=None, max_examples=40)
@given(files, st.sampled_from(WRITTEN_FORMATS), st.sampled_from(WRITTEN_FORMATS))
def test_every_format_holds_the_links(
    tmp_path_factory: pytest.TempPathFactory, links: list[PairLinks], first: str, second: str
) -> None:
    folder = tmp_path_factory.mktemp("t")
    text = make(folder, links)
    sure_only = "giza" in (first, second)
    expected = [PairLinks(pair.sure, frozenset()) if sure_only else pair for pair in links]
    (folder / "1").write_bytes(converted(text, first))
    (folder / "2").write_bytes(converted(folder / "1", second, from_=first, text=text))
    lengths = open_corpus(text).lengths()
    assert [*open_links(folder / "2", format=second, lengths=lengths)] == expected
    # NAACL names sentences by number: text tells how many there are.
    back = converted(folder / "2", "pharaoh", from_=second, text=text).decode().split("\n")
    assert back == [*map(format_links, expected), ""]


@settings(deadline=None, max_examples=20)
@given(files, st.sampled_from(["giza", "comtrans"]))
def test_formats_with_text_hold_the_text(
    tmp_path_factory: pytest.TempPathFactory, links: list[PairLinks], format_: str
) -> None:
    folder = tmp_path_factory.mktemp("t")
    text = make(folder, links)
    (folder / "with").write_bytes(converted(folder / "t.wa", format_, text=text))
    lines = [pair[1:] for pair in open_corpus(text).texts()]
    if format_ == "comtrans" and not any(pair.sure or pair.possible for pair in links):
        # Of three lines a pair with the third always empty, nothing says that the third is for links.
        with pytest.raises(CorpusError, match="is one text"):
            open_corpus(folder / "with")
        return
    recognised = open_corpus(folder / "with")
    assert [pair[1:] for pair in recognised.texts()] == lines
    (folder / "turned").write_bytes(converted(folder / "t.wa", format_, text=text, transpose=True))
    assert [pair[1:] for pair in open_corpus(folder / "turned").texts()] == [
        (target, source) for source, target in lines
    ]
    assert [*map(transposed, open_corpus(folder / "turned").links())] == [*recognised.links()]


@settings(deadline=None)
@given(pairs)
def test_transposing_twice_changes_nothing(links: PairLinks) -> None:
    assert transposed(transposed(links)) == links
    assert {(k, j) for j, k in links.sure} == transposed(links).sure


@pytest.mark.parametrize("asked", [None, "jsonl"])
def test_answers_with_text_and_scores_are_converted(tmp_path: Path, asked: str | None) -> None:
    answer = '{"source": ["a", "b"], "target": ["x"], "links": [[1, 0, 0.9]], "score": 0.9}\n'
    (tmp_path / "answers").write_text(answer + '{"source": [], "target": [], "links": [], "score": 0.0}\n')
    assert converted(tmp_path / "answers", "talp", from_=asked) == b"2-1\n\n"
    with pytest.raises(CorpusError, match="unknown links format 'jsonl'"):
        converted(tmp_path / "answers", "jsonl")


def test_languages_choose_the_side_of_the_source(tmp_path: Path) -> None:
    text = make(tmp_path, [PairLinks(frozenset({(0, 1)}), frozenset())])
    source, target, _ = converted(text, "comtrans", languages=("en", "de")).decode().splitlines()
    assert source.startswith("en0.0")
    assert target.startswith("de0.0")


@pytest.mark.parametrize(
    ("name", "options", "what"),
    [
        ("t", {"to": "nonsense"}, r": unknown links format 'nonsense' \(known are pharaoh"),
        ("t", {"to": "giza", "from_": "nonsense"}, r": unknown links format 'nonsense' \(known are pharaoh"),
        ("t.wa", {"to": "giza"}, "t.wa: holds links only, but giza contains the text .*`text`"),
        ("t.wa", {"to": "comtrans"}, "t.wa: holds links only, but comtrans contains the text .*`text`"),
        ("far", {"to": "giza", "text": "t"}, "far:2: link 0-9 is out of range"),
        ("short", {"to": "talp", "text": "t"}, "short:1: the links end after 1 pairs"),
    ],
)
def test_what_cannot_be_converted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, options: dict[str, str], what: str
) -> None:
    make(tmp_path, [PairLinks(frozenset({(0, 0)}), frozenset())] * 2)
    (tmp_path / "far").write_text("0-0\n0-9\n")
    (tmp_path / "short").write_text("0-0\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CorpusError, match=what):
        converted(name, **options)


@settings(deadline=None, max_examples=40)
@given(files, st.data(), st.sampled_from(METHODS), st.booleans())
def test_files_are_symmetrised_pair_by_pair(
    tmp_path_factory: pytest.TempPathFactory, forward: list[PairLinks], draw: st.DataObject, method: str, turned: bool
) -> None:
    folder = tmp_path_factory.mktemp("t")
    reverse = draw.draw(st.lists(pairs, min_size=len(forward), max_size=len(forward)))
    written = [*map(transposed, reverse)] if turned else reverse
    for name, links in (("forward", forward), ("reverse", written)):
        (folder / name).write_text("".join(f"{format_links(pair)}\n" for pair in links))
    found = [*symmetrize_files(folder / "forward", folder / "reverse", method, transpose_reverse=turned)]
    assert found == [
        PairLinks(frozenset(symmetrize(one.sure | one.possible, other.sure | other.possible, method)), frozenset())
        for one, other in zip(forward, reverse, strict=True)
    ]


def test_files_of_unequal_length_are_not_symmetrised(tmp_path: Path) -> None:
    (tmp_path / "two").write_text("0-0\n\n")
    (tmp_path / "one").write_text("0-0\n")
    for forward, reverse in (("one", "two"), ("two", "one")):
        with pytest.raises(CorpusError, match=r"one:1: ends after 1 pairs, but .*two goes on"):
            [*symmetrize_files(tmp_path / forward, tmp_path / reverse, "union")]


def test_the_reversed_trial_gold_is_the_trial_gold(data: Path, tmp_path: Path) -> None:
    (tmp_path / "turned").write_bytes(converted(data / "formats" / "trial.reversed.wa", "pharaoh", transpose=True))
    gold = read_links(data / "hansards" / "gold-trial.wa")
    assert read_links(tmp_path / "turned") == gold != read_links(data / "formats" / "trial.reversed.wa")


def test_the_shared_task_gold_converts_to_ours(data: Path, tmp_path: Path) -> None:
    for source in (data / "formats" / "trial.naacl", data / "formats" / "trial.naacl.wa"):
        (tmp_path / "ours").write_bytes(converted(source, "pharaoh"))
        assert read_links(tmp_path / "ours") == read_links(data / "hansards" / "gold-trial.wa")
