"""Glossaries: terms and their translations, in tables, termbases and translation memories."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, product
from pathlib import Path

from corpora.corpus import Languages
from corpora.errors import NO_UTF8, CorpusError, quoted
from corpora.files import StrPath, read_lines
from corpora.formats.columns import find_column, named_columns
from corpora.formats.joint import LANGUAGES, NAME, Columns, split_joint, subtags, two_languages, within
from corpora.formats.sheets import Sheet, unguarded
from corpora.formats.tabular import table_opener
from corpora.formats.tbx import NOT_USED, is_tbx, read_tbx
from corpora.left_out import warn_of_left_out
from corpora.normalize import PLAIN, Normalizers
from corpora.paths import head
from corpora.readers import open_corpus
from corpora.recognize import file_form, form_of

Concept = tuple[Sequence[str], Sequence[str]]  # its terms in the source and in the target language

WITHOUT = "entries without a term in both languages"
_HINT = "a glossary is TBX, CSV, XLSX, ODS, TMX, or lines of source TAB target"


def read_glossary(
    path: StrPath, languages: Languages = (None, None), normalizers: Normalizers = PLAIN
) -> list[tuple[list[str], list[str]]]:
    """The words of terms and of their translations: of a concept, each term with each in the other language.

    A glossary is a termbase (TBX), a translation memory, a table, or has lines of source TAB target, or with |||, and
    what comes after them.  languages: of source and target; where a glossary does not name them, they are the only two
    in it, or the first two columns.  normalizers: split the
    terms of each side into words.

    Warns of entries without one side.  Raises CorpusError for a file that is none of these, and a line without both.
    """
    entries, left_out = list[tuple[list[str], list[str]]](), Counter[str]()
    for concept in read_concepts(path, languages, left_out):
        sides = [
            [words for words in map(n.tokens, side) if words] for n, side in zip(normalizers, concept, strict=True)
        ]
        if all(sides):
            entries += product(sides[0], sides[1])
        elif any(sides):
            left_out[WITHOUT] += 1
    warn_of_left_out(path, +left_out)
    if not entries:
        raise CorpusError(path, 0, "has no term with a translation", hint=_HINT)
    return entries


def is_glossary(path: StrPath) -> bool:
    """Whether a file is a termbase, a memory, a table, JSON objects, or has lines below the names of their columns."""
    if not Path(path).is_file():  # what is none can be read only once
        return False
    if is_tbx(path) or table_opener(path) is not None:
        return True
    lines = head(path)
    return file_form(lines).objects or bool(lines and len({*_names(split_joint(lines[0]))}) > 1)


def read_concepts(path: StrPath, languages: Languages, left_out: Counter[str]) -> Iterator[Concept]:
    """The concepts of a glossary, whose terms are as they are written; `read_glossary` says of which files.

    left_out: counts what is passed over.
    """
    is_file = Path(path).is_file()
    if is_file and is_tbx(path):
        return _of_tbx(path, languages, left_out)
    if is_file and (table := table_opener(path)):
        opened = table()
        if isinstance(opened, Sheet):
            columns = _named(path, opened.names, languages) or ("1", "2")
        elif opened.of_languages:
            columns = _languages(path, opened.names, languages)
        else:
            columns = opened.columns(*languages)
        return _of_pairs(opened.parse(columns))
    if is_file and form_of(path).objects:
        return _of_pairs(open_corpus(path, source=languages[0], target=languages[1]).texts())
    return _of_lines(path, languages)


def _of_pairs(pairs: Iterable[tuple[int, bytes, bytes]]) -> Iterator[Concept]:
    return (((source.decode(),), (target.decode(),)) for _, source, target in pairs)


def _of_tbx(path: StrPath, languages: Languages, left_out: Counter[str]) -> Iterator[Concept]:
    concepts = [*read_tbx(path)]
    for terms in (one.pop(NOT_USED, []) for one in concepts):
        left_out["terms that are not to be used, being deprecated or superseded"] += len(terms)
    names = [*dict.fromkeys(chain(*concepts))]
    chosen = _languages(path, names, languages) if names else ("", "")
    for one in concepts:
        source, target = (
            [*chain(*(terms for name, terms in one.items() if within(name, language)))] for language in chosen
        )
        left_out[WITHOUT] += bool(one) and not (source or target)
        yield source, target


def _languages(path: StrPath, names: Sequence[str], languages: Languages) -> Columns:
    """Those of the text, in whatever variant, or the only two; names of a text that are no languages do not count."""
    source, target = (
        one if one and (subtags(one)[0] in LANGUAGES.values() or any(within(name, one) for name in names)) else None
        for one in languages
    )
    try:
        return two_languages(path, names, (source, target), joined=True)
    except CorpusError as error:
        hint = "name the languages of the text by `source` and `target`"
        raise CorpusError(error.path, error.line, error.what, hint=hint) from None


def _of_lines(path: StrPath, languages: Languages) -> Iterator[Concept]:
    source, target = 0, 1
    for number, line in enumerate(read_lines(path), 1):
        try:
            parts = [unguarded(part.decode()) for part in split_joint(line)]
        except UnicodeDecodeError as error:
            raise CorpusError(path, number, "not valid UTF-8", hint=NO_UTF8) from error
        if number == 1 and (names := _named(path, parts, languages)):
            source, target = map(parts.index, names)
        elif len(parts) > max(source, target):
            yield [parts[source]], [parts[target]]
        elif line.strip():
            raise CorpusError(path, number, f"{quoted(line)} is no term and translation", hint=_HINT)


def _named(path: StrPath, row: Sequence[str], languages: Languages) -> Columns | None:
    """The columns by the names in the first row, or None if they are terms."""
    for wanted in (languages, ("source", "target")):
        places = [find_column(row, one) if one else None for one in wanted]
        if None not in places and places[0] != places[1]:
            return named_columns(path, *wanted, row)
    names = [name.decode() for name in _names([name.encode() for name in row])]
    return named_columns(path, *languages, names) if len({*names}) > 1 else None


def _names(row: Sequence[bytes]) -> list[bytes]:
    return [name for name in row if NAME.fullmatch(name) and name.lower() != b"id"]
