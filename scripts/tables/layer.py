"""Losses of matching layers beside softmax, and the pace of the layer beside Sinkhorn's."""

from __future__ import annotations

import lzma
import time
import zlib
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import aligner
from aligner.layers import matching_layer
from tables import DATA, markdown, table, with_interval

with suppress(ImportError):  # for --help
    import jax
    import optax
    import ot
    from jax import numpy as jnp

    from aligner.layers.jax import fenchel_young_loss, perturbed_loss

PAIRS, APART, LONGEST, BATCH, EPOCHS, BUCKETS, WIDTH = 5_000, 200, 40, 50, 4, 1 << 16, 64
THRESHOLDS = np.arange(1, 16) / 20
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
    texts, ids = zip(
        *(encode(folder / name) for name in ("train.en.xz", "train.fr.xz", "gold.en", "gold.fr")), strict=True
    )
    found = np.zeros((PAIRS, LONGEST, LONGEST), np.float32)
    for matrix, one in zip(found, aligner.align(list(zip(*texts[:2], strict=True))), strict=True):
        for link in one.links:
            matrix[link] = 1.0
    text, judged, matched, rows = np.stack(ids[:2]), np.stack(ids[2:]), matching_layer(found).z, []
    for name in LOSSES:
        weights = train(name, text[:, APART:], (found if "softmax" in name else matched)[APART:])
        for reader in dict.fromkeys((name, "Fenchel-Young, fermi-dirac" if "logarithm" in name else name)):
            apart, ours = (shares(reader, *scores_of(weights, own)) for own in (text[:, :APART], judged))
            likeness, best = max(
                (200 * found[:APART][apart > c].sum() / ((apart > c).sum() + found[:APART].sum()), c)
                for c in THRESHOLDS
            )
            links = [list(map(tuple, np.argwhere(one > best).tolist())) for one in ours]
            score = aligner.evaluate(str(folder / "gold.wa"), links)
            percents = (100 * one for one in (score.aer, *score.intervals["aer"]))
            label = name if reader == name else f"{name}; links by fermi-dirac marginals"
            rows.append([label, f"{likeness:.1f}", f"{best:g}", with_interval(*percents)])
            print(*rows[-1], flush=True)
    return rows


def paces() -> list[list[str]]:
    """A row for each temperature: CPU-ms a matrix, and the largest error of a row's sum, of three ways."""
    scores, ones, rows = np.random.default_rng(0).normal(size=(30, 25, 25)), np.ones(25), []
    raised = scores - scores.min()  # so that all words are linked, as Sinkhorn's are
    for temperature in (1.0, 0.3, 0.1):
        for way in ("layer", "layer and gradient", "Sinkhorn"):
            before = time.process_time()
            if way == "Sinkhorn":
                z = np.array([ot.sinkhorn(ones, ones, -one, temperature, stopThr=1e-6) for one in scores])
            else:
                found = matching_layer(raised, geometry="entropic", temperature=temperature)
                z = found.z if way == "layer" else (found.pull_back(scores), found.z)[1]
            cost = (time.process_time() - before) / len(scores)
            rows.append([f"{temperature:g}", way, f"{1000 * cost:.2f}", f"{abs(z.sum(1) - 1).max():.0e}"])
    return rows


@table("encoder", "sinkhorn")
def encoder(data: Path = DATA) -> dict[str, str]:
    """An encoder trained by the losses of matching layers and by softmax, and the layer's pace beside Sinkhorn's.

    Needs jax, optax and POT. The encoder learns the links that aligner finds without labels in 5,000 pairs, from words,
    their first and last letters, and places. The threshold of a row is the one at which its links are most like those
    that aligner finds in 200 other pairs.
    """
    header = ["temperature", "by", "CPU-ms a matrix", "largest error of a sum"]
    matching_layer(np.eye(2), geometry="entropic").pull_back(np.eye(2))  # compiles
    pace = markdown(header, paces(), 2)
    header = ["loss", "like the links of aligner, F1 %", "threshold", "AER % [95 %]"]
    return {"encoder": markdown(header, encoders(data / "europarl")), "sinkhorn": pace}
