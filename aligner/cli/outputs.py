"""The outputs of a command: files of links, and how they are written."""

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import IO, TYPE_CHECKING, Literal

from aligner.cli.messages import say
from aligner.cli.options import FORCE, OUTPUT, QUIET, output_option
from aligner.cli.tuning import reuse_memory
from aligner.progress import Progress, ignore, progress_bar
from corpora import SettingError
from corpora.errors import counted
from corpora.settings import changed, refuse_pairs, setting

if TYPE_CHECKING:
    from aligner.model.decoding import Alignments
    from aligner.model.remapping import Retokenized
    from aligner.model.settings import AlignSettings
    from corpora.corpus import Languages, TextLine
    from corpora.normalize import Normalizers

Format = Literal["pharaoh", "scored", "jsonl", "tsv"]


@dataclass(frozen=True)
class Output:
    """The files that links are written to, and their format.

    remap: a corpus, the same text in other tokens, whose links are written.  directions: prefix of two more files.
    resume: write in blocks, after those that are there.  cluster: workers that align shards, which are joined.
    """

    path: str = OUTPUT
    format: Format = output_option(
        "pharaoh",
        "i-j links, i-j:score, JSON objects with tokens and scores, or scores of pairs and links.",
    )
    remap: str | None = setting(
        None,
        "The same text in other tokens, such as subwords: write the links of these.",
        panel="Links",
        metavar="CORPUS",
        hidden=True,
    )
    directions: str | None = setting(
        None,
        "Also PREFIX.fwd, at most one link a target word, and PREFIX.rev, a source word.",
        panel="Without a model",
        metavar="PREFIX",
        hidden=True,
    )
    resume: bool = output_option(
        False, "Write in blocks, and go on after those that are there (with -m, -o).", hidden=True
    )
    cluster: str | None = setting(
        None,
        "Dask scheduler whose workers count or align; local:N: N processes here.",
        panel="Data",
        metavar="ADDRESS",
        hidden=True,
    )
    force: bool = FORCE
    quiet: bool = QUIET

    @property
    def paths(self) -> list[str]:
        return [self.path, *(f"{self.directions}.{end}" for end in ("fwd", "rev") if self.directions is not None)]

    def check(self, settings: "AlignSettings") -> None:
        """Raise SettingError for options that do not go together."""
        refuse_pairs(
            {*changed(self), *changed(settings)},
            ("directions", "model", "which has no posteriors of this text alone"),
            ("sample", "directions", "which are of posteriors of all text"),
            ("shard resume", "remap", "which is for the whole text, in one run"),
            ("resume", "links", "whose pairs are all aligned, in one run"),
            ("shard resume remap links", "cluster", "which divides the text by itself"),
        )
        for name in (name for name in ("resume", "cluster") if getattr(self, name) and settings.model is None):
            raise SettingError(f"`{name}` needs a `model`: without one all text is read before any is aligned")
        if self.cluster is not None and self.path == "-":
            raise SettingError("`cluster` joins files (name one with `output`)")

    def open(self) -> "list[Writer]":
        """A writer for each file.  Raises CorpusError already here if a file cannot be made."""
        from corpora.files import write_packed

        files = [write_packed(path, force=self.force or self.resume) for path in self.paths]
        return [Writer(replace(self, path=path), file) for path, file in zip(self.paths, files, strict=True)]


@dataclass(frozen=True)
class Writer:
    """Writes links into a file, and reports how many.  began: the time when the work began.

    before: pairs, links, words and linked words that are written already.  part_ends: called with these counts after
    each part.
    """

    output: Output
    file: AbstractContextManager[IO[bytes]]
    before: Sequence[int] = ()
    part_ends: Callable[[Sequence[int]], object] = ignore
    began: float = field(default_factory=time.monotonic)

    def write(
        self,
        normalizers: "Normalizers",
        parts: "Iterable[tuple[Sequence[TextLine], Alignments]]",
        pairs: int | None,
        other: "Retokenized | None",
        languages: "Languages",
    ) -> Sequence[int]:
        """Write the links of texts as they are found; returns the pairs, links, words and linked words.

        pairs: their number, if known.  other: the text of `Output.remap`.  languages: of the texts.
        """
        from aligner.model.output_formats import FORMATS
        from corpora.normalize import PLAIN

        reuse_memory()
        if other is not None:
            parts, normalizers = other.remapped(parts), PLAIN
        write = FORMATS[self.output.format]
        on_terminal = self.output.path == "-" and sys.stdout.isatty()  # where the links themselves are, no bar is
        done, links, words, linked = [*self.before, 0, 0, 0, 0][:4]
        with progress_bar(self.output.quiet or on_terminal, "aligning", done) as show, self.file as file:
            for texts, found in parts:
                file.write(write(texts, found, normalizers, languages))
                file.flush()
                done, links = done + len(found), links + len(found.links.source)
                words, linked = words + int(found.shapes.sum()), linked + int(found.linked.sum())
                self.part_ends((done, links, words, linked))
                show(Progress("aligning", done, pairs, "pairs"))
        self.report(done, links, words, linked)
        return done, links, words, linked

    def report(self, done: int, links: int, words: int, linked: int) -> None:
        if not self.output.quiet:
            what = f"{counted(done, 'pair')}, {counted(links, 'link')}, {words - linked:,} of {counted(words, 'word')}"
            where = "standard output" if self.output.path == "-" else self.output.path
            say(f"{what} without a link, {time.monotonic() - self.began:.1f} s, written to {where}")
