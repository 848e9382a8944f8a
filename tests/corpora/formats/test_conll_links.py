"""CoNLL-U of pairs: ten columns, and links that both sides tell."""

from __future__ import annotations

import io

from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.formats.conll import write_conllu
from corpora.links import PairLinks

words = st.lists(st.text(st.characters(exclude_categories=("Z", "C")), min_size=1, max_size=4), max_size=5)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[str], list[str], PairLinks]:
    source, target = draw(words), draw(words)
    every = [(j, k) for j in range(len(source)) for k in range(len(target))]
    sure = draw(st.frozensets(st.sampled_from(every))) if every else frozenset()
    possible = draw(st.frozensets(st.sampled_from(every))) if every else frozenset()
    return source, target, PairLinks(sure, possible - sure)


def links_of(misc: list[str], name: str) -> set[tuple[int, int]]:
    """The links of the words of a side, 0-based."""
    values = [dict(part.split("=") for part in of.split("|") if of != "_").get(name, "") for of in misc]
    return {(place, int(other) - 1) for place, value in enumerate(values) for other in value.split(",") if other}


@settings(deadline=None)
@given(st.lists(pairs(), max_size=4))
def test_every_sentence_tells_its_words_and_links(given_pairs: list[tuple[list[str], list[str], PairLinks]]) -> None:
    stream = io.BytesIO()
    write_conllu(stream, given_pairs, ("en", "fr"))
    text = stream.getvalue().decode()
    assert text == "" or text.endswith("\n\n")
    sentences = {}
    for block in text.split("\n\n")[:-1]:
        name, whole, *rows = block.split("\n")
        columns = [row.split("\t") for row in rows]
        assert all(len(row) == 10 for row in columns)
        assert [row[0] for row in columns] == [str(n + 1) for n in range(len(rows))]
        assert {cell for row in columns for cell in row[2:9]} == {"_"}
        assert whole == f"# text = {' '.join(row[1] for row in columns)}"
        sentences[name.removeprefix("# sent_id = ")] = columns
    sides = {
        f"{n}/{language}": side
        for n, pair in enumerate(given_pairs, 1)
        for language, side in zip(("en", "fr"), pair, strict=False)
    }
    assert {name: [row[1] for row in columns] for name, columns in sentences.items()} == {
        name: side for name, side in sides.items() if side
    }
    for number, (_, _, links) in enumerate(given_pairs, 1):
        for name, kind in (("Align", links.sure), ("AlignPossible", links.possible)):
            there = links_of([row[9] for row in sentences.get(f"{number}/en", [])], name)
            back = links_of([row[9] for row in sentences.get(f"{number}/fr", [])], name)
            assert there == {(j, k) for k, j in back} == kind
