"""What tests of reports share: the browser that they need, and made-up systems."""

from __future__ import annotations

import os
import random
import runpy
from pathlib import Path
from typing import Any

import pytest
from commands import write

_SCRIPT = runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "browser.py"))
CHROMIUM, open_browser = _SCRIPT["CHROMIUM"], _SCRIPT["open_browser"]

Systems = dict[str, list[dict[tuple[int, int], float]]]


def unavailable(what: str) -> None:
    """Skip for want of a browser, or fail where there has to be one."""
    if os.environ.get("ALIGNER_BROWSER") == "required":
        pytest.fail(f"{what}, and ALIGNER_BROWSER says that it must be")
    pytest.skip(f"{what} (Debian's package chromium, and playwright from PyPI)")


def made_up(gold: list[set[tuple[int, int]]], lengths: list[tuple[int, int]], seed: int) -> list[dict[Any, float]]:
    """Links with mistakes: most of gold, and some others, the less probable."""
    rng, pairs = random.Random(seed), []
    for links, (J, K) in zip(gold, lengths, strict=True):
        found = {link: round(rng.uniform(0.4, 0.9999), 4) for link in sorted(links) if rng.random() < 0.93}
        for _ in range(rng.randrange(3)):
            found.setdefault((rng.randrange(J), rng.randrange(K)), round(rng.uniform(0.05, 0.8), 4))
        pairs.append(dict(sorted(found.items())))
    return pairs


def write_links(path: Path, pairs: list[dict[tuple[int, int], float]], least: float = 0.0) -> Path:
    """Those of a probability of at least so much."""
    lines = [[f"{j}-{k}:{p}" for (j, k), p in pair.items() if p >= least] for pair in pairs]
    return write(path, *map(" ".join, lines))
