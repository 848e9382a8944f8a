"""The answers with text and scores are read back, and what is no such line is named."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.alignment import PairLinks
from corpora.errors import CorpusError
from corpora.formats.jsonl import LINE, parse_jsonl

TOKENS = st.lists(st.text(min_size=1), min_size=1, max_size=4)
GOOD = b'{"source": ["a"], "target": ["x"], "links": [[0, 0, 0.5]], "score": 0.5}'


@given(TOKENS, TOKENS, st.data())
def test_links_are_read_back(source: list[str], target: list[str], data: st.DataObject) -> None:
    places = st.tuples(st.integers(0, len(source) - 1), st.integers(0, len(target) - 1))
    links = data.draw(st.frozensets(places))
    found = {"source": source, "target": target, "links": [[j, k, 0.5] for j, k in links], "score": 0.5}
    line = json.dumps(found, ensure_ascii=False).encode(errors="replace")
    assert LINE.fullmatch(line)
    assert list(parse_jsonl([line], "x")) == [PairLinks(links, frozenset())]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b"", "no object of tokens and links"),
        (b"0-0", "no object of tokens and links"),
        (b"[]", "no object of tokens and links"),
        (b"[" * 100_000, "no object of tokens and links"),
        (b'{"source": ["a"], "target": ["\xff"], "links": []}', "no object of tokens and links"),
        (b'{"source": ["a"], "links": []}', "no object of tokens and links"),
        (b'{"source": ["a"], "target": ["x"], "links": [0, 0]}', "no object of tokens and links"),
        (b'{"source": ["a"], "target": ["x"], "links": [[0]]}', "no object of tokens and links"),
        (b'{"source": ["a"], "target": ["x"], "links": [[0, "0"]]}', "no object of tokens and links"),
        (b'{"source": ["a"], "target": ["x"], "links": [[0, -1]]}', "no object of tokens and links"),
        (b'{"source": ["a"], "target": ["x"], "links": [[0, 1]]}', "link 0-1 is out of range for 1 source and 1"),
    ],
)
def test_what_is_no_answer(line: bytes, what: str) -> None:
    with pytest.raises(CorpusError, match=f"^x:2: .*{what}"):
        list(parse_jsonl([GOOD, line], "x"))


def test_scores_are_probabilities_where_they_are_wanted() -> None:
    (found,) = parse_jsonl([GOOD], "x", probable=True)
    assert found == PairLinks(frozenset({(0, 0)}), frozenset(), {(0, 0): 0.5})
    for score in (b"0", b"-1", b"2", b"NaN", b'"a"'):
        with pytest.raises(CorpusError, match="no object of tokens and links"):
            list(parse_jsonl([GOOD.replace(b"0.5]]", score + b"]]")], "x", probable=True))
