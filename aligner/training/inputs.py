"""Inputs of training: the corpora to count, and the labelled pairs to learn from."""

import os
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from aligner.errors import SettingError
from aligner.model.aligning import read_others
from aligner.progress import Hooks, Progress
from aligner.training.settings import CountSettings
from corpora.bitext import Bitext, read_bitext
from corpora.corpus import Corpus, sample
from corpora.errors import CorpusError, counted
from corpora.files import StrPath
from corpora.link_files import kind_of_links
from corpora.links import Links
from corpora.normalize import Normalizers, refuse_links, without_tokenizing
from corpora.paths import is_stream
from corpora.ragged import I64
from corpora.readers import group_corpora, open_corpus
from corpora.reading import AS_IT_IS, Reading
from corpora.rereading import check_corpus, rereadable

Paths = StrPath | Sequence[StrPath]


@dataclass(frozen=True, eq=False)
class LabelledPairs:
    """Labelled pairs.  links: gold.  others: other aligners' links, if any.  available: pairs before sampling."""

    bitext: Bitext
    links: Links
    others: tuple[Links, ...]
    available: int

    def sampled(self, most: int, seed: int) -> "LabelledPairs":
        """The pairs, or a random sample of `most` of them, in their order."""
        if self.available <= most:
            return self
        return self.take(np.sort(np.random.default_rng(seed).choice(self.available, most, replace=False)))

    def take(self, pairs: I64) -> "LabelledPairs":
        """Some of the pairs, (m,) indices."""
        others = tuple(other.take(pairs) for other in self.others)
        return LabelledPairs(self.bitext.take(pairs), self.links.take(pairs), others, self.available)

    def divided(self, apart: int, seed: int) -> "tuple[LabelledPairs, LabelledPairs]":
        """All but some pairs, and these: so many, drawn at random, and others of the same words.

        Raises SettingError where none would be left.
        """
        digests = np.array(self.digests)
        chosen = np.isin(digests, np.random.default_rng(seed).permutation(digests)[:apart])
        if chosen.all():
            raise SettingError(f"`apart` is {apart} of {counted(len(digests), 'labelled pair')} (leave some)")
        return self.take(np.flatnonzero(~chosen)), self.take(np.flatnonzero(chosen))

    @property
    def digests(self) -> list[int]:
        """A number for each pair, by its words alone."""
        digests = [0] * len(self.bitext)
        for side in (self.bitext.source, self.bitext.target):
            words = np.array([crc32(word.encode(errors="replace")) for word in side.vocabulary.words], np.uint32)
            bounds = pairwise(side.offsets.tolist())
            digests = [crc32(words[side.ids[a:b]].tobytes(), one) for one, (a, b) in zip(digests, bounds, strict=True)]
        return digests


@dataclass(frozen=True, eq=False)
class Inputs:
    """Opened inputs: corpora to count, and labelled corpora to learn from, which may be the same, or none.

    given: whether labelled corpora were given apart.  links: other aligners' links of them, each FILE or KIND=FILE.
    """

    texts: tuple[Corpus, ...]
    labelled: tuple[Corpus, ...]
    given: bool
    links: Sequence[str]

    @classmethod
    def open(
        cls,
        corpora: Paths,
        gold: Paths = (),
        links: Paths = (),
        *,
        reading: Reading = AS_IT_IS,
        hooks: Hooks = Hooks(),  # noqa: B008 - frozen
    ) -> "Inputs":
        """Recognise the inputs of `train.train`.  Raises AlignerError if there is no corpus or a file is missing."""
        texts = open_corpora(corpora, reading, hooks)
        labelled = tuple(corpus for corpus in texts if corpus.has_labels)
        if gold:
            labelled = open_corpora(gold, Reading(reading.source, reading.target), hooks, texts)
        return cls(texts, labelled, bool(gold), as_list(links))

    @property
    def kinds(self) -> list[str]:
        return [kind_of_links(one)[0] for one in self.links]

    @property
    def files(self) -> list[StrPath]:
        return [
            *(kind_of_links(one)[1] for one in self.links),
            *(file for corpus in (*self.texts, *self.labelled) for file in corpus.files),
        ]

    def read(self, count: CountSettings, hooks: Hooks) -> tuple[Bitext, LabelledPairs | None, dict[str, Any]]:
        """Read the text to count and the labelled pairs, if any; also returns JSON values that say what was read."""
        tokenized = any(normalizer.tokenize for normalizer in count.normalizers)
        if tokenized and self.labelled and not self.given:
            raise SettingError("the links of a corpus count its own tokens (leave `tokenize` out, or give `gold`)")
        refuse_links(self.links, count.normalizers)

        # Labels first: a broken link is found before the long work.
        gold_links = _gold_links(self.labelled)
        counted = self.texts
        if count.sample is not None:
            again = [*map(rereadable, counted)]
            counted = tuple(sample(again, [*map(check_corpus, again)], count.sample, count.seed))
        bitext = read_texts(counted, count.normalizers, hooks)
        record = corpus_record(self.texts, bitext, count)
        if not self.labelled:
            return bitext, None, record
        same = self.labelled == counted
        gold_bitext = bitext if same else read_texts(self.labelled, without_tokenizing(count.normalizers), hooks)
        _check_languages(bitext, gold_bitext, self.labelled[0])
        others = read_others(self.links, gold_bitext)
        labelled = LabelledPairs(gold_bitext, gold_links, others, len(gold_bitext))
        return bitext, labelled, {**record, "gold": [corpus.name for corpus in self.labelled]}


def open_corpora(corpora: Paths, reading: Reading, hooks: Hooks, like: Sequence[Corpus] = ()) -> tuple[Corpus, ...]:
    """Recognise corpora; no text is read yet.  Raises AlignerError if there is no corpus or a file is missing.

    reading: of each; its columns are of those that are one file.
    """
    groups = group_corpora(as_list(corpora))
    if not groups:
        raise SettingError("there is no corpus (give at least one)")
    of_two = Reading(reading.source, reading.target)
    files = [len(group) == 1 and (is_stream(group[0]) or Path(group[0]).is_file()) for group in groups]
    texts = tuple(
        _open_in_order(group, reading if alone or not any(files) else of_two, like)
        for group, alone in zip(groups, files, strict=True)
    )
    for corpus in texts:
        hooks.on_corpus(corpus)
    return tuple(corpus if corpus.has_links else hooks.lenient(corpus) for corpus in texts)


def _open_in_order(group: Sequence[str], reading: Reading, like: Sequence[Corpus]) -> Corpus:
    """Open a corpus; if no language is chosen, in the order of the first of `like`, if it has both."""
    found = open_corpus(group, **vars(reading))
    source, target = found.languages
    turned = [(text.target_language, text.source_language) for text in like[:1]] == [(source, target)]
    return open_corpus(group, source=target, target=source) if turned and reading == AS_IT_IS else found


def read_texts(texts: Sequence[Corpus], normalizers: Normalizers, hooks: Hooks) -> Bitext:
    """Read the text of opened corpora, without links."""
    return read_bitext(texts, *normalizers, lambda pairs: hooks.on_progress(Progress("reading", pairs, None, "pairs")))


TEXT_FACTS = (
    *("date", "corpora", "priors", "dictionary", "sample", "fingerprint", "pairs", "source_tokens", "target_tokens"),
    "updates",
)
"""The keys of a model's record that are about its text: those of `corpus_record`, and updates."""


def corpus_record(texts: Sequence[Corpus], bitext: Bitext, settings: CountSettings | None = None) -> dict[str, Any]:
    """The record of the text that was counted, as JSON values."""
    given: dict[str, Any] = {}
    if settings is not None:
        given = {"priors": settings.priors, "dictionary": [*settings.dictionary], "sample": settings.sample}
    return {
        "date": time.strftime("%Y-%m-%d"),
        "corpora": [corpus.name for corpus in texts],
        **{name: value for name, value in given.items() if value not in (None, [])},
        "fingerprint": bitext.fingerprint(),
        "pairs": len(bitext),
        "source_tokens": len(bitext.source.ids),
        "target_tokens": len(bitext.target.ids),
    }


def read_labelled(corpora: Sequence[Corpus], normalizers: Normalizers, links: Paths = ()) -> LabelledPairs:
    """Read labelled pairs for a model with these normalizers.  links: files of other aligners' links of the pairs.

    Raises CorpusError on bad data.
    """
    gold = _gold_links(corpora)
    bitext = read_bitext(corpora, *without_tokenizing(normalizers))
    return LabelledPairs(bitext, gold, read_others(as_list(links), bitext), len(bitext))


def as_list(paths: Paths) -> list[str]:
    """Make one path or several a list of strings."""
    return [os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]


def _gold_links(corpora: Sequence[Corpus]) -> Links:
    links = Links.from_pairs(pair for corpus in corpora for pair in corpus.links())
    missing = np.count_nonzero(np.diff(links.offsets) == 0)
    if 2 * missing > len(links):
        what = f"{missing} of {len(links)} labelled pairs have no link (are they finished?)"
        warnings.warn(f"{corpora[0].name}: {what}", stacklevel=2)
    return links


def _check_languages(bitext: Bitext, labelled: Bitext, gold: Corpus) -> None:
    """Raise CorpusError if gold's languages are known and the corpus has others.

    A suffix of one letter, as in the NAACL format's ``.e`` and ``.f``, names a side and no language.
    """
    for side in ("source", "target"):
        ours, theirs = getattr(bitext, side).language, getattr(labelled, side).language
        if ours is None or theirs is None or 1 in (len(ours), len(theirs)):
            continue
        if ours != theirs:
            what = f"its {side} language is {theirs}, the corpus has {ours}"
            raise CorpusError(gold.name, 0, what, hint="choose the same source and target language")
