"""Kernels on the features of two edges, and sums of them: scores in a space that is never computed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from aligner.errors import SettingError
from aligner.svm import _expansion_kernels as _expansions
from corpora.ragged import F32, F64
from corpora.threads import map_threads

_VALUES_AT_ONCE = 1 << 18
"""Kernel values that a thread computes at once: about a millisecond, far more than to start a thread takes."""


@dataclass(frozen=True)
class Linear:
    """K(x, y) = x·y: the features themselves."""

    name: ClassVar[str] = "linear"
    code: ClassVar[int] = _expansions.LINEAR
    parameter: ClassVar[float] = 0.0


@dataclass(frozen=True)
class Polynomial:
    """K(x, y) = (1 + x·y)^degree / degree: all products of up to `degree` features.

    So scaled, its terms of first order are those of the linear kernel, and λ keeps its meaning whatever the degree.
    """

    name: ClassVar[str] = "polynomial"
    code: ClassVar[int] = _expansions.POLYNOMIAL

    degree: int = 2

    def __post_init__(self) -> None:
        if self.degree != int(self.degree) or self.degree < 1:
            raise SettingError(f"the degree of a polynomial kernel must be a whole number above 0, not {self.degree}")

    @property
    def parameter(self) -> float:
        return float(self.degree)


@dataclass(frozen=True)
class RBF:
    """K(x, y) = exp(-‖x - y‖² / (2 bandwidth²)): how near two edges are, 1 for equals."""

    name: ClassVar[str] = "rbf"
    code: ClassVar[int] = _expansions.RBF

    bandwidth: float = 2.0

    def __post_init__(self) -> None:
        if not 1e-100 < self.bandwidth < 1e100:
            raise SettingError(f"the bandwidth of an rbf kernel must be a number above 0, not {self.bandwidth}")

    @property
    def parameter(self) -> float:
        return 0.5 / self.bandwidth**2


Kernel = Linear | Polynomial | RBF
"""K(x, y) = Φ(x)·Φ(y) of the features x, y of two edges, for some Φ that is never computed.

name: of the command line.  code, parameter: of the compiled expansions.
"""

KERNELS: dict[str, Callable[..., Kernel]] = {"linear": Linear, "polynomial": Polynomial, "rbf": RBF}
"""What makes each kernel, from the options it has."""


def make_kernel(name: str, **options: Any) -> Kernel:
    """A kernel by its name and options.  Raises SettingError for a name, an option or a value that it cannot have."""
    if name not in KERNELS:
        raise SettingError(f"unknown kernel {name!r} (choose from {', '.join(KERNELS)})")
    make = KERNELS[name]
    for option in options:
        if option not in inspect.signature(make).parameters:
            raise SettingError(f"the {name} kernel has no {option}")
    return make(**options)


def kernel_signature(kernel: Kernel) -> str:
    """A kernel and its options in one line."""
    return "|".join([f"kernel:{kernel.name}", *(f"{name}:{value:g}" for name, value in asdict(kernel).items())])


def expand(kernel: Kernel, support: F32, coefficients: F64, features: F32) -> F64:
    """(E,) Σ_m coefficients[m] K(support[m], φ) of edges with these features φ, (E, d)  [LJSP13 App. B.5]."""
    scores = np.zeros(len(features))
    _expansions.add_expansion(features, kernel.code, kernel.parameter, support, coefficients, scores)
    return scores


def in_threads(scores: Callable[[F32], F64], features: F32, support: int) -> F64:
    """Scores of edges by these features, on all cores, bit for bit the same.

    support: numbers that the score of an edge is summed of.
    """
    rows = max(1, _VALUES_AT_ONCE // max(1, support))
    if len(features) <= rows:
        return scores(features)
    parts = [features[first : first + rows] for first in range(0, len(features), rows)]
    return np.concatenate(list(map_threads(scores, parts)))
