"""Store: one annotator's annotations of a text; every change is kept, and can be undone."""

import glob
import json
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from threading import RLock

from aligner.errors import AlignerError
from aligner.pages.annotate.annotation import Annotation, AnnotationError, SourceText
from corpora.errors import CorpusError, counted
from corpora.files import refuse_inputs, write_atomically
from corpora.formats.pharaoh import format_links
from corpora.journal import Entry, Journal, read_journal

LONGEST_BREAK = 300.0
"""Longer breaks between two changes, in seconds, do not count as time of work."""

_HINT = "give the text as it was, or another name for `output`"


class ConflictError(AlignerError):
    """A change to a pair that has been changed elsewhere since it was shown."""


class Store:
    """The annotations of one annotator.

    prefix: of the files: PREFIX.journal, which holds everything, and the accepted pairs in PREFIX.L1, PREFIX.L2 and
    PREFIX.wa, in the order of the text.  writes: if False, the journal of another process is read as it is now.
    works: annotations of the pairs that have been changed.  revisions: how often each pair has been changed.
    Raises CorpusError if the files are of another text, or were not written here.
    """

    def __init__(self, prefix: str, text: SourceText, *, writes: bool = True) -> None:
        self.prefix, self.text = prefix, text
        self.outputs = [f"{prefix}.{suffix}" for suffix in (*text.languages, "wa")]
        self.works: dict[int, Annotation] = {}
        self.revisions: dict[int, int] = {}
        self.lock = RLock()
        self._undo: list[dict[int, Annotation | None]] = []
        self._times: list[float] = []
        self._written: dict[str, bytes] = {}
        self._before = [b"", b"", b""]  # content of the outputs before the last entry
        path = Path(f"{prefix}.journal")
        for name in filter(_exists, self.outputs if writes and not path.exists() else ()):
            refuse_inputs(name, text.files)
            raise CorpusError(name, 0, "file exists, without a journal", hint="choose another name for `output`")
        with ExitStack() as opened:
            if writes:
                head = {"journal": "aligner annotate", "pairs": len(text.sentences), "text": text.digest}
                hint = "end that one, or give another annotator"
                self._journal = opened.enter_context(closing(Journal(path, head, hint)))
            if path.exists():
                self._read(path)
            if writes:
                self._check_outputs()
            opened.pop_all()
        if writes:
            for output in map(Path, self.outputs):
                for left in output.parent.glob(f".{glob.escape(output.name)}.aligner-*.tmp"):
                    left.unlink()  # of a process that was killed: nobody else writes these files
            self._write()

    def accepted(self) -> dict[int, Annotation]:
        """The accepted pairs, in the order of the text."""
        return {pair: work for pair, work in sorted(self.works.items()) if work.status == "accepted"}

    def is_open(self, pair: int) -> bool:
        return pair not in self.works or self.works[pair].status == "open"

    def change(self, changes: Mapping[int, tuple[int, Annotation]]) -> None:
        """Save new annotations of some pairs: pair -> (its revision when it was shown, annotation); one step to undo.

        Raises ConflictError, and saves nothing, if a pair has been changed since.
        """
        with self.lock:
            if any(self.revisions.get(pair, 0) != revision for pair, (revision, _) in changes.items()):
                raise ConflictError("the pair has been changed in another window")
            self._keep({"works": {pair: work.to_json() for pair, (_, work) in changes.items()}})

    def undo(self) -> list[int]:
        """Undo the last change; return its pairs, none if there is nothing to undo."""
        with self.lock:
            pairs = [*self._undo[-1]] if self._undo else []
            if pairs:
                self._keep({"undo": True})
            return pairs

    def pace(self) -> float:
        """Accepted pairs an hour, without long breaks; 0 in the first minute."""
        gaps = [b - a for a, b in zip(self._times, self._times[1:], strict=False) if 0 <= b - a <= LONGEST_BREAK]
        return 3600 * len(self.accepted()) / sum(gaps) if sum(gaps) >= 60 else 0.0

    def gold(self) -> list[bytes]:
        """The contents of the files of accepted pairs: source, target, links."""
        accepted = self.accepted()
        columns = [[self.text.sentences[pair][side] for pair in accepted] for side in (0, 1)]
        links = [format_links(work.links) for work in accepted.values()]
        return ["".join(f"{line}\n" for line in column).encode() for column in (*columns, links)]

    def close(self) -> None:
        self._journal.close()

    def _read(self, path: Path) -> None:
        head, *entries = read_journal(path) or [{}]
        if head.get("journal") != "aligner annotate":
            raise CorpusError(path, 1, "is not the head of a journal", hint=_HINT)
        if head.get("pairs") != len(self.text.sentences):
            what = f"has {counted(len(self.text.sentences), 'line')}, but {path} was begun with {head.get('pairs')}"
            raise CorpusError(self.text.name, 0, what, hint=_HINT)
        if head.get("text") != self.text.digest:
            raise CorpusError(self.text.name, 0, f"has changed since {path} was begun", hint=_HINT)
        for number, entry in enumerate(entries, 2):
            if number == len(entries) + 1:
                self._before = self.gold()
            try:  # older versions kept half surrogate pairs in comments, which no page can be sent
                self._apply(json.loads(json.dumps(entry, ensure_ascii=False).encode(errors="replace")))
            except (AnnotationError, LookupError, AttributeError, TypeError, ValueError) as error:
                raise CorpusError(path, number, f"cannot be done: {error}", hint="take this line out") from error

    def _check_outputs(self) -> None:
        """Raise CorpusError unless each file is as the last entry, or the one before it, left it."""
        for name, *known in zip(self.outputs, self.gold(), self._before, strict=True):
            if _exists(name) and Path(name).read_bytes() not in known:
                hint = f"move it away: {self.prefix}.journal has all that was accepted here"
                raise CorpusError(name, 0, "has been changed elsewhere, and would be written over", hint=hint)

    def _keep(self, entry: Entry) -> None:
        if self._behind:  # since a full disk: the files are never two entries behind, which `_check_outputs` refuses
            self._write()
        entry = {"time": round(time.time(), 3), **entry}
        self._journal.append(entry)
        self._apply(entry)
        self._write()

    def _apply(self, entry: Entry) -> None:
        """Apply an entry of the journal; an undone change cannot be undone again."""
        if entry.get("undo"):
            changes = self._undo.pop()
        else:
            works = {int(pair): work for pair, work in entry["works"].items()}
            if min(works, default=0) < 0:
                raise AnnotationError("there is no such pair")
            changes = {pair: Annotation.from_json(work, self.text.lengths(pair)) for pair, work in works.items()}
            self._undo.append({pair: self.works.get(pair) for pair in changes})
        for pair, work in changes.items():
            self.revisions[pair] = self.revisions.get(pair, 0) + 1
            if work is None:
                del self.works[pair]
            else:
                self.works[pair] = work
        self._times.append(entry["time"])

    def _write(self) -> None:
        self._behind = True
        for name, content in zip(self.outputs, self.gold(), strict=True):
            if self._written.get(name) != content:
                with write_atomically(name, force=True) as file:
                    file.write(content)
                self._written[name] = content
        self._behind = False


def _exists(name: str) -> bool:
    return Path(name).exists()
