"""ChainProblem: structured SVMs over label sequences, such as letters of words or chunks of sentences  [TGK03; LJSP13].

[TGK03] Taskar, Guestrin and Koller 2003, Max-margin Markov networks.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from aligner.errors import SettingError
from aligner.losses import _chain_kernels as kernels
from aligner.problem import BlockDefaults, Corners, MarginalDefaults
from aligner.templates import NOT_FINITE, Compiled, check_code
from corpora.ragged import F64, I32, I64
from corpora.threads import shared_property


class ChainWeights(NamedTuple):
    """The weights of a `ChainProblem` of p features and M labels.

    inputs: (p, M) of each feature and label.  transitions: (M, M) from the label of the row to that of the column.
    biases, first, last: (M,) of labels, of the first and of the last label of a sequence; 0 without `biases`.
    """

    inputs: F64
    transitions: F64
    biases: F64
    first: F64
    last: F64


@dataclass(frozen=True, eq=False)
class ChainProblem(MarginalDefaults, BlockDefaults):
    """A structured SVM over label sequences with the normalised Hamming loss  [LJSP13 §6].

        score of a labelling y = Σ_t x_t·w_{y_t} + Σ_t v(y_t, y_{t+1}), plus, with `biases`, one for each label, for the
        first and for the last;    L(z) = the share of labels that are wrong;    ψ(z) = φ(x, y) − φ(x, z)

    arrays: see `_chain_kernels.ChainBlocks`.  regularization: λ > 0.
    Corners are sparse rows: a sentence's corners touch few of a million weights.
    The oracle is Viterbi's, in O(T M²) for T tokens and M labels; `nearest` is forward-backward, as expensive.
    """

    arrays: kernels.ChainBlocks
    regularization: float

    sparse = True

    @classmethod
    def of(
        cls,
        features: npt.ArrayLike | csr_array,
        labels: npt.ArrayLike,
        lengths: npt.ArrayLike,
        *,
        regularization: float,
        n_labels: int | None = None,
        biases: bool = False,
    ) -> "ChainProblem":
        """Make a problem of sequences that lie one after the other.

        features: (N, p) of all tokens, an array or a scipy.sparse one, kept as float32.  labels: (N,) from 0 on.
        lengths: (n,) of the sequences, >= 1.  n_labels: M; by default 1 + the greatest label.  Raises ValueError if
        arguments do not fit or are not finite, SettingError unless λ > 0.
        """
        if not 0 < regularization < np.inf:
            raise SettingError(f"regularization must be a number above 0, not {regularization}")
        if len(np.shape(features)) != 2:
            raise ValueError(f"features of shape {np.shape(features)} (give a row for each token, also of one number)")
        rows = csr_array(features, dtype=np.float32)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        given, sizes = np.asarray(labels), np.asarray(lengths, np.int64)
        if given.shape != (rows.shape[0],) or sizes.ndim != 1 or not len(sizes) or sizes.sum() != len(given):
            raise ValueError(
                f"features of {rows.shape[0]} tokens, {given.shape} labels, and lengths adding up to {sizes.sum()}"
            )
        if (sizes < 1).any() or not np.isfinite(rows.data).all():
            raise ValueError("sequences must have at least one token, and features must be finite")
        if not np.issubdtype(given.dtype, np.integer):
            raise ValueError(f"labels must be whole numbers, not {given.dtype}")
        most = int(given.max()) + 1 if n_labels is None else n_labels
        if given.min() < 0 or given.max() >= most:
            raise ValueError(f"labels must be from 0 to {most - 1}, not {given.min()} to {given.max()}")
        arrays = kernels.ChainBlocks(
            columns=rows.indices.astype(np.int32),
            values=rows.data,
            starts=rows.indptr.astype(np.int64),
            labels=given.astype(np.int32),
            offsets=np.concatenate([[0], np.cumsum(sizes)]),
            n_inputs=rows.shape[1],
            n_labels=most,
            biases=biases,
        )
        return cls(arrays, float(regularization))

    @property
    def n_blocks(self) -> int:
        return len(self.arrays.offsets) - 1

    @property
    def n_features(self) -> int:
        M = self.arrays.n_labels
        return (self.arrays.n_inputs + M + 3 * self.arrays.biases) * M

    @property
    def signature(self) -> str:
        kind = "|biases" if self.arrays.biases else ""
        return f"chains:{self.n_blocks}|labels:{self.arrays.n_labels}|lambda:{self.regularization:g}{kind}"

    def compiled(self) -> Compiled:
        return Compiled(self.arrays, kernels.chain_scratch, kernels.chain_corner, kernels.sparse_chain_corner)

    def rehearsal(self) -> "ChainProblem":
        """The problem of the shortest sequence."""
        shortest = int(np.diff(self.arrays.offsets).argmin())
        return self.take(np.array([shortest]))

    def take(self, sequences: I64) -> "ChainProblem":
        """The problem of these sequences alone, (m,) indices, in their order: a copy."""
        arrays = self.arrays
        sizes = np.diff(arrays.offsets)[sequences]
        tokens = np.concatenate([np.arange(*arrays.offsets[i : i + 2]) for i in sequences.tolist()])
        rows = csr_array((arrays.values, arrays.columns, arrays.starts), (len(arrays.labels), arrays.n_inputs))
        return ChainProblem.of(
            rows[tokens],
            arrays.labels[tokens],
            sizes,
            regularization=self.regularization,
            n_labels=arrays.n_labels,
            biases=arrays.biases,
        )

    def corners(self, blocks: I64, w: F64) -> Corners:
        """For each block, the corner argmax_z L_i(z) − w·ψ_i(z).  Raises ScoreError if w is not finite."""
        chosen = np.ascontiguousarray(blocks, np.int64)
        tokens = self.arrays.starts[self.arrays.offsets]
        most = int((2 * np.diff(tokens) + 5 * np.diff(self.arrays.offsets) + 4)[chosen].sum())
        columns, values, ends = np.empty(most, np.int64), np.empty(most), np.zeros(len(chosen) + 1, np.int64)
        losses = np.empty(len(chosen))
        if not np.isfinite(w).all():  # Viterbi would pass by what is NaN or -inf
            check_code(NOT_FINITE, -1)
        check_code(*kernels.chain_corners(chosen, self.arrays, w, ends[1:], columns, values, losses))
        end, shape = int(ends[-1]), (len(chosen), self.n_features)
        rows = csr_array((values[:end], columns[:end], ends), shape)
        rows.sum_duplicates()
        return Corners(rows, losses)

    def unpack(self, w: F64) -> "ChainWeights":
        """The parts of weights (d,) by what they are of, as views.  Raises ValueError if w does not fit."""
        self._check_weights(w)
        p, M = self.arrays.n_inputs, self.arrays.n_labels
        first, last = p * M, (p + M) * M
        biases = w[last:].reshape(3, M) if self.arrays.biases else np.zeros((3, M))
        return ChainWeights(w[:first].reshape(p, M), w[first:last].reshape(M, M), *biases)

    def _check_weights(self, w: F64) -> None:
        if w.shape != (self.n_features,):
            raise ValueError(f"{w.shape} weights for {self.n_features} features")

    def predict(self, w: F64) -> I32:
        """The labels (N,) of greatest score.  Raises ValueError if w does not fit."""
        self._check_weights(w)
        labels = np.empty_like(self.arrays.labels)
        kernels.best_labels(self.arrays, w, labels)
        return labels

    def error(self, w: F64) -> float:
        """The share of all tokens that w labels wrong."""
        return float(np.mean(self.predict(w) != self.arrays.labels))

    # What `Marginals` ask for.

    def marginals(self) -> "ChainProblem":
        return self

    geometries = ("entropic",)

    @shared_property
    def counts(self) -> F64:
        """1 for pairs of neighbouring labels, −1 for inner labels, 0 for the first and last, 1 for a single label."""
        T, M = np.diff(self.arrays.offsets), self.arrays.n_labels
        found = np.ones(self.parts[-1])
        for first, length in zip(self.parts[:-1].tolist(), T.tolist(), strict=True):
            found[first : first + length * M] = -1.0
            if length > 1:
                found[first : first + M] = found[first + (length - 1) * M : first + length * M] = 0.0
            else:
                found[first : first + M] = 1.0
        return found

    @shared_property
    def parts(self) -> I64:
        T, M = np.diff(self.arrays.offsets), self.arrays.n_labels
        return np.concatenate([[0], np.cumsum(T * M + (T - 1) * M * M)])

    @shared_property
    def target(self) -> F64:
        M, arrays = self.arrays.n_labels, self.arrays
        found = np.zeros(self.parts[-1])
        for i in range(self.n_blocks):
            y = arrays.labels[arrays.offsets[i] : arrays.offsets[i + 1]].astype(np.int64)
            T = np.arange(len(y))
            own = found[self.parts[i] : self.parts[i + 1]]
            own[T * M + y] = 1.0
            own[len(y) * M + T[:-1] * M * M + y[:-1] * M + y[1:]] = 1.0
        return found

    def scores(self, blocks: I64, w: F64) -> F64:
        starts = self._starts(blocks)
        found = np.empty(starts[-1])
        kernels.chain_scores(blocks, self.arrays, w, starts, found)
        return found

    def moments(self, blocks: I64, z: F64) -> F64:
        found = np.zeros(self.n_features + 1)
        kernels.chain_moments(blocks, self.arrays, z, self._starts(blocks), found)
        return found

    def nearest(self, blocks: I64, points: F64, geometry: str, duals: F64 | None = None) -> F64:
        if not np.isfinite(points).all():
            check_code(NOT_FINITE, -1)
        found = np.empty_like(points)
        kernels.all_marginals(blocks, self.arrays, points, self._starts(blocks), found)
        return found

    def _starts(self, blocks: I64) -> I64:
        return np.concatenate([[0], np.cumsum(np.diff(self.parts)[blocks])])
