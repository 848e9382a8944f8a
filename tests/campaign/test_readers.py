"""Every reader gives what a file says, line for line, or refuses it in one line that names it."""

import io
import random
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from campaign.forks import in_children
from campaign.mutate import mutated
from campaign.rounds import Round, rounds, told

from aligner.errors import AlignerError
from corpora import SettingError
from corpora.corpus import Corpus
from corpora.errors import CorpusError
from corpora.files import count_lines, pack, read_lines
from corpora.formats.conll import read_sentences
from corpora.formats.pharaoh import parse_pharaoh, write_pharaoh
from corpora.journal import read_journal
from corpora.left_out import LeftOut, OtherSpaces
from corpora.link_files import open_links
from corpora.readers import open_corpus, open_texts
from features.translation.priors import parse_priors

LONGEST = 2.0
"""CPU seconds that no input of this size may take."""


def judge_lines(path: Path, rng: random.Random) -> None:
    lines, start = list(read_lines(path)), rng.randrange(4)
    assert count_lines(path) == len(lines)
    assert list(read_lines(path, start)) == lines[start:]


def judge_corpus(path: Path, rng: random.Random) -> None:
    judge_texts(open_corpus(str(path)))


def judge_two_texts(path: Path, rng: random.Random) -> None:
    corpus = open_texts(str(path), str(path))
    judge_texts(corpus)
    assert len(list(corpus.texts())) == count_lines(path)


def judge_texts(corpus: Corpus) -> None:
    texts = list(corpus.texts())
    assert [number for number, *_ in texts] == sorted({number for number, *_ in texts})
    if texts:
        assert [text for number in (1, 2, 3) for text in corpus.shard(number, 3).texts()] == texts
    if corpus.has_links:
        pairs = list(corpus.links())
        assert len(pairs) == len(texts)
        for (J, K), links in zip(corpus.lengths(), pairs, strict=True):
            assert all(0 <= j < J and 0 <= k < K for j, k in links.sure | links.possible)


def judge_links(path: Path, rng: random.Random) -> None:
    stream = open_links(str(path), probable=rng.randrange(2) > 0)
    pairs, written = list(stream), io.BytesIO()
    write_pharaoh(written, pairs)
    again = parse_pharaoh(written.getvalue().splitlines(), "again")
    assert [(pair.sure, pair.possible) for pair in again] == [(pair.sure, pair.possible - pair.sure) for pair in pairs]
    if stream.format in ("pharaoh", "talp"):
        assert len(pairs) == count_lines(path)
    assert all(min(link) >= 0 for pair in pairs for link in pair.sure | pair.possible)


def judge_priors(path: Path, rng: random.Random) -> None:
    parse_priors(read_lines(path), str(path))


def judge_journal(path: Path, rng: random.Random) -> None:
    assert all(isinstance(entry, dict) for entry in read_journal(path))


def judge_labels(path: Path, rng: random.Random) -> None:
    sentences = list(read_sentences(path))
    (path.parent / "again").write_text("".join(map(str, sentences)), "utf-8")
    again = list(read_sentences(path.parent / "again"))
    assert [(one.rows, one.comments) for one in again] == [(one.rows, one.comments) for one in sentences]


JUDGES: list[Callable[[Path, random.Random], None]] = [
    judge_lines, judge_corpus, judge_two_texts, judge_links, judge_links, judge_priors, judge_journal,
    judge_labels,
]  # fmt: skip


def judged(judge: Callable[[Path, random.Random], None], path: Path, rng: random.Random) -> bool:
    """Whether the file is taken; what is refused is so in one line of letters that can be seen."""
    began, refusal = time.process_time(), None
    with warnings.catch_warnings():
        for category in (LeftOut, OtherSpaces):
            warnings.simplefilter("ignore", category)
        try:
            judge(path, rng)
        except AlignerError as error:
            refusal = error
    assert time.process_time() - began < LONGEST
    if refusal is not None:
        assert str(refusal).isprintable()
        assert isinstance(refusal, SettingError) or (isinstance(refusal, CorpusError) and refusal.path == str(path))
    return refusal is None


@rounds(1_000_000, 3_000, chunks=20)
def test_readers(inputs: Round, seeds: dict[str, bytes], tmp_path: Path) -> None:
    contents, taken = list(seeds.values()), 0
    for number, rng in inputs.numbered():
        name = rng.choice(list(seeds))
        packing = rng.choice([*[""] * 12, ".gz", ".xz", ".zst"])
        content = pack(packing, mutated(seeds[name], rng, contents)) if packing else mutated(seeds[name], rng, contents)
        if packing and rng.randrange(2):
            content = mutated(content, rng, contents)
        path = tmp_path / f"{name}{packing}"
        path.write_bytes(content)
        with told(inputs, number, path):
            taken += judged(rng.choice(JUDGES), path, rng)
    assert 0.02 < taken / inputs.inputs < 0.9  # else the inputs are too broken, or nothing is looked at


@pytest.fixture(scope="session")
def tables(seeds: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A table of each kind, of text and of tokens."""
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    folder, found = tmp_path_factory.mktemp("tables"), {}
    sides = [seeds[f"text.{side}"].decode().splitlines() * 40 for side in ("en", "fr")]
    for kind in ("text", "tokens", "words"):
        source, target = (side if kind == "text" else [line.split() for line in side] for side in sides)
        if kind == "words":
            source, target = (
                arrow.array([words[0] for words in side]).dictionary_encode() for side in (source, target)
            )
        table = arrow.table({"source": source, "target": target})
        parquet.write_table(table, folder / "a.parquet", row_group_size=50, compression="zstd")
        found[f"{kind}.parquet"] = (folder / "a.parquet").read_bytes()
        for name, new in (("arrow", arrow.ipc.new_file), ("arrows", arrow.ipc.new_stream)):
            with new(folder / name, table.schema) as writer:
                writer.write_table(table, 100)
            found[f"{kind}.{name}"] = (folder / name).read_bytes()
    return found


def judge_table(tables: dict[str, bytes], folder: Path, inputs: Round, number: int) -> None:
    rng = inputs.draw(number)
    name = rng.choice(list(tables))
    content = bytearray(tables[name])
    if rng.randrange(3):
        for _ in range(rng.choice([1, 1, 3, 20])):
            at = rng.randrange(len(content)) & ~3
            value = rng.choice([rng.randbytes(4), b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\1\0\0\0", b"\0\x94\x35\x77"])
            content[at : at + 4] = value[: len(content) - at]
    path = folder / name
    path.write_bytes(content if content != tables[name] else mutated(bytes(content), rng, list(tables.values())))
    with told(inputs, number, path):
        judged(judge_corpus, path, rng)


@rounds(20_000, 60)
def test_tables(inputs: Round, tables: dict[str, bytes], tmp_path: Path) -> None:
    in_children(judge_table, inputs.inputs, 500, tables, tmp_path, inputs)
