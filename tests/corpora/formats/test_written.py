"""Links that are written for other programs: CoNLL-U, ClearAligner and JSON lines, read without our readers."""

import io
import json
from typing import Any

import networkx
import pyarrow.json
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.formats.clearaligner import write_clearaligner
from corpora.formats.conll import write_conllu
from corpora.formats.jsonl import write_jsonl
from corpora.links import NO_LINKS, PairLinks

SIDE = st.lists(st.text(st.characters(exclude_categories=("Z", "C")), min_size=1, max_size=4), max_size=5)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[str], list[str], PairLinks]:
    source, target = draw(SIDE), draw(SIDE)
    every = [(j, k) for j in range(len(source)) for k in range(len(target))]
    sure, possible = (frozenset(draw(st.sets(st.sampled_from(every))) if every else ()) for _ in range(2))
    return source, target, PairLinks(sure, possible - sure)


TEXTS = st.lists(pairs(), max_size=4)
Texts = list[tuple[list[str], list[str], PairLinks]]


def links_of(misc: list[str], name: str) -> set[tuple[int, int]]:
    """The links of the words of a side, 0-based."""
    values = [dict(part.split("=") for part in of.split("|") if of != "_").get(name, "") for of in misc]
    return {(place, int(other) - 1) for place, value in enumerate(values) for other in value.split(",") if other}


@given(TEXTS)
def test_sentences_of_conllu_tell_words_and_links(texts: Texts) -> None:
    stream, sentences = io.BytesIO(), dict[str, list[list[str]]]()
    write_conllu(stream, texts, ("en", "fr"))
    *blocks, rest = stream.getvalue().decode().split("\n\n")
    assert rest == ""
    for block in blocks:
        name, whole, *rows = block.split("\n")
        columns = [row.split("\t") for row in rows]
        assert [(row[0], *row[2:9]) for row in columns] == [(f"{n}", *["_"] * 7) for n in range(1, len(rows) + 1)]
        assert all(len(row) == 10 for row in columns)
        assert whole == f"# text = {' '.join(row[1] for row in columns)}"
        sentences[name.removeprefix("# sent_id = ")] = columns
    for number, (*sides, links) in enumerate(texts, 1):
        for language, side in zip(("en", "fr"), sides, strict=True):
            assert [row[1] for row in sentences.setdefault(f"{number}/{language}", [])] == side
        for name, kind in (("Align", links.sure), ("AlignPossible", links.possible)):
            there, back = (links_of([row[9] for row in sentences[f"{number}/{of}"]], name) for of in ("en", "fr"))
            assert there == {(j, k) for k, j in back} == kind
    assert len(sentences) == 2 * len(texts)


@given(TEXTS)
def test_records_of_clearaligner_are_the_connected_words(texts: Texts) -> None:
    def written() -> dict[str, Any]:
        stream = io.BytesIO()
        write_clearaligner(stream, (([], [], links) for *_, links in texts))
        value: dict[str, Any] = json.loads(stream.getvalue())
        return value

    value, expected = written(), []
    for number, (*_, links) in enumerate(texts, 1):
        graph = networkx.Graph([((0, j), (1, k)) for j, k in links.sure | links.possible])
        for group in networkx.connected_components(graph):
            sides = [[f"{number:08d}{word + 1:03d}" for at, word in sorted(group) if at == side] for side in (0, 1)]
            unsure = any((0, j) in group for j, _ in links.possible)
            expected.append({"source": sides[0], "target": sides[1], "status": "needsReview" if unsure else "created"})
    records = value.pop("records")
    assert value == {"type": "translation", "meta": {"creator": "aligner"}}
    metas = [record.pop("meta") for record in records]
    assert all(meta.keys() == {"id", "origin", "status"} for meta in metas)
    assert len({meta["id"] for meta in metas}) == len(metas)
    found = [{**record, "status": meta["status"]} for record, meta in zip(records, metas, strict=True)]
    assert sorted(found, key=str) == sorted(expected, key=str)
    assert [record["meta"] for record in written()["records"]] == metas, "names do not change"


SURE, BOTH = frozenset({(0, 0)}), frozenset({(0, 0), (1, 0)})
WORDS = ["a", "“b"], ["x"]


def table_of(links: list[PairLinks], *languages: tuple[str | None, str | None]) -> dict[str, list[Any]]:
    """As Hugging Face's datasets read it."""
    stream = io.BytesIO()
    write_jsonl(stream, ((*WORDS, pair) for pair in links), *languages)
    table: dict[str, list[Any]] = pyarrow.json.read_json(io.BytesIO(stream.getvalue())).to_pydict()
    return table


@pytest.mark.parametrize("scores", [{}, {(0, 0): 0.75, (1, 0): 0.5}])
def test_columns_of_json_lines(scores: dict[tuple[int, int], float]) -> None:
    first = {(0, 0): 0.75} if scores else {}
    table = table_of([NO_LINKS, PairLinks(SURE, frozenset(), first), PairLinks(SURE, BOTH - SURE, scores)])
    one, other = ([j, 0, *([scores[j, 0]] if scores else [])] for j in (0, 1))
    assert table.get("score") == ([None, 0.75, 0.625] if scores else None)
    table.pop("score", None)
    assert table == {
        "source": [WORDS[0]] * 3,
        "target": [WORDS[1]] * 3,
        "links": [[], [one], [one, other]],
        "possible": [None, None, [[1, 0]]],
    }


def test_languages_of_json_lines_are_on_every_line() -> None:
    for languages, there in ((("en", "fr"), True), (("en", None), True), ((None, None), False), (("x", "x"), False)):
        table = table_of([PairLinks(SURE)] * 2, languages)
        assert table.get("languages") == ([[*languages]] * 2 if there else None)
