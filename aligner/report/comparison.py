"""Links of any kind against gold of any kind: paths, `Links`, alignments, lists of links."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from aligner.report.evaluation import Evaluation, evaluate_links
from corpora.alignment import Link, Links, check_range
from corpora.files import StrPath
from corpora.link_files import read_links
from corpora.readers import open_corpus
from corpora.recognize import is_stream

Answers = StrPath | Links | Iterable[Iterable[Link]]
"""Links of n sentence pairs: a file of them, packed, or n sets."""


def evaluate(gold: Answers, answers: Answers, *, baseline: Answers | None = None, **settings: Any) -> Evaluation:
    """Judge links against gold, as the command ``aligner evaluate`` does.

    gold, answers, baseline: paths of links, of gold also the prefix of texts and links; `Links`; or `Alignments`, or
    any sets of (source, target) positions, one a pair, which are all sure.
    baseline: links to test the difference in AER against.
    settings: see `compare`.

    Raises CorpusError on bad data, TypeError on strings in place of positions.

    >>> found = evaluate([{(0, 0), (1, 1)}, {(0, 0)}], [[(0, 0)], [(0, 0)]])
    >>> found
    Evaluation(answers: AER 20.00 %, precision 100.00 %, recall 66.67 %, 2 pairs)
    >>> found.recall == found.to_dict()["recall"] / 100 == 2 / 3
    True
    """
    systems = [answers] if baseline is None else [baseline, answers]
    return compare(gold, systems, names=["baseline", "answers"][-len(systems) :], **settings)[-1]


def compare(
    gold: Answers,
    systems: Sequence[Answers],
    *,
    names: Sequence[str] | None = None,
    source: str | None = None,
    target: str | None = None,
    **settings: Any,
) -> list[Evaluation]:
    """Judge the links of several systems against one gold; all but the first are also tested against the first.

    gold, systems: see `evaluate`.  names: of the systems that are not files; "system 1" and so on by default.
    source, target: languages, where the gold is a prefix.
    settings: resamples, confidence and seed of the bootstrap, see `evaluation.evaluate_links`.
    """
    lengths = None
    if isinstance(gold, str | os.PathLike) and not (Path(gold).is_file() or is_stream(gold)):
        corpus = open_corpus(gold, source=source, target=target)
        links, lengths = corpus.links().read(), list(corpus.lengths())
    else:
        links = _read(gold)
    titles = names or [f"system {number}" for number in range(1, len(systems) + 1)]
    named = [_name(system, title) for system, title in zip(systems, titles, strict=True)]
    found = [_read(system, range(1, len(links) + 1)) for system in systems]
    for name, those in zip(named, found, strict=True):
        for line, (pair, length) in enumerate(zip(those, lengths or (), strict=False), 1):  # of unequal numbers: below
            check_range(pair, *length, name, line)
    source_lengths = None if lengths is None else [length for length, _ in lengths]
    name = _name(gold, "gold")
    return evaluate_links(
        links, found, gold_name=name, hypothesis_names=named, source_lengths=source_lengths, **settings
    )


def _name(links: Answers, otherwise: str) -> str:
    return os.fspath(links) if isinstance(links, str | os.PathLike) else otherwise


def _read(links: Answers, sentences: Sequence[int] | None = None) -> Links:
    """sentences: their numbers, which the NAACL format does not tell."""
    if isinstance(links, str | os.PathLike):
        return read_links(links, sentences=sentences)
    return links if isinstance(links, Links) else Links.from_sets(links)
