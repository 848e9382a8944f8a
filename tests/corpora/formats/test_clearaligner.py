"""Records of ClearAligner: its fields, and groups of words that links connect."""

from __future__ import annotations

import io
import json
from typing import Any

import networkx
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.formats.clearaligner import write_clearaligner
from corpora.links import PairLinks

LINKS = st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8)


def written(pairs: list[PairLinks]) -> dict[str, Any]:
    stream = io.BytesIO()
    write_clearaligner(stream, (([], [], pair) for pair in pairs))
    value: dict[str, Any] = json.loads(stream.getvalue())
    return value


@settings(deadline=None)
@given(st.lists(st.tuples(LINKS, LINKS), max_size=4))
def test_records_are_the_connected_words(
    sets: list[tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]],
) -> None:
    pairs = [PairLinks(sure, possible - sure) for sure, possible in sets]
    value = written(pairs)
    assert value["type"] == "translation"
    assert value["meta"] == {"creator": "aligner"}
    expected = []
    for number, pair in enumerate(pairs, 1):
        graph = networkx.Graph([((0, j), (1, k)) for j, k in pair.sure | pair.possible])
        for group in networkx.connected_components(graph):
            sides = [[f"{number:08d}{word + 1:03d}" for at, word in sorted(group) if at == side] for side in (0, 1)]
            unsure = any((0, j) in group for j, _ in pair.possible)
            expected.append((*sides, "needsReview" if unsure else "created"))
    records = value["records"]
    assert all(set(record) == {"meta", "source", "target"} for record in records)
    assert all(set(record["meta"]) == {"id", "origin", "status"} for record in records)
    found = [(record["source"], record["target"], record["meta"]["status"]) for record in records]
    assert sorted(found) == sorted(expected)
    assert len({record["meta"]["id"] for record in records}) == len(records)
    assert written(pairs) == value, "names do not change"


def test_links_that_a_later_one_connects_are_one_record() -> None:
    (record,) = written([PairLinks(frozenset({(0, 0), (1, 1), (0, 1)}))])["records"]
    assert record["source"] == record["target"] == ["00000001001", "00000001002"]
