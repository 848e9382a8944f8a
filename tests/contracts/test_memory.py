"""Memory is bounded by what is read, not by a number that stands in it nor by what is packed."""

import gzip
import subprocess
import tracemalloc
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from commands import COMMAND, TIMEOUT

from aligner.evaluation.counts import count
from aligner.model.consensus import combine
from corpora import AlignerError, files
from corpora.conversion import convert, side_by_side, symmetrize_files
from corpora.files import count_lines, pack, read_lines
from corpora.journal import read_journal
from corpora.link_files import open_links, read_links
from corpora.links import PairLinks
from corpora.readers import open_corpus
from features.translation.priors import parse_priors

MOST = 4 << 20
"""Bytes, of files of some kB."""


def peak(work: Callable[[], object]) -> int:
    """The most bytes in use while it runs; it may refuse what it reads."""
    tracemalloc.start()
    try:
        try:
            found = work()
            if isinstance(found, Iterable):
                deque(found, maxlen=0)
        except AlignerError:
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def combined(paths: list[Path]) -> Iterable[PairLinks]:
    return combine(side_by_side(paths, [open_links(path, probable=True) for path in paths]))


LINKS: dict[str, bytes] = {
    "a large position": b"0-8000000\n",
    "the largest": b"0-999999999 999999999-0\n",
    "large on both sides": b"0-50000 50000-0\n",
    "in many lines": b"0-999999999\n" * 1000,
    "a diagonal": b" ".join(b"%d-%d" % (n, n) for n in range(1000)) + b"\n",
    "a position of naacl": b"1 999999999 999999999\n",
    "a length of giza": b"# Sentence pair (1) source length 999999999 target length 1 x\na\nNULL ({ }) a ({ 1 })\n",
    "digits of giza": b"# Sentence pair (1) source length %b target length 1 x\na\nNULL ({ })\n" % (b"1" * 5000),
    "digits of pharaoh": b"0-%b\n" % (b"1" * 5000),
    "digits of jsonl": b'{"source": ["a"], "target": ["b"], "links": [[0, %b, 1.0]]}\n' % (b"1" * 5000),
    "score of jsonl": b'{"source": ["a"], "target": ["b"], "links": [[0, 0, %b]]}\n' % (b"1" * 4000),
    "depth of jsonl": b'{"source": [' + b"[" * 100_000 + b"}\n",
}
USES: dict[str, Callable[[Path], object]] = {
    "open_links": open_links,
    "read_links": lambda path: read_links(path).offsets.shape,
    "combine one": lambda path: combined([path]),
    "combine two": lambda path: combined([path, path]),
    "symmetrize": lambda path: symmetrize_files(path, path, "gdfa"),
    "evaluate": lambda path: count(read_links(path), read_links(path)).shape,
    "open_corpus": lambda path: open_corpus(path).texts(),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("content", LINKS)
def test_links_of_large_numbers(tmp_path: Path, content: str, use: str) -> None:
    """They are read, or refused in a line."""
    path = tmp_path / "links"
    path.write_bytes(LINKS[content])
    assert peak(lambda: USES[use](path)) < MOST


def test_sentences_between_those_that_have_links(tmp_path: Path) -> None:
    (tmp_path / "links").write_bytes(b"10000000 1 1\n")
    assert peak(lambda: [next(iter(open_links(tmp_path / "links")))]) < MOST


def test_links_are_converted_as_they_come(tmp_path: Path) -> None:
    (tmp_path / "links").write_bytes(LINKS["in many lines"])
    with (tmp_path / "out").open("wb") as out:
        assert peak(lambda: convert(tmp_path / "links", out, to="talp")) < MOST


@pytest.mark.parametrize("packer", [".gz", ".zst"])
@pytest.mark.parametrize("read", [read_lines, lambda path: parse_priors(read_lines(path), path), open_links])
def test_a_line_that_unpacks_to_much(
    tmp_path: Path, read: Callable[[Path], object], packer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LONGEST_LINE", 1 << 20)
    (tmp_path / "file").write_bytes(pack(packer, bytes(1 << 24)))
    assert peak(lambda: read(tmp_path / "file")) < MOST
    assert peak(lambda: count_lines(tmp_path / "file")) < MOST


def test_a_journal_of_depth(tmp_path: Path) -> None:
    (tmp_path / "journal").write_bytes(b"[" * 100_000 + b"\n" + b'{"a":' * 10_000 + b"\n")
    assert peak(lambda: read_journal(tmp_path / "journal")) < MOST


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no device without an end")
@pytest.mark.parametrize(
    "arguments",
    [
        "show z.gz t.fr t.wa",
        "combine /dev/zero",
        "align /dev/zero t.fr",
        "evaluate t.wa /dev/zero",
        "align z.gz t.fr",
    ],
)
def test_what_has_no_end_is_refused_in_bounded_memory(tmp_path: Path, arguments: str) -> None:
    (tmp_path / "t.fr").write_text("a\n")
    (tmp_path / "t.wa").write_text("0-0\n")
    (tmp_path / "z.gz").write_bytes(gzip.compress(bytes(300_000_000), 6))
    limited = ["/bin/sh", "-c", 'ulimit -v 6000000; exec "$@"', "sh", *COMMAND, *arguments.split()]
    done = subprocess.run(limited, capture_output=True, text=True, cwd=tmp_path, timeout=TIMEOUT, check=False)
    assert done.returncode == 1
    assert done.stderr.count("has more than 64 MiB without an end") == 1
