"""The tables of docs/layer.md: an encoder trained by the losses of matching layers and by softmax, and Sinkhorn's pace.

    pip install jax optax POT && python scripts/layer.py --write

The encoder learns the links that aligner finds without labels in 5,000 pairs, from words, their first and last letters,
and places. Of 200 pairs kept apart it needs the threshold at which its links are most like the links found there.
"""

from __future__ import annotations

import lzma
import time
import zlib
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from tables import markdown, parser_of, publish, with_interval

import aligner
from aligner.layers import matching_layer

with suppress(ImportError):  # for --help
    import jax
    import optax
    import ot
    from jax import numpy as jnp

    from aligner.layers.jax import fenchel_young_loss, perturbed_loss

PAGE = "docs/layer.md"
PAIRS, APART, LONGEST, BATCH, EPOCHS, BUCKETS, WIDTH = 5_000, 200, 40, 50, 4, 1 << 16, 64
LOSSES: dict[str, dict[str, Any]] = {
    "Fenchel-Young, euclidean": {"temperature": 3.0},
    "Fenchel-Young, entropic": {"geometry": "entropic"},
    "Fenchel-Young, fermi-dirac": {"geometry": "fermi-dirac"},
    "perturbed, normal noise": {},
    "softmax, awesome-align's objective": {},
    "softmax, its logarithm": {},
}


def encode(path: Path) -> tuple[list[list[str]], Any]:
    """Words, and the buckets (n, LONGEST, 3) of each word and its first and last letters; 0 is padding."""
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf-8") as file:
        texts = [line.lower().split()[:LONGEST] for line in islice(file, PAIRS)]
    ids = np.zeros((len(texts), LONGEST, 3), np.int32)
    for i, text in enumerate(texts):
        for j, word in enumerate(text):
            ids[i, j] = [1 + zlib.crc32(part.encode()) % (BUCKETS - 1) for part in (word, word[:5] + "-", word[-4:])]
    return texts, ids


def scores_of(weights: Any, ids: Any) -> Any:
    """Scores of words (n, J, K), less for places far apart, and which are no padding."""
    words = ids[..., 0] > 0
    x, y = (table[own].sum(-2) for table, own in zip(weights, ids, strict=False))
    place = jnp.arange(LONGEST) / words.sum(-1, keepdims=True)
    far = abs(place[0][:, :, None] - place[1][:, None])
    return jnp.einsum("njd,nkd->njk", x, y) - weights[2] * far - weights[3], words[0][:, :, None] & words[1][:, None]


def softmaxes(scores: Any, mask: Any) -> Any:
    return jnp.stack([jax.nn.log_softmax(jnp.where(mask, scores, -1e9), axis) for axis in (2, 1)])


def loss(name: str, scores: Any, mask: Any, target: Any) -> Any:
    if "softmax" in name:
        each = softmaxes(scores, mask)
        if "awesome" in name:
            each = 10 * jnp.exp(each) / jnp.stack([mask.any(axis).sum(1) for axis in (2, 1)])[..., None, None]
        return -(target * jnp.where(mask, each.sum(0), 0))
    if "perturbed" in name:
        return perturbed_loss(scores, target, 0, mask, samples=5)
    return fenchel_young_loss(scores, target, mask, **LOSSES[name])


def shares(name: str, scores: Any, mask: Any) -> Any:
    """What is above a threshold for a link: the marginal, or the less of two softmaxes."""
    if "softmax" in name:
        return np.asarray(jnp.exp(softmaxes(scores, mask).min(0)) * mask)
    return matching_layer(scores, mask, **LOSSES[name]).z


def train(name: str, ids: Any, target: Any) -> Any:
    rng, adam = np.random.default_rng(0), optax.adam(3e-3)
    weights = [jnp.asarray(0.2 * rng.normal(size=(BUCKETS, WIDTH)), jnp.float32) for _ in ids] + [5.0, 1.0]

    @jax.jit
    def step(weights: Any, state: Any, ids: Any, target: Any) -> Any:
        gradient = jax.grad(lambda weights: loss(name, *scores_of(weights, ids), target).sum() / BATCH)(weights)
        moves, state = adam.update(gradient, state)
        return optax.apply_updates(weights, moves), state

    state = adam.init(weights)
    for _ in range(EPOCHS):
        for rows in rng.permutation(len(target)).reshape(-1, BATCH):
            weights, state = step(weights, state, ids[:, rows], target[rows])
    return weights


def encoders(folder: Path) -> list[list[str]]:
    """A row for each loss."""
    (source, target, *gold), ids = zip(
        *(encode(folder / name) for name in ("train.en.xz", "train.fr.xz", "gold.en", "gold.fr")), strict=True
    )
    found = np.zeros((PAIRS, LONGEST, LONGEST), np.float32)
    for matrix, one in zip(found, aligner.align(list(zip(source, target, strict=True))), strict=True):
        for link in one.links:
            matrix[link] = 1.0
    text, judged, matched, rows = np.stack(ids[:2]), np.stack(ids[2:]), matching_layer(found).z, []
    for name in LOSSES:
        before = time.process_time()
        weights = train(name, text[:, APART:], (found if "softmax" in name else matched)[APART:])
        cost = time.process_time() - before
        apart, ours = (shares(name, *scores_of(weights, own)) for own in (text[:, :APART], judged))
        likeness = {
            c / 20: 2 * found[:APART][apart > c / 20].sum() / ((apart > c / 20).sum() + found[:APART].sum())
            for c in range(1, 16)
        }
        best = max(likeness, key=likeness.__getitem__)
        score = aligner.evaluate(
            str(folder / "gold.wa"), [list(map(tuple, np.argwhere(one > best).tolist())) for one in ours]
        )
        figures = with_interval(*(100 * one for one in (score.aer, *score.intervals["aer"])))
        rows.append([name, f"{100 * likeness[best]:.1f}", f"{best:g}", figures, f"{cost:.0f}"])
        print(*rows[-1], flush=True)
    return rows


def paces() -> list[list[str]]:
    """A row for each temperature: CPU-ms a matrix of 25 × 25 normal scores, and the largest error of a sum."""
    scores, rows = np.random.default_rng(0).normal(size=(100, 25, 25)), []
    ones = np.ones(25)
    for temperature in (1.0, 0.1, 0.03):
        raised = scores - scores.min()  # so that all words are linked, as Sinkhorn's are
        ways = {
            "layer": lambda: matching_layer(raised, geometry="entropic", temperature=temperature).z,
            "layer and gradient": lambda: matching_layer(
                raised, geometry="entropic", temperature=temperature
            ).pull_back(scores),
            "Sinkhorn": lambda: np.array(
                [ot.sinkhorn(ones, ones, -one, temperature, "sinkhorn_log", 100_000, 1e-6) for one in scores]
            ),
        }
        for name, way in ways.items():
            way()
            before = time.process_time()
            z = way()
            cost = 10 * (time.process_time() - before)
            rows.append([f"{temperature:g}", name, f"{cost:.2f}", f"{abs(z.sum(1) - 1).max():.0e}"])
    return rows


def main() -> None:
    options = parser_of(__doc__).parse_args()
    peers = "jax", "optax", "POT"
    header = ["loss", "like links of aligner, F1 %", "threshold", "AER % [95 %]", "CPU-s of training"]
    publish(
        "encoder", markdown(header, encoders(options.data / "europarl")), pages=[PAGE], write=options.write, peers=peers
    )
    publish(
        "sinkhorn",
        markdown(["temperature", "by", "CPU-ms a matrix", "largest error of a sum"], paces(), 2),
        pages=[PAGE],
        write=options.write,
        peers=peers,
    )


if __name__ == "__main__":
    main()
