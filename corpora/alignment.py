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
from corpora.ragged import F32, I32, I64, Bools

Link = tuple[int, int]


class PairLinks(NamedTuple):
    """The links of one sentence pair as 0-based (source, target) positions; possible excludes sure.

    probabilities: by link, in (0, 1]; a link that is not there has 1.
    """

    sure: frozenset[Link]
    possible: frozenset[Link] = frozenset()
    probabilities: Mapping[Link, float] = MappingProxyType({})


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
    probability: F32 | None = None  # (m,) None: 1 of every link

    @classmethod
    def from_pairs(cls, pairs: Iterable[PairLinks], format: str = "") -> "Links":
        """Pack a stream of pairs, keeping 9 bytes a link, 13 if there are probabilities, and 8 a pair."""
        ends = array("q", [0])
        positions = array("i")  # source, target, source, target, ...
        sure = bytearray()
        probability = array("f")
        for pair in pairs:
            if pair.possible:
                ordered = sorted(pair.sure | pair.possible)
                sure.extend([link in pair.sure for link in ordered])
            else:
                ordered = sorted(pair.sure)
                sure.extend(b"\x01" * len(ordered))
            positions.extend(chain.from_iterable(ordered))
            if pair.probabilities or probability:
                probability.extend(repeat(1.0, ends[-1] - len(probability)))  # of pairs before the first with any
                probability.extend([pair.probabilities.get(link, 1.0) for link in ordered])
            ends.append(len(sure))
        both = np.frombuffer(positions, dtype=np.int32).reshape(-1, 2)
        return cls(
            source=np.ascontiguousarray(both[:, 0]),
            target=np.ascontiguousarray(both[:, 1]),
            sure=np.frombuffer(sure, dtype=np.bool_),
            offsets=np.frombuffer(ends, dtype=np.int64),
            format=format,
            probability=np.frombuffer(probability, dtype=np.float32) if probability else None,
        )

    @classmethod
    def from_sets(cls, pairs: Iterable[Iterable[Link]]) -> "Links":
        """Pack a stream of sets of links, all sure, or of mappings from links to probabilities."""
        return cls.from_pairs(
            PairLinks(frozenset((j, k) for j, k in links), frozenset(), links if isinstance(links, Mapping) else {})
            for links in pairs
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def probabilities(self, rows: slice = slice(None)) -> F32:
        """The probabilities (m,) of the links in these rows, by default of all."""
        return np.ones(len(self.source[rows]), np.float32) if self.probability is None else self.probability[rows]

    def __getitem__(self, index: int) -> PairLinks:
        """The links of pair ``index`` (negative counts from the end); IndexError beyond the last."""
        pair = range(len(self))[index]
        rows = slice(self.offsets[pair], self.offsets[pair + 1])
        links = list(zip(self.source[rows].tolist(), self.target[rows].tolist(), strict=True))
        sure = frozenset(compress(links, self.sure[rows].tolist()))
        possible = frozenset(links) - sure
        if self.probability is None:
            return PairLinks(sure, possible)
        return PairLinks(sure, possible, dict(zip(links, self.probability[rows].tolist(), strict=True)))

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
        return same and np.array_equal(self.probabilities(), other.probabilities())

    __hash__ = None  # type: ignore[assignment]  # equal by content, and arrays have no hash
