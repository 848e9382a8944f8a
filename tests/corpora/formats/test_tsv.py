"""Lines of scores and links: what is no such line is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpora.errors import CorpusError
from corpora.formats.tsv import COLUMNS, ROW
from corpora.link_files import open_links
from corpora.readers import open_corpus

GOOD = ROW % (-1.0, float("-inf"), float("nan"), 0.5, 0.25, b"0-0 2-1")


def test_a_row_has_the_columns() -> None:
    assert len(GOOD.split(b"\t")) == len(COLUMNS)


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        (GOOD.replace(b"0-0", b"0-x"), "'0-x' is not a link"),
        (GOOD.replace(b"0.5000\t", b""), "is no line of 5 numbers and links"),
        (GOOD.replace(b"nan", b"none"), "is no line of 5 numbers and links"),
        (b"0-0\n", "is no line of 5 numbers and links"),
        (b"\n", "is no line of 5 numbers and links"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, bad: bytes, what: str) -> None:
    (tmp_path / "t").write_bytes(GOOD + bad + GOOD)
    with pytest.raises(CorpusError, match=f"t:2: .*{what}"):
        list(open_links(tmp_path / "t"))


def test_links_are_no_corpus(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(GOOD)
    with pytest.raises(CorpusError, match="holds links, not text"):
        open_corpus(tmp_path / "t")
