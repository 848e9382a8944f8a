"""The compiled table of tokens, against a dictionary and `bytes.split`."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.tokens import TokenTable

BLANKS = [" ", "\t", "\x0b", "\x0c", "\r", "  "]
pieces = st.sampled_from([*BLANKS, "a", "b", "ab", "é", "\u00a0", "\u2028", "\x1c", "\x85", "x" * 40]) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=3
)
lines = st.lists(st.lists(pieces, max_size=12).map("".join), max_size=8)


@settings(deadline=None)  # the first example compiles
@given(st.lists(lines, max_size=4))
def test_lines_are_split_as_bytes_are(blocks: list[list[str]]) -> None:
    table, numbers = TokenTable(), dict[bytes, int]()
    for block in blocks:
        split = [line.encode().split() for line in block]
        ids, ends = table.number_lines("".join(f"{line}\n" for line in block).encode())
        expected = [numbers.setdefault(token, len(numbers)) for tokens in split for token in tokens]
        assert ids.tolist() == expected
        assert ends.tolist() == [sum(map(len, split[: n + 1])) for n in range(len(split))]
    assert table.tokens() == [token.decode() for token in numbers]
    assert len(table) == len(numbers)


@settings(deadline=None)
@given(st.lists(st.lists(st.text(st.characters(), max_size=4), max_size=20), max_size=4))
def test_tokens_are_taken_whole(blocks: list[list[str]]) -> None:
    """Blanks, ends of lines, surrogates and nothing at all included."""
    table, numbers = TokenTable(), dict[str, int]()
    for block in blocks:
        assert table.number_tokens(block).tolist() == [numbers.setdefault(token, len(numbers)) for token in block]
    assert table.tokens() == list(numbers)


def test_many_tokens() -> None:
    """The table grows, and forgets nothing."""
    table = TokenTable()
    for start in (0, 5, 900, 40_000):
        words = [f"w{i}" for i in range(start, 2 * start + 10)]
        assert table.tokens() == [f"w{i}" for i in range(len(table))]
        missing = [f"w{i}" for i in range(len(table), start)]
        table.number_lines(" ".join([*missing, "\n"]).encode())
        ids, _ = table.number_lines(" ".join([*words, "\n"]).encode())
        assert ids.tolist() == list(range(start, 2 * start + 10))
    assert table.number_tokens(["w7", "w80009", "new"]).tolist() == [7, 80009, 80010]
