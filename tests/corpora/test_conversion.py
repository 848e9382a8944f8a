"""Conversion loses nothing that the formats can hold; symmetrisation of files is that of their pairs."""

import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from readings import cases, refuses

from corpora import SettingError
from corpora.conversion import convert, format_of, symmetrize_files, transposed, write_texts
from corpora.formats.pharaoh import format_links
from corpora.formats.sheets import LINK_COLUMNS
from corpora.link_files import LINK_FORMATS, WRITTEN_FORMATS, open_links, read_links
from corpora.links import NO_LINKS, PairLinks
from corpora.readers import open_corpus
from corpora.reading import Reading
from corpora.symmetrize import METHODS, symmetrize

BOTH_WAYS = [name for name in WRITTEN_FORMATS if name in LINK_FORMATS]
"""Formats that are written and read."""

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


@settings(max_examples=40)
@given(files, st.sampled_from(BOTH_WAYS), st.sampled_from(BOTH_WAYS))
def test_every_format_holds_the_links(
    tmp_path_factory: pytest.TempPathFactory, links: list[PairLinks], first: str, second: str
) -> None:
    folder = tmp_path_factory.mktemp("t")
    text = make(folder, links)
    if "giza" in (first, second) and any(pair.possible for pair in links):
        line = 1 + [bool(pair.possible) for pair in links].index(True)
        with refuses(rf"t.wa:{line}: pair {line} has a link that is only possible, \d\?\d"):
            converted(text, "giza")
        return
    (folder / "1").write_bytes(converted(text, first))
    (folder / "2").write_bytes(converted(folder / "1", second, from_=first, text=text))
    lengths = open_corpus(text).lengths()
    found = open_links(folder / "2", format=second, lengths=lengths)
    assert [pair[:2] for pair in found] == [pair[:2] for pair in links]
    # NAACL names sentences by number: text tells how many there are.
    back = converted(folder / "2", "pharaoh", from_=second, text=text).decode().split("\n")
    assert back == [*map(format_links, links), ""]


@pytest.mark.parametrize("asked", [None, "jsonl"])
def test_answers_with_text_and_scores_are_converted(tmp_path: Path, asked: str | None) -> None:
    answer = '{"source": ["a", "b"], "target": ["x"], "links": [[1, 0, 0.9]], "score": 0.9}\n'
    (tmp_path / "answers").write_text(answer + '{"source": [], "target": [], "links": [], "score": 0.0}\n')
    assert converted(tmp_path / "answers", "talp", from_=asked) == b"2-1\n\n"
    first, second = converted(tmp_path / "answers", "jsonl", from_=asked).decode().splitlines(keepends=True)
    assert first == answer
    assert json.loads(second) == {"source": [], "target": [], "links": []}
    rows = converted(tmp_path / "answers", "csv", from_=asked).decode("utf-8-sig").splitlines()
    assert rows == [",".join(LINK_COLUMNS), "1,2,b,1,x,0.9,sure"]
    named = converted(tmp_path / "answers", "tmx", from_=asked, reading=Reading("en", "fr"), transpose=True).decode()
    assert re.findall('xml:lang="(..)"><seg>(.*?)</seg>', named)[:2] == [("fr", "x"), ("en", "a b")]


def test_scores_are_kept_if_they_are_no_probabilities(tmp_path: Path) -> None:
    text = make(tmp_path, [NO_LINKS] * 2)
    (tmp_path / "scored").write_text("0-1:0.0000 3?2:1.5\n\n")
    found = json.loads(converted(tmp_path / "scored", "jsonl", text=text).splitlines()[0])
    assert (found["links"], found["possible"], found["score"]) == ([[0, 1, 0.0], [3, 2, 1.5]], [[3, 2]], 0.75)
    turned = converted(tmp_path / "scored", "csv", text=text, transpose=True).decode("utf-8-sig").splitlines()
    assert turned[1:] == ["1,2,en0.1,1,de0.0,0.0,sure", "1,3,en0.2,4,de0.3,1.5,possible"]


@settings(max_examples=10)
@given(files)
def test_tables_have_all_links(tmp_path_factory: pytest.TempPathFactory, links: list[PairLinks]) -> None:
    text = make(tmp_path_factory.mktemp("t"), links)
    expected = [
        [str(cell) for cell in (n + 1, j + 1, f"de{n}.{j}", k + 1, f"en{n}.{k}", "", kind)]
        for n, pair in enumerate(links)
        for j, k in sorted(pair.sure | pair.possible)
        for kind in ["sure" if (j, k) in pair.sure else "possible"]
    ]
    rows = list(csv.reader(io.StringIO(converted(text, "csv").decode("utf-8-sig"), newline="")))
    assert rows == [[*LINK_COLUMNS], *expected]
    sheet = openpyxl.load_workbook(io.BytesIO(converted(text, "xlsx"))).active
    assert [["" if cell is None else str(cell) for cell in row] for row in sheet.values] == rows


def test_translation_memories_keep_languages_and_links(tmp_path: Path) -> None:
    links = [PairLinks(frozenset({(0, 1)}), frozenset({(3, 2)})), NO_LINKS]
    text, memory = make(tmp_path, links), tmp_path / "t.tmx"
    memory.write_bytes(converted(text, "tmx", reading=Reading("en", "de")))
    corpus = open_corpus(memory)
    assert corpus.languages == ("en", "de")
    assert [pair[1:] for pair in corpus.texts()] == [pair[:0:-1] for pair in open_corpus(text).texts()]
    assert converted(memory, "pharaoh") == b"0-1 3?2\n\n"
    assert converted(memory, "tmx") == memory.read_bytes()
    assert converted(memory, "tmx", transpose=True) == converted(tmp_path / "t.wa", "tmx", text=text).replace(
        b"0-1 3?2", b"1-0 2?3"
    )
    assert not corpus.has_labels, "links of an aligner may be in there"
    with refuses("links of TMX are between its languages as they come", SettingError):
        converted(memory, "csv", reading=Reading("de", "en"))
    unnamed = converted(tmp_path / "t.wa", "conllu", text=converted_joint(tmp_path, text))
    assert unnamed.startswith(b"# sent_id = 1/x-source\n")


def test_scores_of_any_format_stay(tmp_path: Path) -> None:
    text, links = make(tmp_path, [NO_LINKS]), tmp_path / "l.talp"
    links.write_text("1-2:0.25\n")
    assert b"1,1,de0.0,2,en0.1,0.25,sure" in converted(links, "csv", text=text)


def converted_joint(folder: Path, text: Path) -> Path:
    """The corpus as one file, which names no languages."""
    lines = (b"%b ||| %b\n" % pair[1:] for pair in open_corpus(text).texts())
    (folder / "joint").write_bytes(b"".join(lines))
    return folder / "joint"


@pytest.mark.parametrize(
    ("content", "to", "what"),
    [
        (b"a\nb\x02 c\n", "tmx", "t.en:2: has a control character, which tmx cannot have"),
        (b"a\n\xef\xbf\xbf\n", "xlsx", "t.en:2: has a control character, which xlsx cannot have"),
        (b"a\n" + b"b " * 1000, "clearaligner", "t.en:2: has more than 999 words, which clearaligner cannot have"),
        (b"a\n\xff\n", "jsonl", "t.en:2: not valid UTF-8"),
    ],
)
def test_what_a_format_cannot_hold(tmp_path: Path, content: bytes, to: str, what: str) -> None:
    make(tmp_path, [NO_LINKS] * 2)
    (tmp_path / "t.en").write_bytes(content)
    with refuses(what):
        converted(tmp_path / "t", to)
    if to == "clearaligner":
        (tmp_path / "t.en").write_bytes(b"a\n" + b"b " * 999)
    assert converted(tmp_path / "t", "clearaligner" if to == "clearaligner" else "talp")


def test_text_is_written_line_by_line(tmp_path: Path) -> None:
    lines = [("a\rb", "x"), ("", "y\r\nz"), (" 'c' \u2028", "w")]
    (tmp_path / "t").write_text("".join(f"{json.dumps(dict(zip('st', pair, strict=True)))}\n" for pair in lines))
    corpus, streams = open_corpus(tmp_path / "t", columns=("s", "t")), (io.BytesIO(), io.BytesIO())
    write_texts(corpus, corpus.texts(), *streams)
    assert streams[0].getvalue().decode() == "a b\n\n'c' \u2028\n"
    assert streams[1].getvalue() == b"x\ny  z\nw\n"


def test_names_tell_formats() -> None:
    assert all(format_of(f"a/b.{name}") == format_of(f"{name}.{name}.gz") == name for name in WRITTEN_FORMATS)
    assert [format_of(name) for name in ("t.wa", "t.links.xz", "t.align", "t.pharaoh")] == ["pharaoh"] * 4
    assert [format_of(name) for name in ("t.en", "t", "csv", "-", "t.tsv", "wa/t")] == [None] * 6


def test_languages_choose_the_side_of_the_source(tmp_path: Path) -> None:
    text = make(tmp_path, [PairLinks(frozenset({(0, 1)}))])
    source, target, _ = converted(text, "comtrans", reading=Reading("en", "de")).decode().splitlines()
    assert source.startswith("en0.0")
    assert target.startswith("de0.0")


@pytest.mark.parametrize(
    ("name", "to", "from_", "text", "what"),
    cases(
        r"""
        t ¦ nonsense ¦ ¦ ¦ : unknown links format 'nonsense' \(known are pharaoh
        t ¦ giza ¦ nonsense ¦ ¦ : unknown links format 'nonsense' \(known are pharaoh
        t.wa ¦ giza ¦ ¦ ¦ t.wa: holds links only, but giza contains the text .*`text`
        t.en ¦ csv ¦ ¦ ¦ t.en: is text without links .*`text`
        t.wa ¦ csv ¦ ¦ ¦ t.wa: holds links only, but csv contains the text .*`text`
        t.de ¦ talp ¦ tmx ¦ ¦ t.de:1: is no whole TMX file
        bare ¦ talp ¦ ¦ ¦ bare: has no links
        t.wa ¦ comtrans ¦ ¦ ¦ t.wa: holds links only, but comtrans contains the text .*`text`
        far ¦ giza ¦ ¦ t ¦ far:2: link 0-9 is out of range
        short ¦ talp ¦ ¦ t ¦ short:1: the links end after 1 pair,
        """
    ),
)
def test_what_cannot_be_converted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, to: str, from_: str, text: str, what: str
) -> None:
    make(tmp_path, [PairLinks(frozenset({(0, 0)}))] * 2)
    for file, content in {"far": "0-0\n0-9\n", "short": "0-0\n", "bare.de": "a\n", "bare.en": "a\n"}.items():
        (tmp_path / file).write_text(content)
    monkeypatch.chdir(tmp_path)
    with refuses(what):
        converted(name, to, from_=from_ or None, text=text or None)


@settings(max_examples=40)
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
        PairLinks(frozenset(symmetrize(one.sure | one.possible, other.sure | other.possible, method)))
        for one, other in zip(forward, reverse, strict=True)
    ]


def test_files_of_unequal_length_are_not_symmetrised(tmp_path: Path) -> None:
    (tmp_path / "two").write_text("0-0\n\n")
    (tmp_path / "one").write_text("0-0\n")
    for forward, reverse in (("one", "two"), ("two", "one")):
        with refuses(r"one:1: ends after 1 pair, but .*two goes on"):
            [*symmetrize_files(tmp_path / forward, tmp_path / reverse, "union")]


def test_the_reversed_trial_gold_is_the_trial_gold(data: Path, tmp_path: Path) -> None:
    (tmp_path / "turned").write_bytes(converted(data / "formats" / "trial.reversed.wa", "pharaoh", transpose=True))
    gold = read_links(data / "hansards" / "gold-trial.wa")
    assert read_links(tmp_path / "turned") == gold != read_links(data / "formats" / "trial.reversed.wa")


def test_the_shared_task_gold_converts_to_ours(data: Path, tmp_path: Path) -> None:
    for source in (data / "formats" / "trial.naacl", data / "formats" / "trial.naacl.wa"):
        (tmp_path / "ours").write_bytes(converted(source, "pharaoh"))
        assert read_links(tmp_path / "ours") == read_links(data / "hansards" / "gold-trial.wa")
