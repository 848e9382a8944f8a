"""What a service counts, as Prometheus reads it."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Bounds of the seconds that answers take."""


@dataclass
class Metrics:
    """Counts since the start.  requests: by path and status.  pairs: aligned.  buckets: answers by their seconds."""

    requests: Counter[tuple[str, int]] = field(default_factory=Counter)
    pairs: int = 0
    seconds: float = 0.0
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))

    def answered(self, pairs: int, seconds: float) -> None:
        self.pairs += pairs
        self.seconds += seconds
        self.buckets[bisect_left(BUCKETS, seconds)] += 1

    def text(self, waiting: int, reloads: Mapping[str, int]) -> str:
        """All of it.  waiting: requests that are not answered yet.  reloads: of the model, by how they went."""
        requests = ((f'{{path="{path}",status="{status}"}}', n) for (path, status), n in sorted(self.requests.items()))
        bounds = zip((*BUCKETS, "+Inf"), accumulate(self.buckets), strict=True)
        name = "aligner_align_seconds"
        return "\n".join([
            *_metric("aligner_requests_total", "counter", "Requests by path and status.", requests),
            *_metric("aligner_pairs_total", "counter", "Sentence pairs aligned.", [("", self.pairs)]),
            *_metric(name, "histogram", "Seconds from the head of a request for links to its answer.",
                     ((f'_bucket{{le="{bound}"}}', n) for bound, n in bounds)),
            f"{name}_sum {self.seconds:.6f}",
            f"{name}_count {sum(self.buckets)}",
            *_metric("aligner_waiting", "gauge", "Requests for links that are not answered yet.", [("", waiting)]),
            *_metric("aligner_reloads_total", "counter", "Reloads of the model.",
                     ((f'{{result="{result}"}}', n) for result, n in reloads.items())),
            *_metric("process_resident_memory_bytes", "gauge", "Memory in use.", _memory()), "",
        ])  # fmt: skip


def _metric(name: str, kind: str, help_: str, values: object) -> Iterator[str]:
    yield f"# HELP {name} {help_}"
    yield f"# TYPE {name} {kind}"
    yield from (f"{name}{labels} {value}" for labels, value in values)  # type: ignore[attr-defined]


def _memory() -> Iterator[tuple[str, int]]:
    with suppress(OSError):  # of Linux
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        yield "", pages * os.sysconf("SC_PAGE_SIZE")
