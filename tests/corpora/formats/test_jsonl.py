"""JSON lines with links: read by what Hugging Face's datasets read them with, and refused where they are broken."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow.json
import pytest

from corpora.errors import CorpusError
from corpora.formats.jsonl import write_jsonl
from corpora.link_files import open_links
from corpora.links import NO_LINKS, PairLinks
from corpora.readers import open_corpus

SURE, BOTH = frozenset({(0, 0)}), frozenset({(0, 0), (1, 0)})
WORDS = ["a", "“b"], ["x"]


@pytest.mark.parametrize("scores", [{}, {(0, 0): 0.75, (1, 0): 0.5}])
def test_columns(scores: dict[tuple[int, int], float]) -> None:
    pairs = [
        NO_LINKS, PairLinks(SURE, frozenset(), {(0, 0): 0.75} if scores else {}),
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


LINE = '{"source": ["en"], "target": ["b"], "links": []%s}\n'


@pytest.mark.parametrize(
    ("more", "languages"),
    [
        (', "languages": ["en", "fr"]', ("en", "fr")), (', "languages": ["en", null]', ("en", None)),
        ("", (None, None)),
        (', "languages": "en"', (None, None)), (', "languages": [1, "fr"]', (None, None)),
        (', "languages": ["en"]', (None, None)),
    ],
)  # fmt: skip
def test_languages(tmp_path: Path, more: str, languages: tuple[str | None, str | None]) -> None:
    (tmp_path / "t").write_text(LINE % more * 2)
    found = open_corpus(tmp_path / "t")
    assert found.languages == languages
    assert list(found.texts()) == [(1, b"en", b"b"), (2, b"en", b"b")]
    assert open_corpus(tmp_path / "t", source="en").source_language == "en"
    assert open_corpus(tmp_path / "t", target="fr").target_language == "fr"
    if languages == ("en", "fr"):
        for source, target in (("fr", "en"), ("fr", None), (None, "en")):
            with pytest.raises(CorpusError, match="has en as its source and fr as its target"):
                open_corpus(tmp_path / "t", source=source, target=target)


def test_languages_are_on_every_line() -> None:
    for languages, there in ((("en", "fr"), True), (("en", None), True), ((None, None), False), (("x", "x"), False)):
        stream = io.BytesIO()
        write_jsonl(stream, [(*WORDS, PairLinks(SURE))] * 2, languages)
        table = pyarrow.json.read_json(io.BytesIO(stream.getvalue())).to_pydict()
        assert table.get("languages") == ([[*languages]] * 2 if there else None)
