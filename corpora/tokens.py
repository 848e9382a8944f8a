"""TokenTable: the distinct tokens of a text and their numbers.  Reading a text is mostly this, so it is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from corpora._token_kernels import Table, fill_slots, number_lines, number_tokens

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
Value = TypeVar("Value", bound=np.generic)


class TokenTable:
    """Distinct tokens, numbered from 0 on as they come."""

    def __init__(self) -> None:
        self._known = 0
        empty = np.empty(0, np.uint64), np.zeros(1, np.int64), np.empty(0, np.uint8)
        self._table = Table(np.full(1, -1, np.int32), *empty)

    def __len__(self) -> int:
        return self._known

    def number_lines(self, text: bytes) -> tuple[I32, I64]:
        r"""The tokens of lines, each ended by ``\n``: their numbers, (T,), and how many end with each line, (n,).

        Tokens are what ASCII whitespace separates, as `bytes.split` does it.
        """
        most = len(text) // 2
        self._make_room(most, len(text))
        ids, ends = np.empty(most, np.int32), np.empty(text.count(b"\n"), np.int64)
        content = np.frombuffer(text, np.uint8)
        self._known, tokens = number_lines(content, self._table, self._known, ids, ends)
        return ids[:tokens], ends

    def number_tokens(self, tokens: Sequence[str]) -> I32:
        """The numbers of tokens, (T,), whatever letters they are of."""
        encoded = [token.encode("utf-8", "surrogatepass") for token in tokens]
        text = b"".join(encoded)
        self._make_room(len(tokens), len(text))
        ids = np.empty(len(tokens), np.int32)
        bounds = np.fromiter(accumulate(map(len, encoded), initial=0), np.int64, len(tokens) + 1)
        self._known = number_tokens(np.frombuffer(text, np.uint8), bounds, self._table, self._known, ids)
        return ids

    def tokens(self) -> list[str]:
        """All tokens, by number."""
        starts = self._table.starts[: self._known + 1].tolist()
        letters = self._table.letters[: starts[-1]].tobytes()
        return [letters[start:stop].decode("utf-8", "surrogatepass") for start, stop in pairwise(starts)]

    def _make_room(self, tokens: int, size: int) -> None:
        """For so many more tokens, of so many bytes."""
        slots, hashes, starts, letters = self._table
        tokens += self._known
        size += int(starts[self._known])
        if tokens > len(hashes):
            hashes, starts = _longer(hashes, tokens), _longer(starts, tokens + 1)
        if size > len(letters):
            letters = _longer(letters, size)
        if 2 * tokens >= len(slots):
            slots = np.full(1 << (2 * tokens).bit_length(), -1, np.int32)
            fill_slots(slots, hashes, self._known)
        self._table = Table(slots, hashes, starts, letters)


def _longer(array: npt.NDArray[Value], size: int) -> npt.NDArray[Value]:
    """The array with room at the end: not for much more at first, but so that it seldom has to grow."""
    grown = np.empty(max(size, 2 * len(array)), array.dtype)
    grown[: len(array)] = array
    return grown
