"""The text to annotate, and an annotator's links of one pair."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Literal

from aligner.errors import AlignerError
from aligner.model.model import Model
from corpora.corpus import Corpus
from corpora.errors import CorpusError
from corpora.links import Link, PairLinks, check_range

Status = Literal["open", "accepted", "skipped"]


class AnnotationError(AlignerError):
    """A request that does not fit the pair it is about."""


def whole(number: object) -> int:
    """Return a JSON value that is a whole number.  Raises AnnotationError for others, also for true and false."""
    if type(number) is not int:
        raise AnnotationError(f"{number!r} is no whole number")
    return number


@dataclass(frozen=True)
class SourceText:
    """The text to annotate.

    name: its source file.  languages: suffixes of files.  sentences: n pairs, tokens joined by single blanks.
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


def read_text(corpus: Corpus, model: Model) -> SourceText:
    """Read the sentences of a corpus, in the tokens that a model counts."""
    lines = [*corpus.texts()]
    corpus.check_lengths(lines)
    corpus.check_utf8(lines)
    tokens = [normalizer.tokens for normalizer in model.normalizers]
    sentences = tuple((" ".join(tokens[0](source)), " ".join(tokens[1](target))) for _, source, target in lines)
    languages = corpus.source_language or model.languages[0], corpus.target_language or model.languages[1]
    if None in languages or languages[0] == languages[1]:
        languages = "source", "target"
    files = tuple(map(str, corpus.files))
    return SourceText(corpus.source_file, (str(languages[0]), str(languages[1])), files, sentences)


@dataclass(frozen=True)
class Annotation:
    """An annotator's links of one pair, with status and comment.

    suggested: links by a model; accepting the pair makes them sure.
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

    def to_json(self) -> dict[str, Any]:
        links = {name: sorted(getattr(self, name)) for name in ("sure", "possible", "suggested")}
        null = [sorted(side) for side in self.null]
        return {**links, "null": null, "status": self.status, "flagged": self.flagged, "comment": self.comment}

    @classmethod
    def from_json(cls, given: Mapping[str, Any], lengths: tuple[int, int]) -> "Annotation":
        """Read an annotation from JSON values.  Raises AnnotationError unless it fits a pair of these lengths."""
        try:
            sure, possible, suggested = (
                frozenset((whole(j), whole(k)) for j, k in given[name]) for name in ("sure", "possible", "suggested")
            )
            source, target = (frozenset(map(whole, side)) for side in given["null"])
            status, flagged, comment = given["status"], given["flagged"] is True, given["comment"]
            comment.encode()  # half a surrogate pair could not be shown any more
            ends = sure | possible | suggested | {(j, 0) for j in source} | {(0, k) for k in target}
            check_range(PairLinks(ends), *lengths, "request", 0)
        except (LookupError, TypeError, ValueError, AttributeError, CorpusError) as error:
            raise AnnotationError(f"this is not the work on a pair: {error!r}") from error
        if status not in ("open", "accepted", "skipped") or min(map(min, ends), default=0) < 0:
            raise AnnotationError(f"this is not the work on a pair: {status!r}")
        if status == "accepted":
            sure, suggested = sure | suggested, frozenset()
        return cls(sure, possible - sure, suggested - sure - possible, (source, target), status, flagged, comment)
