"""The protocols of edges and links for problems of matchings, and of such problems for solvers.  No words here."""

from typing import Protocol, Self, runtime_checkable

from aligner.errors import SettingError
from aligner.losses._corner_kernels import Blocks
from aligner.matching import Oracle
from aligner.problem import BlockProblem
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


@runtime_checkable
class EdgeProblem(BlockProblem, Protocol):
    """A block problem over matchings that gives its edges and oracle; see `hinge.MatchingProblem`."""

    @property
    def arrays(self) -> Blocks: ...

    @property
    def oracle(self) -> Oracle: ...


def edges_of(problem: BlockProblem, solver: str) -> EdgeProblem:
    """Return the problem as an EdgeProblem.  Raises SettingError if it is none, or words may have several links."""
    if not isinstance(problem, EdgeProblem):
        raise SettingError(f"{solver} needs the features of single edges, which this problem does not have")
    if problem.n_nonpositive:
        raise SettingError(f"{solver} has one link a word only (choose another solver, bcfw for instance)")
    return problem
