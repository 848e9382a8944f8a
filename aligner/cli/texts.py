"""Inputs of the commands that use a model: texts, links and other tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import filterfalse
from pathlib import Path
from typing import TYPE_CHECKING

from aligner.cli.answers import in_options, say
from corpora.errors import CorpusError

if TYPE_CHECKING:
    from aligner.model.model import Model
    from aligner.model.remapping import Retokenized
    from aligner.model.streaming import Normalizers
    from corpora.corpus import Corpus
    from corpora.skipping import Skipping


def named_files(given: Sequence[str]) -> tuple[list[str] | None, list[str]]:
    """Names and files of what is given as FILE or NAME=FILE; no names where none is."""
    whole = [Path(one).exists() or one.endswith("=") for one in given]
    parts = [("", "", one) if alone else one.rpartition("=") for one, alone in zip(given, whole, strict=True)]
    files = [file for *_, file in parts]
    return None if files == list(given) else [name or file for name, _, file in parts], files


def with_others(loaded: Model, model: str, given: Sequence[str]) -> tuple[Model, list[str]]:
    """The model for other aligners' links, and the files of these, given as FILE or KIND=FILE.

    Raises CorpusError unless there are as many files as the model was trained with, or it has the default weights.
    """
    from aligner.model.default import with_links
    from corpora.link_files import kind_of_links
    from corpora.normalize import refuse_links

    refuse_links(given, loaded.normalizers)
    others = [kind_of_links(one) for one in given]
    wanted = len(loaded.features.links)
    if wanted == 0 and "default_weights" in loaded.record:
        loaded = with_links(loaded, [kind for kind, _ in others])
    elif len(others) != wanted:
        what = f"was trained with {wanted} --links, but here there are {len(others)}"
        raise CorpusError(model, 0, what, hint="give as many, in the same order")
    return loaded, [file for _, file in others]


def open_for_model(
    loaded: Model, model: str, source: str, target: str | None, columns: tuple[str, str] | None = None
) -> Corpus:
    """The corpus of a source and a target text, or of a path with columns, in the direction of a model."""
    from corpora.readers import open_text

    direction = loaded.languages
    corpus = open_text(source, target, columns, direction)
    if target is None:
        return corpus
    given = corpus.source_language, corpus.target_language
    if None not in direction and direction == given[::-1] != given:
        what = f"is {'-'.join(map(str, reversed(direction)))}, but {model} is for {'-'.join(map(str, direction))}"
        raise CorpusError(corpus.name, 0, what, hint="give the two files in the other order")
    return corpus


def check_texts(
    corpus: Corpus, names: Sequence[str], callback: Callable[[bytes], object] = len, *, probable: bool = True
) -> int | None:
    """Read text and links through once, so that errors come before the work; return its pairs, None for a stream.

    callback: called with all text.  probable: scores of links are probabilities.
    """
    from aligner.model.streaming import check_corpus
    from corpora.link_files import open_links
    from corpora.recognize import is_stream

    if not corpus.can_be_read_twice:  # errors are found on the way
        return None
    pairs = check_corpus(corpus, callback)
    for name in filterfalse(is_stream, names):
        for _ in open_links(name, lengths=corpus.lengths(), probable=probable):
            pass
    return pairs


def open_other_tokens(
    path: str | None, corpus: Corpus, normalizers: Normalizers, outputs: Sequence[str]
) -> Retokenized | None:
    """A corpus, whose tokens are by these normalizers, in the tokens of another, if one is given.

    Raises CorpusError where that is another text.
    """
    if path is None:
        return None
    from aligner.model.remapping import Retokenized
    from corpora.files import refuse_inputs
    from corpora.readers import open_corpus

    languages = corpus.source_language, corpus.target_language
    if languages[0] == languages[1]:
        languages = None, None
    found = Retokenized(corpus, normalizers, open_corpus(path, source=languages[0], target=languages[1]))
    for output in outputs:
        refuse_inputs(output, found.other.files)
    found.check()
    return found


@contextmanager
def skipping_pairs(longest: int | None, skip_bad: bool, long_pairs: str = "empty") -> Iterator[Skipping]:
    """Pairs to be left empty, or out, as these options say; at the end a message says how many there were."""
    from corpora.skipping import MAX_LENGTH, Skipping

    words = {"columns": 0, "max_length": 0}
    told = (lambda error: say(in_options(f"left empty: {error}", words))) if skip_bad else None
    skipping = Skipping(MAX_LENGTH if longest is None else longest, long_pairs, told)
    yield skipping
    if summary := skipping.summary():
        say(in_options(summary, words))
