"""Links between the words of sentence pairs, sure and possible."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress, repeat
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from corpora.errors import CorpusError
from corpora.files import StrPath
from corpora.ragged import F32, F64, I32, I64, Bools, Lists

Link = tuple[int, int]


class PairLinks(NamedTuple):
    """The links of one sentence pair as 0-based (source, target) positions; possible excludes sure.

    scores: by link, probabilities where they were read as such; a link that is not there has 1.
    words: of both sides, if the file of the links has them.
    """

    sure: frozenset[Link]
    possible: frozenset[Link] = frozenset()
    scores: Mapping[Link, float] = MappingProxyType({})
    words: tuple[list[str], list[str]] | None = None


WordPair = tuple[Sequence[str], Sequence[str], PairLinks]  # words of source and target, and their links

NO_LINKS = PairLinks(frozenset())

FROM_ONE = "counted from 1? Then name the file .talp; or are source and target swapped?"
"""What to do about links that fit if their numbers are that of the first word plus one."""


def check_range(links: PairLinks, n_source: int, n_target: int, path: StrPath, line: int, base: int = 0) -> None:
    """Raise CorpusError, at ``line`` of ``path``, if a link leaves sentences of these lengths.

    base: the number of a sentence's first word in the file.
    """
    every = links.sure | links.possible
    for source, target in every:
        if source >= n_source or target >= n_target:
            what = f"link {source}-{target} is out of range for {n_source} source and {n_target} target words"
            hint = "are source and target swapped, or are the links of a model with `tokenize`?"
            if base == 0 and all(0 < j <= n_source and 0 < k <= n_target for j, k in every):
                hint = FROM_ONE
            raise CorpusError(path, line, what, hint=hint)


@dataclass(frozen=True, eq=False)
class Links:
    """The links of n sentence pairs, packed: pair i has rows offsets[i]:offsets[i + 1].

    Rows are sorted by (source, target) within a pair, so that equal links are equal arrays.
    format: of the file they were read from, one of `link_files.LINK_FORMATS`; "" for links from no file.
    """

    source: I32  # (m,) 0-based word positions
    target: I32  # (m,)
    sure: Bools  # (m,) False: possible
    offsets: I64  # (n + 1,)
    format: str = ""
    scores: F32 | F64 | None = None  # (m,) None: 1 of every link

    @classmethod
    def from_pairs(cls, pairs: Iterable[PairLinks], format: str = "") -> "Links":
        """Pack a stream of pairs, keeping 9 bytes a link, 13 if there are probabilities, and 8 a pair."""
        ends = array("q", [0])
        positions = array("i")  # source, target, source, target, ...
        sure = bytearray()
        scores = array("f")
        for pair in pairs:
            if pair.possible:
                ordered = sorted(pair.sure | pair.possible)
                sure.extend([link in pair.sure for link in ordered])
            else:
                ordered = sorted(pair.sure)
                sure.extend(b"\x01" * len(ordered))
            positions.extend(chain.from_iterable(ordered))
            if pair.scores or scores:
                scores.extend(repeat(1.0, ends[-1] - len(scores)))  # of pairs before the first with any
                scores.extend([pair.scores.get(link, 1.0) for link in ordered])
            ends.append(len(sure))
        both = np.frombuffer(positions, dtype=np.int32).reshape(-1, 2)
        return cls(
            source=np.ascontiguousarray(both[:, 0]),
            target=np.ascontiguousarray(both[:, 1]),
            sure=np.frombuffer(sure, dtype=np.bool_),
            offsets=np.frombuffer(ends, dtype=np.int64),
            format=format,
            scores=np.frombuffer(scores, dtype=np.float32) if scores else None,
        )

    @classmethod
    def from_sets(cls, pairs: Iterable[Iterable[Link]]) -> "Links":
        """Pack a stream of sets of links, all sure, or of mappings from links to probabilities."""
        return cls.from_pairs(
            PairLinks(frozenset((j, k) for j, k in links), frozenset(), links if isinstance(links, Mapping) else {})
            for links in pairs
        )

    @classmethod
    def of_edges(cls, lists: Lists, linked: I64) -> "Links":
        """The edges with these indices, (m,) ascending, all sure."""
        offsets = np.searchsorted(linked, lists.offsets)
        return cls(lists.source[linked], lists.target[linked], np.ones(len(linked), np.bool_), offsets)

    @classmethod
    def join(cls, parts: Iterable["Links"]) -> "Links":
        """The links of all parts, one after the other."""
        several = [cls.from_pairs(()), *parts]
        sizes = np.concatenate([np.diff(part.offsets) for part in several])
        return cls(
            np.concatenate([part.source for part in several]),
            np.concatenate([part.target for part in several]),
            np.concatenate([part.sure for part in several]),
            np.concatenate([[0], np.cumsum(sizes)]),
            scores=np.concatenate([part.known_scores for part in several]),
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def pairs(self) -> I64:
        """The pair of each link, (m,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @property
    def known_scores(self) -> F32 | F64:
        """The score of each link, (m,), 1 where there are none."""
        return np.ones(len(self.source), np.float32) if self.scores is None else self.scores

    def part(self, first: int, last: int) -> "Links":
        """The links of pairs first .. last - 1."""
        rows = slice(self.offsets[first], self.offsets[last])
        offsets = self.offsets[first : last + 1] - rows.start
        scores = None if self.scores is None else self.scores[rows]
        return Links(self.source[rows], self.target[rows], self.sure[rows], offsets, self.format, scores)

    def where(self, kept: Bools) -> "Links":
        """Some of the links, (m,), of the same pairs."""
        offsets = np.append(0, np.cumsum(kept))[self.offsets]
        scores = None if self.scores is None else self.scores[kept]
        return Links(self.source[kept], self.target[kept], self.sure[kept], offsets, self.format, scores)

    def __getitem__(self, index: int) -> PairLinks:
        """The links of pair ``index`` (negative counts from the end); IndexError beyond the last."""
        pair = range(len(self))[index]
        part = self.part(pair, pair + 1)
        links = list(zip(part.source.tolist(), part.target.tolist(), strict=True))
        sure = frozenset(compress(links, part.sure.tolist()))
        scores = {} if part.scores is None else dict(zip(links, part.scores.tolist(), strict=True))
        return PairLinks(sure, frozenset(links) - sure, scores)

    def take(self, pairs: I64) -> "Links":
        """The links of these pairs alone, (m,) indices, in their order."""
        return Links.from_pairs((self[int(pair)] for pair in pairs), self.format)

    def __iter__(self) -> Iterator[PairLinks]:
        return (self[index] for index in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Links):
            return NotImplemented
        names = ("offsets", "source", "target", "sure")
        same = all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)
        return same and np.array_equal(self.known_scores, other.known_scores)

    __hash__ = None  # type: ignore[assignment]  # equal by content, and arrays have no hash
