"""How early wrong pairs stand in `score --format worst`."""

import random
from itertools import islice
from pathlib import Path

import numpy as np

import aligner
from corpora.files import read_lines
from corpora.suspects import support
from tables import DATA, markdown, table

CORPORA = {
    "Europarl en-fr": ("europarl/train.en.xz", "europarl/train.fr.xz"),
    "Hansards en-fr": ("hansards/train.en.gz", "hansards/train.fr.gz"),
    "Europarl de-en": ("comtrans-de-en/train.de.gz", "comtrans-de-en/train.en.gz"),
    "Europarl en-es": ("en-es/train.en.gz", "en-es/train.es.gz"),
    "news and Wikipedia en-hu": ("xl-wa/en-hu/text.en.gz", "xl-wa/en-hu/text.hu.gz"),
    "news and Wikipedia en-ru": ("xl-wa/en-ru/text.en.gz", "xl-wa/en-ru/text.ru.gz"),
}
ONE_IN, SEEDS = 250, 3


def places(files: list[Path], seed: int, pairs: int) -> tuple[int, list[float]]:
    """How many pairs are wrong, and the shares of them among the first ones by support, by twice the share, by fit."""
    sides = [[line.decode().split() for line in islice(read_lines(file), pairs)] for file in files]
    wrong = random.Random(seed).sample(range(len(sides[0])), len(sides[0]) // ONE_IN)
    moved = [sides[1][place] for place in wrong]
    for place, words in zip(wrong, [*moved[1:], moved[0]], strict=True):
        sides[1][place] = words
    found = aligner.align(zip(*sides, strict=True))
    supports = [
        support(*shape, dict(zip(pair.links, pair.scores, strict=True)))
        for shape, pair in zip(found.shapes.tolist(), found, strict=True)
    ]
    n, shares = len(wrong), []
    for keys, most in ((supports, n), (supports, 3 * n // 2), (supports, 5 * n), (found.fit[:, 2], 3 * n // 2)):
        first = np.argsort(keys, kind="stable")[:most]
        shares.append(100 * float(np.isin(first, wrong).sum()) / n)
    return n, shares


@table("suspects")
def suspects(data: Path = DATA, pairs: int = 10_000) -> str:
    """How early wrong pairs stand in `score --format worst`.

    Of the first pairs of each corpus, one in 250 gets the translation of another one, and the whole is scored by
    itself; the fit is the third column of --format tsv. Means over seeds.
    pairs: of each corpus.
    """
    rows = []
    for name, files in CORPORA.items():
        found = [places([data / file for file in files], seed, pairs) for seed in range(SEEDS)]
        means = np.mean([shares for _, shares in found], axis=0)
        rows.append([name, found[0][0], *(f"{mean:.0f}" for mean in means)])
    header = ["corpus", "wrong pairs, n", "% in the first n", "in 1.5 n", "in 5 n", "in 1.5 n by the fit"]
    return markdown(header, rows)
