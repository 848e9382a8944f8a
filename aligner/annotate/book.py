"""Books: what one annotator has made of the pairs of a text, with every change kept and every change undoable."""

from __future__ import annotations

import glob
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from threading import RLock
from typing import Any, Literal

from aligner.annotate.journal import Entry, Journal, read_journal
from aligner.errors import AlignerError
from corpora.alignment import Link, PairLinks, check_range
from corpora.errors import CorpusError
from corpora.files import refuse_inputs, write_atomically
from corpora.formats.pharaoh import format_links

LONGEST_BREAK = 300.0
"""Seconds between two changes after which the time between them does not count as work."""

Status = Literal["open", "accepted", "skipped"]


class WorkError(AlignerError):
    """A request that makes no sense for the pair it is about."""


class ConflictError(AlignerError):
    """A change to a pair that has been changed since it was shown."""


@dataclass(frozen=True)
class SourceText:
    """The text to annotate.

    name: its source file.  languages: ends of the names of files.  sentences: n pairs, tokens joined by single blanks.
    digest: equal for equal sentences.
    """

    name: str
    languages: tuple[str, str]
    files: tuple[str, ...]
    sentences: tuple[tuple[str, str], ...]
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        joined = "\n".join(f"{source}\n{target}" for source, target in self.sentences)
        object.__setattr__(self, "digest", blake2b(joined.encode(), digest_size=16).hexdigest())

    def words(self, pair: int) -> tuple[list[str], list[str]]:
        source, target = self.sentences[pair]
        return source.split(" ") if source else [], target.split(" ") if target else []

    def lengths(self, pair: int) -> tuple[int, int]:
        source, target = self.words(pair)
        return len(source), len(target)


@dataclass(frozen=True)
class Work:
    """What has been made of a pair.

    suggested: links that nobody has looked at; they are sure once the pair is accepted.
    null: the source and the target words that translate nothing.
    """

    sure: frozenset[Link] = frozenset()
    possible: frozenset[Link] = frozenset()
    suggested: frozenset[Link] = frozenset()
    null: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
    status: Status = "open"
    flagged: bool = False
    comment: str = ""

    @property
    def links(self) -> PairLinks:
        return PairLinks(self.sure | self.suggested, self.possible)

    def to_json(self) -> Entry:
        links = {name: sorted(getattr(self, name)) for name in ("sure", "possible", "suggested")}
        null = [sorted(side) for side in self.null]
        return {**links, "null": null, "status": self.status, "flagged": self.flagged, "comment": self.comment}

    @classmethod
    def from_json(cls, given: Mapping[str, Any], lengths: tuple[int, int]) -> Work:
        """What is in a request or a journal.  Raises WorkError unless it fits a pair of these lengths."""
        try:
            sure, possible, suggested = (
                frozenset((int(j), int(k)) for j, k in given[name]) for name in ("sure", "possible", "suggested")
            )
            source, target = (frozenset(map(int, side)) for side in given["null"])
            status, flagged, comment = given["status"], given["flagged"] is True, str(given["comment"])
            ends = sure | possible | suggested | {(j, 0) for j in source} | {(0, k) for k in target}
            check_range(PairLinks(ends, frozenset()), *lengths, "request", 0)
        except (LookupError, TypeError, ValueError, CorpusError) as error:
            raise WorkError(f"this is not the work on a pair: {error!r}") from error
        if status not in ("open", "accepted", "skipped") or min(map(min, ends), default=0) < 0:
            raise WorkError(f"this is not the work on a pair: {status!r}")
        if status == "accepted":
            sure, suggested = sure | suggested, frozenset()
        return cls(sure, possible - sure, suggested - sure - possible, (source, target), status, flagged, comment)


class Book:
    """The work of one annotator.

    prefix: of the files: PREFIX.journal, which holds everything, and the accepted pairs in PREFIX.L1, PREFIX.L2 and
    PREFIX.wa, in the order of the text.  works: of the pairs that have been touched.  revisions: changes of each pair.
    Raises CorpusError where the files are of another text, or not from here.
    """

    def __init__(self, prefix: str, text: SourceText) -> None:
        self.prefix, self.text = prefix, text
        self.works: dict[int, Work] = {}
        self.revisions: dict[int, int] = {}
        self.lock = RLock()
        self._undo: list[dict[int, Work | None]] = []
        self._times: list[float] = []
        self._written: dict[str, bytes] = {}
        journal = Path(f"{prefix}.journal")
        if not journal.exists():
            for name in (name for name in self.outputs if Path(name).exists()):
                refuse_inputs(name, text.files)
                raise CorpusError(name, 0, "file exists, without a journal", hint="choose another name for `output`")
        self._journal = Journal(journal, self._head())
        try:
            head, *entries = self._journal.read() or [{}]
            check_head(journal, head, text)
            for number, entry in enumerate(entries, 2):
                self._redo(number, entry)
        except CorpusError:
            self.close()
            raise
        for name in self.outputs:
            for left in Path(name).parent.glob(f".{glob.escape(Path(name).name)}.aligner-*.tmp"):
                left.unlink()  # of a process that was killed: nobody else writes these files
        self._write()

    @property
    def outputs(self) -> list[str]:
        return [f"{self.prefix}.{suffix}" for suffix in (*self.text.languages, "wa")]

    def accepted(self) -> dict[int, Work]:
        """The accepted pairs, in the order of the text."""
        return {pair: work for pair, work in sorted(self.works.items()) if work.status == "accepted"}

    def change(self, changes: Mapping[int, tuple[int, Work]]) -> None:
        """Keep the work on some pairs, each with the revision that it is a change of; one step to undo.

        Raises ConflictError, with nothing kept, where a pair has another revision by now.
        """
        with self.lock:
            if any(self.revisions.get(pair, 0) != revision for pair, (revision, _) in changes.items()):
                raise ConflictError("the pair has been changed in another window")
            self._keep({"works": {pair: work.to_json() for pair, (_, work) in changes.items()}})

    def undo(self) -> list[int]:
        """Take the last change back; the pairs that it was of, none where there is nothing to take back."""
        with self.lock:
            pairs = [*self._undo[-1]] if self._undo else []
            if pairs:
                self._keep({"undo": True})
            return pairs

    def pace(self) -> float:
        """Accepted pairs an hour, without long breaks; 0 in the first minute."""
        gaps = [b - a for a, b in zip(self._times, self._times[1:], strict=False) if 0 <= b - a <= LONGEST_BREAK]
        return 3600 * len(self.accepted()) / sum(gaps) if sum(gaps) >= 60 else 0.0

    def close(self) -> None:
        self._journal.close()

    def write_gold(self, prefix: str) -> None:
        """Write the accepted pairs elsewhere: two texts and links."""
        for suffix, content in self._gold().items():
            Path(f"{prefix}.{suffix}").write_bytes(content)

    def _head(self) -> Entry:
        return {"journal": "aligner annotate", "pairs": len(self.text.sentences), "text": self.text.digest}

    def _keep(self, entry: Entry) -> None:
        entry = {"time": round(time.time(), 3), **entry}
        self._journal.append(entry)
        self._apply(entry)
        self._write()

    def _redo(self, number: int, entry: Entry) -> None:
        try:
            self._apply(entry)
        except (WorkError, LookupError) as error:
            raise CorpusError(
                self._journal.path, number, f"cannot be done: {error}", hint="take this line out"
            ) from error

    def _apply(self, entry: Entry) -> None:
        """Do what an entry says; an undone change is no longer among those to undo."""
        if entry.get("undo"):
            changes = self._undo.pop()
        else:
            works = {int(pair): work for pair, work in entry["works"].items()}
            changes = {pair: Work.from_json(work, self.text.lengths(pair)) for pair, work in works.items()}
            self._undo.append({pair: self.works.get(pair) for pair in changes})
        for pair, work in changes.items():
            self.revisions[pair] = self.revisions.get(pair, 0) + 1
            if work is None:
                del self.works[pair]
            else:
                self.works[pair] = work
        self._times.append(entry["time"])

    def _gold(self) -> dict[str, bytes]:
        accepted = self.accepted()
        columns = [
            *([self.text.sentences[pair][side] for pair in accepted] for side in (0, 1)),
            [format_links(work.links) for work in accepted.values()],
        ]
        suffixes = *self.text.languages, "wa"
        return {suffix: _lines(column) for suffix, column in zip(suffixes, columns, strict=True)}

    def _write(self) -> None:
        for suffix, content in self._gold().items():
            if self._written.get(suffix) != content:
                with write_atomically(f"{self.prefix}.{suffix}", force=True) as file:
                    file.write(content)
                self._written[suffix] = content


def check_head(journal: Path, head: Entry, text: SourceText) -> None:
    """Raise CorpusError unless a journal is of this text."""
    hint = "give the text as it was, or another name for `output`"
    if head.get("journal") != "aligner annotate":
        raise CorpusError(journal, 1, "is not the head of a journal", hint=hint)
    if head["pairs"] != len(text.sentences):
        what = f"has {len(text.sentences)} lines, but {journal} was begun with {head['pairs']}"
        raise CorpusError(text.name, 0, what, hint=hint)
    if head["text"] != text.digest:
        raise CorpusError(text.name, 0, f"has changed since {journal} was begun", hint=hint)


def read_accepted(journal: Path, text: SourceText) -> dict[int, Work]:
    """The accepted pairs of a journal that another process may be writing.  CorpusError if it is of another text."""
    head, *entries = read_journal(journal) or [{}]
    check_head(journal, head, text)
    steps: list[Entry] = []
    for entry in entries:
        steps = steps[:-1] if entry.get("undo") else [*steps, entry]
    works = {int(pair): work for step in steps for pair, work in step["works"].items()}
    found = {pair: Work.from_json(work, text.lengths(pair)) for pair, work in sorted(works.items())}
    return {pair: work for pair, work in found.items() if work.status == "accepted"}


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def approved(work: Work, links: Iterable[Link], kind: Literal["sure", "possible", "none"]) -> Work:
    """The work with suggested links decided upon."""
    decided = frozenset(links) & work.suggested
    kept = {} if kind == "none" else {kind: getattr(work, kind) | decided}
    return replace(work, suggested=work.suggested - decided, **kept)
