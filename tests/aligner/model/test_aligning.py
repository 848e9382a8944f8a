"""One line out for one line in, in order, however the bytes arrive."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aligner.errors import AlignerError
from aligner.model.aligning import LinksFile, align, parts_arriving, parts_of_text
from aligner.model.model import Model
from aligner.model.output_formats import FORMATS
from corpora.corpus import Corpus
from corpora.errors import CorpusError
from corpora.links import PairLinks
from corpora.readers import open_corpus, open_texts
from corpora.rereading import check_corpus, read_again, rereadable
from corpora.skipping import Skipping

BOM = b"\xef\xbb\xbf"


class Pieces(io.RawIOBase):
    """A stream that gives these pieces, one at a read."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.pieces = iter(pieces)
        self.reads = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        self.reads += 1
        piece = next(self.pieces, b"")
        buffer[: len(piece)] = piece
        return len(piece)


def arriving(pieces: Iterable[bytes]) -> io.BufferedReader:
    return io.BufferedReader(Pieces(pieces), 1 << 18)


@pytest.fixture(scope="module")
def texts(sample: Path) -> list[tuple[str, str]]:
    lines = [(sample / f"test.{language}").read_text("utf-8").split("\n")[:-1] for language in ("en", "fr")]
    pairs = list(zip(*lines, strict=True))
    odd = [("only", ""), ("", "seulement"), ("w" * 300, "w" * 299 + "z"), ("e\u0301 \U0001f600", "\u00e9")]
    return [*pairs[:9], ("", ""), *pairs[9:], ("a  house \f", "une\u00a0maison \u2028"), *odd]


@pytest.fixture
def files(texts: list[tuple[str, str]], tmp_path: Path) -> tuple[Path, Path]:
    source, target = tmp_path / "x.en", tmp_path / "x.fr"
    source.write_bytes("".join(f"{a}\n" for a, _ in texts).encode())
    target.write_bytes("".join(f"{b}\n" for _, b in texts).encode())
    return source, target


def joint(texts: list[tuple[str, str]]) -> bytes:
    return "".join(f"{source} ||| {target}\n" for source, target in texts).encode()


def tokens(text: str) -> list[str]:
    """Split as text is that is read: at ASCII whitespace only."""
    return [token.decode() for token in text.encode().split()]


def expected(model: Model, texts: list[tuple[str, str]]) -> list[str]:
    return [str(model.align(tokens(source), tokens(target))) for source, target in texts]


def lines_of(answers: Iterable[bytes]) -> list[str]:
    """The lines of answers, each of which is whole lines."""
    parts = list(answers)
    assert all(part.endswith(b"\n") for part in parts)
    return b"".join(parts).decode().split("\n")[:-1]


def arriving_lines(
    model: Model,
    stream: io.BufferedReader,
    format_: str,
    links: Sequence[LinksFile] = (),
    skipping: Skipping = Skipping(),  # noqa: B008 - frozen
) -> Iterator[bytes]:
    """The formatted lines of what arrives."""
    for part in parts_arriving(open_corpus("-"), model.builder, stream, links, skipping=skipping):
        for found in align([part], model):
            yield FORMATS[format_](*found, model.normalizers, (None, None))


def align_corpus(
    model: Model, corpus: Corpus, format_: str, links: Sequence[LinksFile] = (), pairs: int = 0
) -> Iterator[bytes]:
    """The formatted lines of a corpus of which so many pairs were read before."""
    for found in align(parts_of_text(corpus, model.builder, read_again(corpus, pairs), links), model):
        yield FORMATS[format_](*found, model.normalizers, (None, None))


@pytest.mark.parametrize("at_once", [1, 7, 10_000])
def test_every_way_of_reading_gives_the_same_lines(
    model: Model, texts: list[tuple[str, str]], files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr("aligner.model.aligning.PAIRS_AT_ONCE", at_once)
    answers, corpus = expected(model, texts), open_texts(*files)
    assert check_corpus(corpus) == len(texts)
    assert answers[9] == ""
    assert lines_of(align_corpus(model, corpus, "pharaoh")) == answers
    for stream in (arriving([joint(texts)]), io.BytesIO(joint(texts))):
        assert lines_of(arriving_lines(model, stream, "pharaoh")) == answers  # type: ignore[arg-type]


def test_formats(model: Model, texts: list[tuple[str, str]], files: tuple[Path, Path]) -> None:
    lines = {name: lines_of(align_corpus(model, open_texts(*files), name)) for name in FORMATS}
    assert {len(found) for found in lines.values()} == {len(texts)}
    assert lines["pharaoh"] == expected(model, texts)
    for text, scored, packed in zip(texts, lines["scored"], lines["jsonl"], strict=True):
        source, target = map(tokens, text)
        found = model.align(source, target)
        scores = [round(score, 4) for score in found.scores]
        assert scored == " ".join(f"{j}-{k}:{score:.4f}" for (j, k), score in zip(found, scores, strict=True))
        links = [[*link, score] for link, score in zip(found, scores, strict=True)]
        entry = {"source": source, "target": target, "links": links, "score": round(found.score, 4)}
        assert json.loads(packed) == entry


token = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="|\n\r\t"), max_size=4)
line = st.lists(st.sampled_from(["a", "house", "\u2028", "\x85", "\ufeff", "é", "x\rx", "\x0c", "\U0001f600"]) | token)
side = line.map(" ".join)


@pytest.mark.filterwarnings("ignore::corpora.left_out.OtherSpaces")
@settings(max_examples=100)
@given(
    st.lists(st.tuples(side, side), max_size=4),
    st.sampled_from([b"\n", b"\r\n"]),
    st.booleans(),
    st.booleans(),
    st.none() | st.lists(st.integers(0, 99), max_size=12),
)
def test_any_pieces_give_the_same_lines(
    model: Model, lines: list[tuple[str, str]], ending: bytes, mark: bool, ended: bool, cuts: list[int] | None
) -> None:
    content = ending.join(f"{source} ||| {target}".encode() for source, target in lines)
    assume(mark or not content.startswith(BOM))  # a mark at the start of the stream is no text
    content = BOM * mark + content + ending * (ended and bool(lines))
    inner = range(len(content)) if cuts is None else (cut * len(content) // 100 for cut in cuts)
    pieces = [content[start:end] for start, end in pairwise(sorted({0, len(content), *inner}))]
    answers = [json.loads(line) for line in lines_of(arriving_lines(model, arriving(pieces), "jsonl"))]
    assert [(answer["source"], answer["target"]) for answer in answers] == [
        (tokens(source), tokens(target)) for source, target in lines
    ]


@pytest.mark.parametrize(
    ("pieces", "n_lines"),
    [
        ([], 0), ([BOM], 0), ([BOM[:1], BOM[1:]], 0), ([b"\n"], 1), ([b"\r", b"\n"], 1),
        ([BOM[:2], BOM[2:] + b"\r", b"\n", b"\r\n"], 2), ([b"a ||| b"], 1), ([b"a ||| b\r"], 1),
        ([b"a ||| b\r", b"\nc |", b"|| d"], 2), ([b" \n", b"\n", b"a ||| b\n"], 3),
    ],
)  # fmt: skip
def test_ends_of_lines(model: Model, pieces: list[bytes], n_lines: int) -> None:
    found = lines_of(arriving_lines(model, arriving(pieces), "jsonl"))
    assert len(found) == n_lines
    assert not any("\\r" in line or "\\ufeff" in line or "\ufeff" in line for line in found)


def test_answers_come_before_the_next_question(model: Model) -> None:
    pieces = Pieces([b"a ||| une\n", b"a house ||| une maison\nred |||", b" rouge\n", b"x ||| y"])
    answers = arriving_lines(model, io.BufferedReader(pieces, 1 << 18), "pharaoh")
    for reads, lines in ((1, 1), (2, 1), (3, 1), (5, 1)):  # the last line ends where the stream does
        assert next(answers).count(b"\n") == lines
        assert pieces.reads == reads
    assert list(answers) == []


@pytest.mark.parametrize(
    ("pieces", "number", "what"),
    [
        ([b"a ||| b\n\na b\n"], 3, r"no \|\|\|"),
        ([b"a ||| b\n", b"\n", b"a ||| ", b"b ||| c\n"], 3, "more than one"),
        ([b"a\tb\n", b"a ||| b\tc\n"], 2, "more than one"),
        ([b"a ||| b\nc ||", b"| d\n", b"a"], 3, r"no \|\|\|"),
        ([BOM, b"a ||| b\n", b"a ||| \xff\n"], 2, "not valid UTF-8"),
        ([b"the house ||| la maison\n" * 5, b"\xe9 ||| b\n", b"broken\n"], 6, "not valid UTF-8"),
        ([b"the house ||| la maison\n\na ||| une\n\xff ||| b\nbroken\n"], 4, "not valid UTF-8"),
    ],
)
def test_a_broken_line_is_named_and_those_before_it_are_answered(
    model: Model, pieces: list[bytes], number: int, what: str
) -> None:
    answers: list[bytes] = []
    with pytest.raises(CorpusError, match=what) as error:
        answers.extend(arriving_lines(model, arriving(pieces), "pharaoh"))
    assert (error.value.path, error.value.line) == ("-", number)
    good = b"".join(pieces).splitlines(keepends=True)[: number - 1]
    assert b"".join(answers) == b"".join(arriving_lines(model, arriving(good), "pharaoh"))


@pytest.mark.parametrize("at_once", [True, False])
def test_broken_and_long_lines_are_left_empty(model: Model, at_once: bool) -> None:
    lines = [b"a house ||| la maison\n", b"broken\n", b"\xff\tx\n", b"a " * 5 + b"\tune\n", b"a\tune\n", b"a\tb\tc"]
    told: list[int] = []
    skipping = Skipping(4, on_broken=lambda error: told.append(error.line))
    pieces = [b"".join(lines)] if at_once else lines
    found = lines_of(arriving_lines(model, arriving(pieces), "pharaoh", (), skipping))
    alone = lines_of(arriving_lines(model, arriving([lines[0], lines[4]]), "pharaoh"))
    assert found == [alone[0], "", "", "", alone[1], ""]
    assert told == [2, 3, 6]
    assert (skipping.too_long, skipping.broken) == ({("-", 4)}, {("-", 2), ("-", 3), ("-", 6)})


def test_broken_files_are_found_beforehand(model: Model, tmp_path: Path) -> None:
    source, target = tmp_path / "x.en", tmp_path / "x.fr"
    source.write_bytes(b"a\nb\nc\n")
    for content, file, number in ((b"a\nb\xff\nc\n", target, 2), (b"a\nb\n", target, 2), (b"a\nb\nc\nd\n", source, 3)):
        target.write_bytes(content)
        with pytest.raises(CorpusError) as error:
            check_corpus(open_texts(source, target))
        assert (error.value.path, error.value.line) == (str(file), number)
        with pytest.raises(CorpusError) as again:
            list(align_corpus(model, open_texts(source, target), "pharaoh"))
        assert str(again.value) == str(error.value)


@pytest.mark.parametrize("format_", FORMATS)
def test_a_text_that_shrinks_after_it_was_checked(model: Model, files: tuple[Path, Path], format_: str) -> None:
    corpus = open_texts(*files)
    pairs = check_corpus(corpus)
    for file in files:
        file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:3]))
    with pytest.raises(CorpusError, match=rf"x.en:3: ends here, but had {pairs} pairs, not 3"):
        lines_of(align_corpus(model, corpus, format_, pairs=pairs))


def test_what_comes_through_a_pipe_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path, content = tmp_path / "joint", b"a ||| b\n\n \xff\t\nc ||| d"
    path.write_bytes(content)
    there = open_corpus(path)
    assert rereadable(there) is there
    for piped, expected in ((content, list(there.texts())), (b"", [])):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(piped)))
        corpus = rereadable(open_corpus("-"))
        assert list(corpus.texts()) == list(corpus.texts()) == expected
        assert rereadable(corpus) is corpus.refuse_pipes() is corpus


def test_links_of_another_aligner(linked: Model, sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aligner.model.aligning.PAIRS_AT_ONCE", 5)
    corpus = open_corpus(str(sample / "test"))
    links = list(corpus.links())
    lines = [(source.decode(), target.decode()) for _, source, target in corpus.texts()]
    pieces = [joint(lines[:10]), joint(lines[10:13]), joint(lines[13:])]

    def of_file(given: list[PairLinks]) -> list[str]:
        return lines_of(align_corpus(linked, corpus, "pharaoh", [LinksFile("l", iter(given))]))

    def of_stream(given: list[PairLinks]) -> list[str]:
        return lines_of(arriving_lines(linked, arriving(pieces), "pharaoh", [LinksFile("l", iter(given))]))

    expected = [
        str(linked.align(source.split(), target.split(), [pair.sure | pair.possible]))
        for (source, target), pair in zip(lines, links, strict=True)
    ]
    assert of_file(links) == of_stream(links) == expected
    far = PairLinks(frozenset({(900, 0)}))
    for wrong, line in (([*links[:12], far, *links[13:]], 13), ([*links, far], len(links) + 1)):
        with pytest.raises(CorpusError) as caught:
            of_stream(wrong)
        assert (caught.value.path, caught.value.line) == ("l", line)
    for way in (of_file, of_stream):
        with pytest.raises(CorpusError, match="links end here"):
            way(links[:12])
    with pytest.raises(AlignerError, match="files of other"):
        list(align_corpus(linked, corpus, "pharaoh"))
