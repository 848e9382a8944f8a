"""Scoring edges by their features: linear weights, or an expansion over support edges in the space of a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from aligner.model import _score_kernels as _kernels
from aligner.svm.kernels import Kernel, expand, in_threads, make_kernel
from corpora.ragged import F64
from corpora.threads import shared_property
from features.batch import EdgeBatch
from features.extractor import FeatureSet
from features.table import GRID, Matrix

_LARGEST = 64
"""Features are smaller."""


class Scorer(Protocol):
    """A function from the features of an edge to its score."""

    @property
    def n_features(self) -> int: ...

    @property
    def norm(self) -> float:
        """‖w‖, in the space that the score is linear in."""
        ...

    def scores(self, features: Matrix) -> F64:
        """(E,) scores of edges with these features, (E, d); an edge's score does not depend on the others."""
        ...

    def score_batch(self, features: FeatureSet, batch: EdgeBatch) -> F64:
        """(E,) scores of the listed edges of a batch."""
        ...

    def describe(self) -> dict[str, Any]:
        """JSON values that `read_scorer` takes with the arrays."""
        ...

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]: ...


@dataclass(frozen=True, eq=False)
class LinearScorer:
    """s = w·φ  [TLK05].  weights: (d,)."""

    weights: F64

    def __post_init__(self) -> None:
        if self.weights.ndim != 1 or self.weights.dtype != np.float64:
            raise ValueError(f"weights must be a vector of float64, not {_kind(self.weights)}")

    @property
    def n_features(self) -> int:
        return len(self.weights)

    @property
    def norm(self) -> float:
        return float(np.linalg.norm(self.weights))

    @shared_property
    def _exact(self) -> F64:
        """The weights, rounded so that their products with features, and all sums of these, are exact.

        Then a score is the same to the last bit in whatever order, and of however many parts, it is summed. Features
        are whole numbers of steps 1 / GRID; the weights are rounded to whole numbers of a step so long that no sum is
        of 2^53 steps: by less than 1e-11 of the sum of their absolute values.
        """
        total = np.abs(self.weights).sum()
        if not 1e-280 < total < np.inf:  # as good as nothing, of which a step would be 0
            return self.weights
        step = 2.0 ** (np.ceil(np.log2(total)) + np.log2(GRID * _LARGEST) - 53)
        return np.asarray(np.rint(self.weights / step) * step)

    def scores(self, features: Matrix) -> F64:
        scores = np.zeros(len(features))
        _kernels.add_scores(features, self._exact, scores)
        return scores

    def score_batch(self, features: FeatureSet, batch: EdgeBatch) -> F64:
        listed = batch.listed
        scores, of_pairs = np.zeros(len(listed.cells)), np.zeros(len(listed.word_pairs.source))
        for part in features.parts(batch):
            total = of_pairs if part.of_pairs else scores
            _kernels.add_rounded_scores(part.features, self._exact[part.columns], total)
        scores += of_pairs.take(listed.word_pairs.of_edge)
        return scores

    def describe(self) -> dict[str, Any]:
        return {"kind": "linear"}

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {"weights": self.weights}


@dataclass(frozen=True, eq=False)
class KernelScorer:
    """s = Σ_m coefficients[m] K(support[m], φ)  [LJSP13 App. B.5].

    support: (m, d) float32 features of edges.  coefficients: (m,).  It takes no memory but theirs, however many edges
    are scored.
    """

    kernel: Kernel
    support: Matrix
    coefficients: F64

    def __post_init__(self) -> None:
        if self.support.ndim != 2 or self.support.dtype != np.float32 or not self.support.flags.c_contiguous:
            raise ValueError(f"support must be a C-contiguous float32 matrix, not {_kind(self.support)}")
        if self.coefficients.shape != (len(self.support),) or self.coefficients.dtype != np.float64:
            raise ValueError(f"coefficients must be {len(self.support)} float64, not {_kind(self.coefficients)}")

    @property
    def n_features(self) -> int:
        return int(self.support.shape[1])

    @property
    def norm(self) -> float:
        return float(np.sqrt(max(0.0, float(self.coefficients @ score_in_threads(self, self.support)))))

    def scores(self, features: Matrix) -> F64:
        return expand(self.kernel, self.support, self.coefficients, features)

    def score_batch(self, features: FeatureSet, batch: EdgeBatch) -> F64:
        table = np.empty((len(batch.listed.cells), len(features.names)), np.float32)
        features.fill(batch, table)
        return self.scores(table)

    def describe(self) -> dict[str, Any]:
        return {"kind": "kernel", "kernel": self.kernel.name, **asdict(self.kernel)}

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {"support": self.support, "coefficients": self.coefficients}


def read_scorer(description: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Scorer:
    """The scorer of these JSON values and arrays.

    Raises LookupError, TypeError, ValueError or SettingError on others.
    """
    if not all(np.isfinite(arrays[name]).all() for name in ("weights", "support", "coefficients") if name in arrays):
        raise ValueError("the weights are not finite")
    if description["kind"] == "linear":
        return LinearScorer(arrays["weights"])
    if description["kind"] != "kernel":
        raise ValueError(f"there is no scorer of kind {description['kind']}")
    options = {name: value for name, value in description.items() if name not in ("kind", "kernel")}
    return KernelScorer(make_kernel(description["kernel"], **options), arrays["support"], arrays["coefficients"])


def score_in_threads(scorer: Scorer, features: Matrix) -> F64:
    """`Scorer.scores` on all cores, bit for bit the same."""
    support = len(scorer.coefficients) if isinstance(scorer, KernelScorer) else 1
    return in_threads(scorer.scores, features, support)


def _kind(array: npt.NDArray[Any]) -> str:
    return f"{array.shape} {array.dtype}"
