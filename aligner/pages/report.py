"""A report as one HTML file: the links of systems for the pairs of a text, beside each other and gold."""

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePath
from typing import Any

import numpy as np

from aligner.errors import SettingError
from aligner.evaluation.comparison import Evaluation, compare
from aligner.evaluation.reading import short_names
from aligner.pages.assets import render
from corpora.apostrophes import tokenizing
from corpora.errors import CorpusError, counted
from corpora.link_files import open_links
from corpora.links import Links, PairLinks
from corpora.ragged import F64, Array
from corpora.readers import open_text
from corpora.reading import AS_IT_IS, Reading
from corpora.recognize import links_format
from corpora.suspects import faults, odd_lengths, support

MOST_SYSTEMS = 4

_CODE = re.compile("[a-zA-Z]{2,3}([-_][a-zA-Z0-9]+)*")  # of a language

Sentences = tuple[list[str], list[str]]  # the words of a source and of a target sentence


@dataclass(frozen=True, eq=False)
class System:
    """The links of one system.

    scores: (m,) in the order of the links, between 0 and 1; None if it has none.  support: (n,) of each pair.
    """

    name: str
    links: Links
    scores: F64 | None
    support: F64


@dataclass(frozen=True, eq=False)
class ReportedPairs:
    """The pairs of a report.

    words: of each source and of each target sentence.  gold: None without.  gold_name: as the user wrote it.
    languages: the suffixes of the texts, or None.
    """

    name: str
    languages: tuple[str | None, str | None]
    words: tuple[list[list[str]], list[list[str]]]
    systems: tuple[System, ...]
    gold: Links | None
    gold_name: str

    def evaluate(self, **settings: Any) -> list[Evaluation]:
        """The evaluations of the systems by `compare`; [] without gold.  settings: of the bootstrap, see `Judging`."""
        if self.gold is None:
            return []
        found, names = [system.links for system in self.systems], [system.name for system in self.systems]
        lengths = [len(words) for words in self.words[0]]
        return compare(self.gold, found, names=names, gold_name=self.gold_name, source_lengths=lengths, **settings)


def read_pairs(
    source: str,
    target: str | None,
    systems: Sequence[str],
    *,
    names: Sequence[str] | None = None,
    gold: str | None = None,
    tokenize: bool = False,
    keep: str | None = None,
    reading: Reading = AS_IT_IS,
) -> ReportedPairs:
    """Read two texts, or a whole corpus, files of links, and gold links.

    names: of the systems, else `short_names`. Words are those of the first file that has words (jsonl), if any.
    tokenize: words are tokens of a model that tokenises, not split at spaces.  keep: see `tokenizing`.
    Raises SettingError on too many systems, CorpusError on files that are broken or do not fit together.
    """
    if len(systems) > MOST_SYSTEMS:
        raise SettingError(f"{len(systems)} systems are too many for one report (give at most {MOST_SYSTEMS})")
    corpus = open_text(source, target, reading)
    corpus = corpus.in_tokens(tokenizing(tokenize, keep, [corpus.refuse_pipes()] if tokenize else []))
    with_words = next((file for file in systems if links_format(file).objects), None)
    if with_words is None:
        texts = list(corpus.texts())
        corpus.check_utf8(texts)
        words = [([*map(bytes.decode, a.split())], [*map(bytes.decode, b.split())]) for _, a, b in texts]
    else:
        words = [pair.words or ([], []) for pair in open_links(with_words)]
    if not words:
        raise CorpusError(source, 0, "there are no pairs to report on", hint="check the file name")
    lengths, read = [(len(a), len(b)) for a, b in words], []
    for name, file in zip(names or short_names(systems), systems, strict=True):
        stream = open_links(file, lengths=lengths, own_words=True)
        scored = list(stream.pairs)
        if any(pair.words for pair in scored):
            _check_words(file, [pair.words or ([], []) for pair in scored], words)
        read.append(_system(name, stream.format, scored, lengths))
    truth = open_links(gold, lengths=lengths).read() if gold is not None else None
    sides = [a for a, _ in words], [b for _, b in words]
    languages = corpus.languages
    return ReportedPairs(
        " – ".join(short_names([source, target] if target else [source])),
        languages,
        sides,
        tuple(read),
        truth,
        gold or "",
    )


def _system(name: str, format: str, scored: Sequence[PairLinks], lengths: Sequence[tuple[int, int]]) -> System:
    links = Links.from_pairs(scored, format)
    found = [
        {link: min(max(pair.scores.get(link, 1.0), 0.0), 1.0) for link in sorted(pair.sure | pair.possible)}
        for pair in scored
    ]
    supported = np.array([support(*length, one) for length, one in zip(lengths, found, strict=True)])
    scores = [score for one in found for score in one.values()] if any(pair.scores for pair in scored) else None
    return System(name, links, None if scores is None else np.array(scores), supported)


def _faults(pairs: ReportedPairs) -> Iterator[list[str]]:
    """The faults of each pair by the links of the first system."""
    lengths = np.array([[*map(len, words)] for words in zip(*pairs.words, strict=True)])
    links = np.diff(pairs.systems[0].links.offsets)
    return map(faults, *pairs.words, links.tolist(), odd_lengths(lengths).tolist())


def _check_words(file: str, own: Sequence[Sentences], words: Sequence[Sentences]) -> None:
    """Raise CorpusError unless a file has as many words as the pairs, and no word has a blank, which divides words."""
    for line, (sides, others) in enumerate(zip(own, words, strict=True), 1):
        if [*map(len, sides)] != [*map(len, others)]:
            raise CorpusError(file, line, "has not the words of this pair", hint="do the files belong together?")
        if any(not word or {*word} & {*" \n"} for word in chain(*sides)):
            raise CorpusError(file, line, "has a word with a blank in it", hint="split it at the blanks")


def write_page(
    pairs: ReportedPairs,
    evaluations: Sequence[Evaluation] = (),
    *,
    model: tuple[str, Mapping[str, Any]] | None = None,
) -> str:
    """Return the HTML of a report, which needs no other file and no network.

    evaluations: by `ReportedPairs.evaluate`.  model: its name, and its record.
    """
    data = {
        "pairs": len(pairs.words[0]),
        "languages": [*map(language_code, pairs.languages)],
        **{
            side: "\n".join(map(" ".join, lines)) for side, lines in zip(("source", "target"), pairs.words, strict=True)
        },
        "systems": [
            {"name": s.name, **_packed_links(s.links), "scores": _packed(s.scores), "support": _packed(s.support)}
            for s in pairs.systems
        ],
        "faults": [", ".join(found) for found in _faults(pairs)],
        "gold": pairs.gold and {"name": pairs.gold_name, **_packed_links(pairs.gold), "sure": _packed(pairs.gold.sure)},
        "evaluations": [evaluation.to_dict() for evaluation in evaluations] or None,
        "model": model and {"trace": model[1].get("trace")},
    }
    words = [sum(map(len, side)) for side in pairs.words]
    gold = (
        f", gold {PurePath(pairs.gold_name).name} ({evaluations[0].sure:,} sure links of {evaluations[0].possible:,})"
        if evaluations
        else ""
    )
    return render(
        "report.html",
        data,
        module="report.js",
        styles=("drawing.css", "page.css"),
        title=pairs.name,
        about=f"{counted(len(pairs.words[0]), 'pair')}, {words[0]:,} and {counted(words[1], 'word')}{gold}",
        evaluations=evaluations,
        confidence=f"{100 * evaluations[0].confidence:g}" if evaluations else "",
        signatures=list(dict.fromkeys(evaluation.signature for evaluation in evaluations)),
        model=f"model {model[0]}, {model[1].get('solver') or 'default weights'}" if model else "",
    )


def language_code(language: str | None) -> str | None:
    """The language, if it is a code that the attribute ``lang`` can have, else None."""
    return language if language and _CODE.fullmatch(language) else None


def _packed_links(links: Links) -> dict[str, Any]:
    return {"counts": _packed(np.diff(links.offsets)), "source": _packed(links.source), "target": _packed(links.target)}


def _packed(values: Array | None) -> dict[str, str] | None:
    """Pack values as little-endian bytes in base64: floats in 32 bits, whole numbers in as few as they need."""
    if values is None:
        return None
    small = np.float32 if values.dtype.kind == "f" else np.min_scalar_type(int(values.max(initial=0)))
    packed = values.astype(np.dtype(small).newbyteorder("<"))
    return {"type": f"{packed.dtype.kind}{packed.itemsize}", "data": b64encode(packed.tobytes()).decode()}
