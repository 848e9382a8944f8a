"""LogisticProblem: the links of labelled pairs, each edge a case of its own, near weights that are known beforehand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from aligner.svm import _corner_kernels as _kernels
from aligner.svm.hinge import check_costs, label_edges, take_values
from aligner.svm.prices import LinkRewards
from aligner.svm.protocols import Edges, Links
from corpora.ragged import F64, I64

DEFAULT_MISS_COST = 1.5
"""Of the logistic loss, without cross-validation: AER forgives some false links."""


@dataclass(frozen=True, eq=False)
class LogisticProblem:
    """Regularised logistic regression of links on the features of edges, towards known weights.

        min_w  λ/2 ‖w - w₀‖² + 1/n Σ_i Σ_{jk of pair i} c log(1 + exp(-y w·φ(j,k))),

    y = 1 for sure links and -1 for edges that gold says nothing of; possible ones are left out. c is miss_cost for the
    former and false_cost for the latter.

    Its scores are log-odds of each link by itself, the pseudo-likelihood of a matching  [Besag 1975]; answers are the
    best matchings by these scores, as for the hinge. Few labels teach more this way than by maximum margin, as every
    edge counts, and not only those of the worst matching; and w₀, learnt from other languages' gold, needs no data.

    edges: features of n pairs.  signs: (E,) int8, y or 0.  prior: (d,) = w₀.  regularization: λ > 0.
    capacity: links that a word may have, at no price.  prior_name: of w₀, for the signature.
    """

    edges: Edges
    signs: npt.NDArray[np.int8]
    prior: F64
    regularization: float
    miss_cost: float
    false_cost: float
    capacity: int
    prior_name: str
    links_lost = 0  # every sure link is a case, however many a word has
    notes: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def from_links(
        cls,
        edges: Edges,
        links: Links,
        *,
        regularization: float,
        prior: F64 | None = None,
        prior_name: str = "given",
        miss_cost: float = DEFAULT_MISS_COST,
        false_cost: float = 1.0,
        capacity: int = 1,
    ) -> LogisticProblem:
        """prior: (d,), 0 by default.

        Raises SettingError for costs or λ that cannot work, ValueError where the arguments do not fit.
        """
        check_costs(regularization, miss_cost, false_cost, 0.0)
        labels = label_edges(edges, links)
        if prior is not None and prior.shape != (len(edges.names),):
            raise ValueError(f"a prior of shape {prior.shape} for {len(edges.names)} features")
        signs = np.full(len(labels), -1, np.int8)
        signs[labels == _kernels.POSSIBLE] = 0
        signs[labels == _kernels.SURE] = 1
        start, name = (np.zeros(len(edges.names)), "none") if prior is None else (prior.astype(np.float64), prior_name)
        return cls(edges, signs, start, float(regularization), float(miss_cost), float(false_cost), capacity, name)

    def take(self, pairs: I64, *, memory: int | None = None) -> LogisticProblem:
        """The problem of these pairs alone, (m,) indices, in their order: a copy.  memory: see `Edges.take`."""
        signs = take_values(self.signs, self.edges.lists.offsets, pairs)
        return replace(self, edges=self.edges.take(pairs, memory=memory), signs=signs)

    @property
    def n_blocks(self) -> int:
        return len(self.edges)

    @property
    def n_features(self) -> int:
        return len(self.edges.names)

    @property
    def signature(self) -> str:
        costs = f"miss:{self.miss_cost:g}|false:{self.false_cost:g}"
        return f"logistic|lambda:{self.regularization:g}|{costs}|prior:{self.prior_name}|fertility:{self.capacity}"

    def rehearsal(self) -> LogisticProblem | None:
        """None: its kernels are compiled by the sums at the start, before the clock starts."""
        return None

    def link_rewards(self, w: F64) -> LinkRewards:
        """Further links of a word cost nothing: their own scores decide."""
        free = (0.0,) * (self.capacity - 1)
        return LinkRewards(free, free)
