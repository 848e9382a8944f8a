"""Inputs of the commands that use a model: texts, links and other tokens; imported when a command is at work."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import filterfalse
from pathlib import Path

from aligner.model.default import with_links
from aligner.model.model import Model, load
from aligner.model.remapping import Retokenized
from aligner.model.settings import AlignSettings
from corpora.corpus import Corpus
from corpora.errors import CorpusError
from corpora.files import refuse_inputs
from corpora.link_files import kind_of_links, open_links
from corpora.normalize import Normalizers, refuse_links
from corpora.paths import is_stream
from corpora.readers import open_corpus, open_text
from corpora.reading import AS_IT_IS, Reading
from corpora.rereading import check_corpus


def open_model(settings: AlignSettings) -> tuple[Model, list[str]]:
    """Open the model of settings, which change it, and name the files of other aligners' links, see `with_others`."""
    model, links = with_others(load(str(settings.model)), str(settings.model), settings.links)
    if settings.risk is not None:
        if model.risk is None:
            what = "no labelled pairs have said which of its links have a risk"
            raise CorpusError(str(settings.model), 0, what, hint="aligner calibrate makes a model that knows it")
        model = model.with_risk(settings.risk)
    if settings.offset:
        model = model.with_offset(settings.offset)
    if settings.candidates is not None:
        model = model.with_candidates(settings.candidates)
    return model, links


def with_others(model: Model, path: str, given: Sequence[str]) -> tuple[Model, list[str]]:
    """The model of a path for other aligners' links, and the files of the links, given as FILE or KIND=FILE.

    Raises CorpusError unless there are as many files as the model was trained with, or it has the default weights.
    """
    refuse_links(given, model.normalizers)
    others = [kind_of_links(one) for one in given]
    wanted = len(model.features.links)
    if wanted == 0 and "default_weights" in model.record:
        model = with_links(model, [kind for kind, _ in others])
    elif len(others) != wanted:
        what = f"was trained with {wanted} --links, but here there are {len(others)}"
        raise CorpusError(path, 0, what, hint="give as many, in the same order")
    return model, [file for _, file in others]


def open_for_model(loaded: Model, model: str, source: str, target: str | None, reading: Reading) -> Corpus:
    """Open the corpus of a source and a target text, or of one path, in the direction of a model."""
    direction = loaded.languages
    if target is None and reading == Reading(untranslated=reading.untranslated):  # else it chooses the languages
        reading = replace(reading, source=direction[0], target=direction[1])
    corpus = open_text(source, target, reading)
    given = corpus.source_language or direction[0], corpus.target_language or direction[1]
    if None not in direction and direction == given[::-1] != given:
        what = f"is {'-'.join(map(str, reversed(direction)))}, but {model} is for {'-'.join(map(str, direction))}"
        hint = "give the two files in the other order" if target else "choose `source` and `target`, or `columns`"
        raise CorpusError(corpus.name, 0, what, hint=hint)
    return replace(corpus, source_language=given[0], target_language=given[1])


def open_gold(loaded: Model, prefixes: Sequence[str], reading: Reading) -> list[Corpus]:
    """Open labelled pairs in the direction of a model."""
    source, target = reading.source or loaded.languages[0], reading.target or loaded.languages[1]
    return [open_corpus(prefix, source=source, target=target) for prefix in prefixes]


def check_texts(
    corpus: Corpus, names: Sequence[str], callback: Callable[[bytes], object] = len, *, probable: bool = True
) -> int | None:
    """Read text and links once, so that errors come before the work; return the number of pairs, None for a stream.

    callback: called with all text, part by part.  probable: scores of links are probabilities.
    """
    if not corpus.can_be_read_twice:  # errors are found on the way
        return None
    pairs = check_corpus(corpus, callback)
    for name in filterfalse(is_stream, names):
        for _ in open_links(name, lengths=corpus.lengths(), probable=probable):
            pass
    return pairs


def open_other_tokens(
    path: str | None, corpus: Corpus, normalizers: Normalizers, outputs: Sequence[str], reading: Reading
) -> Retokenized | None:
    """Open another tokenisation of a corpus whose tokens are by these normalizers; None without a path.

    reading: of the corpus; the other one, if it is a file of the same kind, has its columns, too.  Raises CorpusError
    if it is another text.
    """
    if path is None:
        return None
    languages = corpus.languages
    if languages[0] == languages[1]:
        languages = None, None
    alike = Path(path).is_file() and Path(path).suffix == Path(corpus.source_file).suffix
    reading = replace(reading if alike else AS_IT_IS, source=languages[0], target=languages[1])
    found = Retokenized(corpus, normalizers, open_corpus(path, **vars(reading)))
    for output in outputs:
        refuse_inputs(output, found.other.files)
    found.check()
    return found
