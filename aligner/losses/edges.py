"""The protocols of edges and links for problems of matchings.  No words here."""

from typing import Protocol, Self

from corpora.ragged import F32, I32, I64, Bools, Lists


class Edges(Protocol):
    """The features of the listed edges of n pairs.

    features: (E, d), C-contiguous.  lists: the edges, the only ones that matchings may have.  names: (d,) of features.
    """

    @property
    def features(self) -> F32: ...

    @property
    def lists(self) -> Lists: ...

    @property
    def names(self) -> tuple[str, ...]: ...

    def __len__(self) -> int: ...

    def take(self, pairs: I64, *, memory: int | None = None) -> Self:
        """The edges of these pairs alone, (m,) indices, in their order: a copy.

        memory: bytes the features may take before they go to a temporary file; None: as many as usual.
        """


class GoldLinks(Protocol):
    """The gold links of n pairs: between words source and target, of the pairs (m,) in ascending order."""

    @property
    def source(self) -> I32: ...

    @property
    def target(self) -> I32: ...

    @property
    def sure(self) -> Bools: ...

    @property
    def pairs(self) -> I64: ...

    def __len__(self) -> int: ...
