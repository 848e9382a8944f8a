"""JSON lines with links: read by what Hugging Face's datasets read them with, and refused where they are broken."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow.json
import pytest

from corpora.alignment import PairLinks
from corpora.errors import CorpusError
from corpora.formats.jsonl import write_jsonl
from corpora.link_files import open_links

SURE, BOTH = frozenset({(0, 0)}), frozenset({(0, 0), (1, 0)})
WORDS = ["a", "“b"], ["x"]


@pytest.mark.parametrize("scores", [{}, {(0, 0): 0.75, (1, 0): 0.5}])
def test_columns(scores: dict[tuple[int, int], float]) -> None:
    pairs = [
        PairLinks(frozenset(), frozenset()), PairLinks(SURE, frozenset(), {(0, 0): 0.75} if scores else {}),
        PairLinks(SURE, BOTH - SURE, scores),
    ]  # fmt: skip
    stream = io.BytesIO()
    write_jsonl(stream, ((*WORDS, pair) for pair in pairs))
    table = pyarrow.json.read_json(io.BytesIO(stream.getvalue())).to_pydict()
    assert table["source"] == [WORDS[0]] * 3
    assert table["target"] == [WORDS[1]] * 3
    ends = ([0.75], [0.5]) if scores else ([], [])
    assert table["links"] == [[], [[0, 0, *ends[0]]], [[0, 0, *ends[0]], [1, 0, *ends[1]]]]
    assert table["possible"] == [None, None, [[1, 0]]]
    assert table.get("score") == ([None, 0.75, 0.625] if scores else None)


@pytest.mark.parametrize("possible", [[[1, 0]], [[0]], [[0, 0, 1]], 1, None, ["ab"]])
def test_possible_links_are_links(tmp_path: Path, possible: object) -> None:
    value = {"source": ["a", "b"], "target": ["x"], "links": [[0, 0]], "possible": possible}
    (tmp_path / "t").write_text(json.dumps(value))
    with pytest.raises(CorpusError, match=r"t:1: .* is no object of tokens and links"):
        list(open_links(tmp_path / "t", format="jsonl"))
