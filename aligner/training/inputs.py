"""What training reads: the corpora to count, and the labelled pairs to learn from."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aligner.errors import SettingError
from aligner.progress import Progress, ignore
from corpora.alignment import Links, PairLinks
from corpora.bitext import Bitext, read_bitext
from corpora.errors import CorpusError
from corpora.files import StrPath
from corpora.link_files import read_links
from corpora.normalize import Normalizer
from corpora.readers import Corpus, group_corpora, open_corpus

Paths = StrPath | Sequence[StrPath]


@dataclass(frozen=True, eq=False)
class Labelled:
    """Labelled pairs.  links: gold, a pair each.  others: other aligners' links.  available: pairs before sampling."""

    bitext: Bitext
    links: Links
    others: tuple[Links, ...]
    available: int

    def sampled(self, most: int, seed: int) -> Labelled:
        """The pairs, or a random sample of the greatest number allowed, in their order."""
        if self.available <= most:
            return self
        sample = np.sort(np.random.default_rng(seed).choice(self.available, most, replace=False))
        others = tuple(other.take(sample) for other in self.others)
        return Labelled(self.bitext.take(sample), self.links.take(sample), others, self.available)


@dataclass(frozen=True, eq=False)
class Inputs:
    """Opened corpora: texts to count, and labelled ones, which may be the same."""

    texts: tuple[Corpus, ...]
    labelled: tuple[Corpus, ...]
    normalizers: tuple[Normalizer, Normalizer]

    @classmethod
    def open(
        cls,
        corpora: Paths,
        gold: Paths,
        *,
        languages: tuple[str | None, str | None] = (None, None),
        normalizers: tuple[Normalizer, Normalizer] = (Normalizer(), Normalizer()),
        on_corpus: Callable[[Corpus], None] = ignore,
    ) -> Inputs:
        """Recognise the paths; nothing is read yet.  Raises AlignerError where something is missing."""
        texts = open_corpora(corpora, languages, on_corpus)
        labelled = tuple(corpus for corpus in texts if corpus.has_links)
        if gold:
            labelled = _open_all(gold, languages, on_corpus)
        if not labelled:
            hint = "give hand-aligned pairs with --gold, or a corpus with links like train.giza beside it"
            raise CorpusError(texts[0].name, 0, "no labelled pairs", hint=hint)
        if not gold and any(normalizer.tokenize for normalizer in normalizers):
            raise SettingError("the links of a corpus count its own tokens (leave --tokenize out, or give --gold)")
        return cls(texts, labelled, normalizers)

    def read(self, links: Paths = (), on_progress: Callable[[Progress], None] = ignore) -> tuple[Bitext, Labelled]:
        """Read everything.  links: files of other aligners' links of the labelled pairs."""
        as_it_is = _without_tokenizing(self.normalizers)
        files = as_list(links)
        if files and as_it_is != self.normalizers:
            raise SettingError("other aligners' links count tokens split by spaces (leave --tokenize or --links out)")

        # Labels first: a broken link is found before the long work.
        gold = Links.from_pairs(_all_links(self.labelled))
        bitext = read_texts(self.texts, self.normalizers, on_progress)
        labelled = bitext if self.labelled == self.texts else read_texts(self.labelled, as_it_is, on_progress)
        _check_languages(bitext, labelled, self.labelled[0])
        return bitext, Labelled(labelled, gold, _read_others(files, labelled), len(labelled))


def open_corpora(
    corpora: Paths, languages: tuple[str | None, str | None], on_corpus: Callable[[Corpus], None]
) -> tuple[Corpus, ...]:
    """Recognise corpora; nothing is read yet.  Raises AlignerError where there is none or something is missing."""
    texts = _open_all(corpora, languages, on_corpus)
    if not texts:
        raise SettingError("there is no corpus (give at least one)")
    return texts


def read_texts(
    texts: Sequence[Corpus], normalizers: tuple[Normalizer, Normalizer], on_progress: Callable[[Progress], None]
) -> Bitext:
    """The text alone of opened corpora."""
    return read_bitext(texts, *normalizers, lambda pairs: on_progress(Progress("reading", pairs, None, "pairs")))


def corpus_record(texts: Sequence[Corpus], bitext: Bitext) -> dict[str, Any]:
    """JSON values that say what text was counted."""
    return {
        "corpora": [corpus.name for corpus in texts],
        "fingerprint": bitext.fingerprint(),
        "pairs": len(bitext),
        "source_tokens": len(bitext.source.ids),
        "target_tokens": len(bitext.target.ids),
    }


def read_labelled(corpora: Sequence[Corpus], normalizers: tuple[Normalizer, Normalizer], links: Paths = ()) -> Labelled:
    """Labelled pairs alone, for a model with these normalizers.  links: files of other aligners' links of the pairs.

    Raises CorpusError on bad data.
    """
    gold = Links.from_pairs(_all_links(corpora))
    bitext = read_bitext(corpora, *_without_tokenizing(normalizers))
    return Labelled(bitext, gold, _read_others(as_list(links), bitext), len(bitext))


def as_list(paths: Paths) -> list[str]:
    """One path or several as a list of strings."""
    return [os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]


def _open_all(
    paths: Paths, languages: tuple[str | None, str | None], on_corpus: Callable[[Corpus], None]
) -> tuple[Corpus, ...]:
    source, target = languages
    opened = [open_corpus(group, source=source, target=target) for group in group_corpora(as_list(paths))]
    for corpus in opened:
        on_corpus(corpus)
    return tuple(opened)


def _without_tokenizing(normalizers: tuple[Normalizer, Normalizer]) -> tuple[Normalizer, Normalizer]:
    """Links count the tokens that are there: labelled text is never tokenised again."""
    source, target = normalizers
    return replace(source, tokenize=False), replace(target, tokenize=False)


def _read_others(files: Sequence[str], bitext: Bitext) -> tuple[Links, ...]:
    lengths = list(zip(bitext.source.lengths.tolist(), bitext.target.lengths.tolist(), strict=True))
    return tuple(read_links(path, lengths=lengths) for path in files)


def _all_links(corpora: Sequence[Corpus]) -> Iterator[PairLinks]:
    for corpus in corpora:
        yield from corpus.links()


def _check_languages(bitext: Bitext, labelled: Bitext, gold: Corpus) -> None:
    """Raise CorpusError where gold's languages are known and are not those of the corpus.

    A suffix of one letter, as in the NAACL format's ``.e`` and ``.f``, names a side and no language.
    """
    for side in ("source", "target"):
        ours, theirs = getattr(bitext, side).language, getattr(labelled, side).language
        if ours is None or theirs is None or 1 in (len(ours), len(theirs)):
            continue
        if ours != theirs:
            what = f"its {side} language is {theirs}, the corpus has {ours}"
            raise CorpusError(gold.name, 0, what, hint="choose the same ones with --source and --target")
