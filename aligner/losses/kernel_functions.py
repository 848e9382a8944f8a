"""Kernel functions of the features of two edges, or of two points: scores in an implicit space."""

import inspect
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from aligner.errors import SettingError
from corpora.ragged import F32, F64
from corpora.threads import map_threads

_VALUES_AT_ONCE = 1 << 18
"""Kernel values that a thread computes at once: about a millisecond, far more than starting a thread takes."""

_SMALL = 1e-12
"""An eigenvalue of a kernel matrix that is this share of the largest is rounding error."""


@dataclass(frozen=True)
class Linear:
    """K(x, y) = x·y: the features themselves."""

    name: ClassVar[str] = "linear"

    def values(self, x: F64, y: F64) -> F64:
        """The matrix (E, M) of K between each row of x, (E, d), and each row of y, (M, d)."""
        return x @ y.T


@dataclass(frozen=True)
class Polynomial:
    """K(x, y) = (1 + x·y)^degree / degree: all products of up to `degree` features.

    So scaled, its terms of first order are those of the linear kernel, and λ keeps its meaning whatever the degree.
    """

    name: ClassVar[str] = "polynomial"

    degree: int = 2

    def __post_init__(self) -> None:
        if self.degree != int(self.degree) or self.degree < 1:
            raise SettingError(f"the degree of a polynomial kernel must be a whole number above 0, not {self.degree}")

    def values(self, x: F64, y: F64) -> F64:
        found: F64 = (1.0 + x @ y.T) ** int(self.degree) / self.degree
        return found


@dataclass(frozen=True)
class RBF:
    """K(x, y) = exp(-‖x - y‖² / (2 bandwidth²)): how near two edges are, 1 for equals."""

    name: ClassVar[str] = "rbf"

    bandwidth: float = 2.0

    def __post_init__(self) -> None:
        if not 1e-100 < self.bandwidth < 1e100:
            raise SettingError(f"the bandwidth of an rbf kernel must be a number above 0, not {self.bandwidth}")

    def values(self, x: F64, y: F64) -> F64:
        squares = (x * x).sum(axis=1)[:, None] + (y * y).sum(axis=1) - 2.0 * (x @ y.T)
        # Rounding may have made the distance of equals negative.
        found: F64 = np.exp(np.maximum(squares, 0.0) * (-0.5 / self.bandwidth**2))
        return found


Kernel = Linear | Polynomial | RBF
"""A kernel K(x, y) = Φ(x)·Φ(y) of the features x, y of two edges, for some Φ that is never computed."""

KERNELS: dict[str, Callable[..., Kernel]] = {"linear": Linear, "polynomial": Polynomial, "rbf": RBF}
"""The constructor of each kernel, which takes its options."""


def make_kernel(name: str, **options: Any) -> Kernel:
    """Make a kernel by its name and options.  SettingError for an unknown name or option, or an impossible value."""
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
    """Return (E,) Σ_m coefficients[m] K(support[m], φ) of edges with these features φ, (E, d)  [LJSP13 App. B.5].

    On all cores. BLAS computes the sums: the last bits of an edge's sum may depend on the edges beside it.
    """
    kept = support.astype(np.float64)
    rows = max(1, _VALUES_AT_ONCE // max(1, len(kept)))
    parts = [features[first : first + rows] for first in range(0, len(features), rows)]

    def work(part: F32) -> F64:
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is the caller's to refuse
            scores: F64 = kernel.values(part.astype(np.float64), kept) @ coefficients
        return scores

    return np.concatenate([np.zeros(0), *map_threads(work, parts)])


@dataclass(frozen=True, eq=False)
class KernelFeatures:
    """Features whose products are a kernel's values, which kernelises any problem and solver  [LJSP13 App. B.5; WS01].

    Φ(x) = K(x, landmarks) VΛ^(-1/2) of the landmarks' kernel matrix VΛVᵀ: Φ(x)·Φ(y) = K(x, y) if x or y is a landmark.
    With all points as landmarks iterates are those of the kernelised algorithm, which uses products of features alone,
    and w·Φ(y) is the expansion in the kernel. With fewer it is Nyström's approximation.

    [WS01] Williams and Seeger 2001, Using the Nyström method to speed up kernel machines.
    """

    kernel: Kernel
    landmarks: F64
    root: F64

    @classmethod
    def of(cls, kernel: Kernel, landmarks: npt.ArrayLike) -> "KernelFeatures":
        """Make the map, in O(m³) for m landmarks (m, d).  Raises ValueError if they are not finite or not a table."""
        points = np.array(landmarks, np.float64)
        if points.ndim != 2 or not points.size or not np.isfinite(points).all():
            raise ValueError(f"landmarks must be a table of finite numbers, not of shape {points.shape}")
        values, vectors = np.linalg.eigh(kernel.values(points, points))
        kept = values > _SMALL * values[-1]
        return cls(kernel, points, vectors[:, kept] / np.sqrt(values[kept]))

    def __call__(self, x: npt.ArrayLike) -> F64:
        """The features (N, r) of points (N, d), r at most the number of landmarks."""
        return self.kernel.values(np.asarray(x, np.float64), self.landmarks) @ self.root
