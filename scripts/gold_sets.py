"""The gold sets of the data folder, and the corpora beside each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from corpora.corpus import Corpus
from corpora.readers import open_corpus


@dataclass(frozen=True)
class GoldSet:
    """A gold set, and the corpora that its translation models are learnt from.

    corpora: (prefix, pairs), in ascending order of pairs; with "" for the prefix, the text of so many of its own first
    pairs alone.  inside: whether corpora contain the text of the gold set.
    words: a file of the words that are annotated, a line a pair, ``0 2 3 ||| 1 2``; None: all are.
    """

    prefixes: tuple[str, ...]
    source: str
    target: str
    corpora: tuple[tuple[str, int], ...]
    inside: bool = False
    words: str | None = None

    def corpus(self, data: Path, prefix: str) -> Corpus:
        """Files of its languages."""
        return open_corpus(str(data / prefix), source=self.source, target=self.target)


def _sizes(prefix: str, own: Iterable[int], others: Iterable[int]) -> tuple[tuple[str, int], ...]:
    return *(("", pairs) for pairs in own), *((prefix, pairs) for pairs in others)


ALONE = 10_000
"""As many pairs as there are in a gold set, or more."""

GOLD_SETS: Mapping[str, GoldSet] = {
    "hansards": GoldSet(
        ("hansards/gold-train", "hansards/gold-trial"),
        "en",
        "fr",
        _sizes("hansards/train", [ALONE], [300, 1_000, 2_500, 10_000, 100_000]),
    ),
    "europarl": GoldSet(
        ("europarl/gold",), "en", "fr", _sizes("europarl/train", [ALONE], [300, 1_000, 2_500, 10_000, 100_000])
    ),
    "en-es": GoldSet(("en-es/gold",), "en", "es", _sizes("en-es/train", [ALONE], [300, 1_000, 2_500, 12_037])),
    "fr-en-stories": GoldSet(
        ("fr-en-stories/gold",), "fr", "en", _sizes("europarl/train", [ALONE], [3_000, 10_000, 50_000])
    ),
    "cs-en": GoldSet(
        ("cs-en-possible/gold-train",), "en", "cs", _sizes("cs-en/text", [100, ALONE], [2_500]), inside=True
    ),
    "en-ja": GoldSet(("en-ja/gold",), "en", "ja", _sizes("", [100, 300, ALONE], [])),
    "grc-en": GoldSet(("grc-en/gold",), "grc", "en", _sizes("", [100, ALONE], [])),
} | {
    f"pud, {code}": GoldSet(
        (f"pud/en-{code}/gold",), "en", code, _sizes("", [100, 300, ALONE], []), words=f"pud/en-{code}/gold.words"
    )
    for code in ("ko", "ar", "fr")
}
"""The gold sets that the default weights are learnt from."""

FURTHER: Mapping[str, GoldSet] = {
    "rwth-de-en": GoldSet(("rwth-de-en/gold",), "de", "en", (("comtrans-de-en/train", 23_580),)),
    "en-tr": GoldSet(("en-tr/gold",), "en", "tr", (("", ALONE),)),
}
"""Gold sets that no weights are learnt from."""

DEV_SETS: Mapping[str, GoldSet] = {
    "hansards, dev": GoldSet(("hansards/gold-dev",), "en", "fr", (("hansards/train", 10_000),)),
    "cs-en, dev": GoldSet(("cs-en-possible/gold-dev",), "en", "cs", (("cs-en/text", 2_500),), inside=True),
}
"""Gold sets on which no choice is made."""

WIKIPEDIA: Mapping[str, GoldSet] = {
    f"xl-wa, {code}": GoldSet(
        (f"xl-wa/en-{code}/gold",), "en", code, _sizes(f"xl-wa/en-{code}/text", [ALONE], [200, 900, 2_999])
    )
    for code in "bg da es et hu it nl pt ru sl".split()
}
"""Further ones, of small corpora."""

SETS: Mapping[str, GoldSet] = {**GOLD_SETS, **DEV_SETS, **FURTHER, **WIKIPEDIA}
