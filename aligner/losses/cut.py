"""CutProblem: structured SVMs over associative networks of two labels, whose oracle is a minimum cut  [TLJ06 §2].

[TCK04] Taskar, Chatalbashev and Koller 2004, Learning associative Markov networks.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aligner.errors import SettingError
from aligner.losses import _cut_kernels as kernels
from aligner.matching.projection import GEOMETRIES
from aligner.problem import BlockDefaults, MarginalDefaults
from aligner.templates import NOT_FINITE, Compiled, check_code
from corpora.ragged import F64, I64
from corpora.threads import shared_property

_ACCURACY, _MOST_STEPS = 1e-12, 200
"""Of nearest points: the duality gap, beyond its rounding error, and steps at most."""


@dataclass(frozen=True, eq=False)
class CutProblem(MarginalDefaults, BlockDefaults):
    """A structured SVM over labellings of graphs by 0 and 1, in which neighbours are alike  [TCK04; TLJ06 §2].

        score of a labelling z = Σ_j z_j (w·x_j) + Σ_jk |z_j − z_k| (v·x_jk),  v <= 0;   L(z) = the share of wrong nodes

    The weights are (w, v): p of nodes, then q of edges, which solvers keep from being above 0 (`n_nonpositive`).
    arrays: see `_cut_kernels.CutBlocks`.  regularization: λ > 0.
    The oracle is a minimum cut, by Dinic's algorithm. `nearest` is a projection on its polytope, the z and d with
    |z_j − z_k| <= d_jk: with v <= 0 their best point is a labelling.
    """

    arrays: kernels.CutBlocks
    regularization: float

    geometries = ("euclidean", "entropic")

    @classmethod
    def of(
        cls,
        nodes: npt.ArrayLike,
        labels: npt.ArrayLike,
        sizes: npt.ArrayLike,
        ends: npt.ArrayLike,
        edges: npt.ArrayLike,
        *,
        regularization: float,
    ) -> "CutProblem":
        """Make a problem of graphs whose nodes lie one after the other.

        nodes: (N, p) features.  labels: (N,) 0 or 1.  sizes: (n,) nodes of each graph, >= 1.  ends: (M, 2) the nodes
        that each edge joins, counted over all graphs, those of the first graph first.  edges: (M, q) features, >= 0.
        Raises SettingError, in one line, if arguments do not fit, or λ is not above 0.
        """
        if not 0 < regularization < np.inf:
            raise SettingError(f"regularization must be a number above 0, not {regularization}")
        of_nodes, of_edges = (np.ascontiguousarray(given, np.float64) for given in (nodes, edges))
        y, counts, joined = (np.asarray(given) for given in (labels, sizes, ends))
        if not all(given.dtype.kind in "biu" for given in (y, counts, joined) if given.size):
            raise SettingError("labels, sizes and ends must be whole numbers")
        bounds = np.append(0, np.cumsum(counts)).astype(np.int64)
        fits = of_nodes.ndim == of_edges.ndim == joined.ndim == 2 and counts.ndim == 1
        fits = fits and joined.shape == (len(of_edges), 2)
        if not (fits and y.shape == (len(of_nodes),) and bounds[-1] == len(y) and (np.diff(bounds) >= 1).all()):
            shapes = [part.shape for part in (of_nodes, y, joined, of_edges)]
            raise SettingError(f"nodes, labels, ends, edges {shapes} do not fit sizes that add up to {bounds[-1]}")
        if not (np.isfinite(of_nodes).all() and np.isfinite(of_edges).all() and (of_edges >= 0.0).all()):
            raise SettingError("features must be finite, and those of edges at least 0")
        if not (np.isin(y, [0, 1]).all() and ((joined >= 0) & (joined < len(y))).all()):
            raise SettingError("labels must be 0 or 1, and ends nodes")
        graph = np.searchsorted(bounds, joined, side="right") - 1
        if (graph[:, 0] != graph[:, 1]).any() or (np.diff(graph[:, 0]) < 0).any() or (np.diff(joined) == 0).any():
            raise SettingError("an edge must join two nodes of a graph, and edges of the first graph must come first")
        begins = np.searchsorted(graph[:, 0], np.arange(len(bounds)))
        arcs = np.arange(2 * len(joined)) - np.repeat(2 * begins[graph[:, 0]], 2)
        tails = joined.astype(np.int64).ravel()
        arrays = kernels.CutBlocks(
            nodes=of_nodes,
            labels=y.astype(np.int64),
            offsets=bounds,
            ends=(joined - bounds[graph]).astype(np.int64),
            edges=of_edges,
            edge_offsets=begins.astype(np.int64),
            incident=arcs[np.argsort(tails, kind="stable")],
            starts=np.append(0, np.cumsum(np.bincount(tails, minlength=len(y)))),
        )
        return cls(arrays, float(regularization))

    @property
    def n_blocks(self) -> int:
        return len(self.arrays.offsets) - 1

    @property
    def n_features(self) -> int:
        return int(self.arrays.nodes.shape[1]) + self.n_nonpositive

    @property
    def n_nonpositive(self) -> int:  # type: ignore[override]
        return int(self.arrays.edges.shape[1])

    @property
    def signature(self) -> str:
        return f"cuts:{self.n_blocks}|nodes:{len(self.arrays.labels)}|lambda:{self.regularization:g}"

    def compiled(self) -> Compiled:
        return Compiled(self.arrays, kernels.cut_scratch, kernels.cut_corner)

    def rehearsal(self) -> "CutProblem":
        """The problem of the smallest graph."""
        return self.take(np.array([np.diff(self.parts).argmin()]))

    def take(self, graphs: I64) -> "CutProblem":
        """The problem of these graphs alone, (m,) indices, in their order: a copy."""
        arrays, sizes = self.arrays, np.diff(self.arrays.offsets)[graphs]
        own = zip(*map(self._own, graphs.tolist()), strict=True)
        nodes, edges = (np.concatenate([np.arange(one.start, one.stop) for one in slices]) for slices in own)
        begins = np.repeat(np.cumsum(sizes) - sizes, np.diff(arrays.edge_offsets)[graphs])
        return CutProblem.of(
            arrays.nodes[nodes],
            arrays.labels[nodes],
            sizes,
            arrays.ends[edges] + begins[:, None],
            arrays.edges[edges],
            regularization=self.regularization,
        )

    def predict(self, w: F64) -> I64:
        """The labels (N,) of greatest score.  Raises ValueError if w does not fit, or the weight of an edge is > 0."""
        if w.shape != (self.n_features,):
            raise ValueError(f"{w.shape} weights for {self.n_features} features")
        labels = np.empty_like(self.arrays.labels)
        check_code(kernels.predict_cuts(self.arrays, w, labels), -1)
        return labels

    def error(self, w: F64) -> float:
        """The share of all nodes that w labels wrong."""
        return float(np.mean(self.predict(w) != self.arrays.labels))

    # What `Marginals` ask for.

    def marginals(self) -> "CutProblem":
        return self

    @shared_property
    def parts(self) -> I64:
        return self.arrays.offsets + self.arrays.edge_offsets

    @shared_property
    def target(self) -> F64:
        arrays, found = self.arrays, []
        for i, y in enumerate(np.split(arrays.labels, arrays.offsets[1:-1])):
            ends = arrays.ends[slice(*arrays.edge_offsets[i : i + 2])]
            found += [y, np.abs(np.diff(y[ends])[:, 0])]
        return np.concatenate(found).astype(np.float64)

    def scores(self, blocks: I64, w: F64) -> F64:
        arrays, p = self.arrays, self.arrays.nodes.shape[1]
        found = []
        for nodes, edges in map(self._own, blocks.tolist()):
            costs = (1.0 - 2.0 * arrays.labels[nodes]) / (nodes.stop - nodes.start)
            found += [arrays.nodes[nodes] @ w[:p] + costs, arrays.edges[edges] @ w[p:]]
        return np.concatenate(found)

    def moments(self, blocks: I64, z: F64) -> F64:
        arrays, found, at = self.arrays, np.zeros(self.n_features + 1), 0
        for nodes, edges in map(self._own, blocks.tolist()):
            size, count = nodes.stop - nodes.start, edges.stop - edges.start
            of_nodes, of_edges = z[at : at + size], z[at + size : at + size + count]
            costs = float((1.0 - 2.0 * arrays.labels[nodes]) @ of_nodes) / size
            found += np.concatenate([of_nodes @ arrays.nodes[nodes], of_edges @ arrays.edges[edges], [costs]])
            at += size + count
        return found

    def duals(self, blocks: I64) -> F64:
        return np.zeros(int(np.diff(self.arrays.edge_offsets)[blocks].sum()))

    def nearest(self, blocks: I64, points: F64, geometry: str, duals: F64 | None = None) -> F64:
        if not np.isfinite(points).all():
            check_code(NOT_FINITE, -1)
        found, begun = np.empty_like(points), self.duals(blocks) if duals is None else duals
        starts, dual_starts = (
            np.append(0, np.cumsum(sizes[blocks])) for sizes in (np.diff(self.parts), np.diff(self.arrays.edge_offsets))
        )
        kernels.nearest_cuts(
            GEOMETRIES[geometry], blocks, self.arrays, points, starts, _ACCURACY, _MOST_STEPS, begun, dual_starts, found
        )
        return found

    def _own(self, block: int) -> tuple[slice, slice]:
        arrays = self.arrays
        return slice(*arrays.offsets[block : block + 2]), slice(*arrays.edge_offsets[block : block + 2])
