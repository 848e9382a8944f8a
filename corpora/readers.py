"""Open a corpus in any of its forms; nothing is read whole, and pairs keep the numbers of their lines."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, zip_longest
from pathlib import Path

from corpora.corpus import Corpus, Languages, TextLine, word_counts
from corpora.errors import CorpusError, EmptyCorpus, quoted
from corpora.files import StrPath, count_lines, read_lines
from corpora.formats import Format
from corpora.formats.columns import fields_of, have_names
from corpora.formats.giza import A3Pair, read_a3
from corpora.formats.joint import Columns, Tabular, are_numbers, parse_joints
from corpora.formats.jsonl import languages_of
from corpora.formats.naacl import is_marked_up
from corpora.formats.sheets import Sheet
from corpora.formats.tabular import table_opener
from corpora.formats.units import kind_of_units
from corpora.link_files import LinkStream, open_links
from corpora.links import PairLinks
from corpora.parallel import Files, count_lines_of, ends_sooner, side_by_side, without_markup
from corpora.paths import head, is_stream, language_of, only_prefix, prefixes
from corpora.reading import AS_IT_IS, Reading
from corpora.recognize import file_form, form_of
from corpora.symmetrize import symmetrize

TWO_DIRECTIONS = "grow-diag-final-and"

_LOOKS = {
    rb"\s*[\[{]\s*([\"\[{]|$)": "JSON, but has no object of source and target on each line",
    rb"\s*<": "XML or HTML, but is no TMX, XLIFF, flextext or eaf",
    rb"\d+\n[\d:,. ]+-->|WEBVTT": "subtitles, which have no translation beside them",
    rb'(#.*\n|\s)*msgid "': "gettext, but is no TMX or XLIFF, which po2tmx and others make of it",
    rb"SQLite format": "a database such as .sdltm, but is no TMX or XLIFF, which its program exports",
    rb"(?s:.{,99})\0": "data that is no text",
}
"""By a pattern of the first lines: what a file that is no corpus looks like."""


def open_corpus(
    paths: StrPath | Sequence[StrPath],
    *,
    source: str | None = None,
    target: str | None = None,
    columns: Columns | None = None,
    untranslated: bool = False,
) -> Corpus:
    """Open a corpus whose form is recognised from its files.

    paths: one prefix (``train`` of train.en.gz and train.fr.gz, with links in train.wa or the like), a
    folder with one prefix, a file (lines of ``source ||| target`` or with a tab for the bars, JSON objects,
    a Parquet or Arrow table, CSV, XLSX, TMX or XLIFF, comtrans, GIZA++ A3.final), ``-`` or a pipe with such lines; or
    two files: texts or CoNLL files, source first, or A3.final files of opposite directions, whose links are
    symmetrised by grow-diag-final-and.

    source, target: the languages.  With a prefix they choose the files, else the source is the first in
    alphabetical order; of two text files with these suffixes they choose the order; otherwise they only
    name the sides.  Links are always read in the source-target order in use, never transposed.

    columns: of one file, by number from 1 on in tab-separated lines and tables, or by name in JSON objects and tables;
    by default there those named like the languages, or ``source`` and ``target``. Of TMX and XLIFF they are the
    languages, by default these, or the only two; en is also en-US. untranslated: whether to take targets that an XLIFF
    file says are not translated yet, which are empty otherwise.

    Raises CorpusError if nothing, or more than one thing, is recognised.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if source is not None and source == target:
        raise CorpusError(given[0], 0, f"source and target are both {source}", hint="name two languages")
    if not 1 <= len(given) <= 2:
        raise ValueError(f"a corpus is one path or two, not {len(given)}")
    if len(given) == 1 and (is_stream(given[0]) or Path(given[0]).is_file()):
        return _open_one(given[0], (source, target), columns, untranslated)
    found = _open_prefix(given[0], source, target) if len(given) == 1 else _open_two(given[0], given[1], source, target)
    Reading(columns=columns, untranslated=untranslated).refuse_choice()
    return found


def _open_one(path: StrPath, languages: Languages, columns: Columns | None, untranslated: bool) -> Corpus:
    source, target = languages
    if is_stream(path):
        return _joint(path, source, target, columns)
    open_table = table_opener(path, untranslated)
    if open_table is not None:
        return _table(open_table(), source, target, columns)
    lines = head(path)
    if not lines:
        raise EmptyCorpus(path)
    form = file_form(lines)
    if form.objects and form.links:
        own = languages_of(lines[0])
        if Reading(source, target).swaps(own):
            what = f"has {own[0]} as its source and {own[1]} as its target"
            raise CorpusError(path, 0, what, hint="leave `source` and `target` out, or swap them")
        source, target = source or own[0], target or own[1]
    if form.objects:
        return _joint(path, source, target, columns or fields_of(path, source, target, lines))
    if form.name in ("joint", "text") and have_names(lines, columns):
        return _table(Sheet(path, "TSV"), source, target, columns)
    if columns is not None and not are_numbers(columns):
        hint = "number the columns of tab-separated lines, from 1 on"
        raise CorpusError(path, 0, "is no JSON lines and no table, whose columns have names", hint=hint)
    if columns is not None or form.name == "joint":
        return _joint(path, source, target, columns)
    if form.corpus:
        return open_pairs(form, path, source, target)
    looks = next((what for magic, what in _LOOKS.items() if re.match(magic, b"\n".join(lines))), "")
    begins = quoted(next(filter(bytes.strip, lines), b""))
    what = f"is one text, without its translation after it: {begins}" if form.links is None else "holds links, not text"
    what = f"looks like {looks}" if looks else what
    hint = "give two files of text, or the PREFIX of PREFIX.en and PREFIX.fr"
    if any(b"|||" in line for line in lines):
        hint = "||| needs a blank on each side"
    raise CorpusError(path, 0, what, hint=hint)


def is_table(path: StrPath) -> bool:
    """Whether a path is a file whose columns have names, or which has languages."""
    return Path(path).is_file() and table_opener(path) is not None


def _joint(path: StrPath, source: str | None, target: str | None, columns: Columns | None) -> Corpus:
    name, form = os.fspath(path), "one file of 'source ||| target' or tab-separated lines"
    if columns is not None:
        form = f"one file with source and target in {' and '.join(columns)}"
    parse = partial(parse_joints, columns=columns)

    def texts(start: int = 0) -> Iterator[TextLine]:
        return parse(read_lines(path, start), path, start + 1)

    count = partial(count_lines, path)
    return Corpus(name, form, source, target, name, name, texts, None, parse=parse, _count=count)


def _table(table: Tabular, source: str | None, target: str | None, columns: Columns | None) -> Corpus:
    chosen = columns or table.columns(source, target)
    if table.of_languages:
        source, target = source or chosen[0], target or chosen[1]
    name, texts = os.fspath(table.path), partial(table.parse, chosen)
    form = f"{table.kind} file with source and target in {' and '.join(chosen)}"
    return Corpus(name, form, source, target, name, name, texts, None, _count=partial(table.count, chosen))


def open_texts(source_file: StrPath, target_file: StrPath) -> Corpus:
    """Two text files, source and target, whatever their lines look like.  CorpusError if one cannot be opened."""
    languages = language_of(source_file), language_of(target_file)
    return _text_pair(f"{source_file} {target_file}", (source_file, target_file), languages, "the order given")


def open_text(source: StrPath, target: StrPath | None = None, reading: Reading = AS_IT_IS) -> Corpus:
    """Open two text files, or the corpus that `open_corpus` recognises in one path."""
    if target is None:
        return open_corpus(source, **vars(reading))
    reading.refuse_choice()
    found = open_texts(source, target)
    own = found.languages
    if reading.swaps(own):
        raise CorpusError(source, 0, f"is {own[0]}", hint="give the two files in the other order")
    return replace(found, source_language=reading.source or own[0], target_language=reading.target or own[1])


def open_pairs(form: Format, path: StrPath, source: str | None, target: str | None) -> Corpus:
    """Open a file with the text and the links of each pair."""

    def texts() -> Iterator[TextLine]:
        return (pair.text for pair in form.links(read_lines(path), path))

    def links() -> LinkStream:
        return open_links(path, format=form.name, lengths=word_counts(texts()) if form.shift else None)

    name = os.fspath(path)
    return Corpus(name, form.corpus, source, target, name, name, texts, links, _target_shift=form.shift)


def _open_prefix(path: StrPath, source: str | None, target: str | None) -> Corpus:
    wanted = [language for language in (source, target) if language is not None]
    prefix = only_prefix(Path(path), wanted) if Path(path).is_dir() else Path(path)
    there = prefixes(prefix.parent, wanted) if prefix.parent.is_dir() else {}
    files = there.get(prefix.name)
    if files is None or not files.texts:
        raise CorpusError(path, 0, "no such file, folder or prefix", hint="check the name")
    languages = list(files.texts)
    listed = ", ".join(languages)
    for language in wanted:
        if language not in languages:
            raise CorpusError(prefix, 0, f"no text in {language}", hint=f"there is {listed}")
    if len(languages) == 1:
        hint = f"name the other text like {prefix.name}.xx, or give both files"
        raise CorpusError(prefix, 0, f"only one text, in {listed}", hint=hint)
    if len(languages) > 2 and len(wanted) < 2:
        hint = "choose the source and target language, or give two files"
        raise CorpusError(prefix, 0, f"texts in {len(languages)} languages: {listed}", hint=hint)
    first = source or next(language for language in languages if language != target)
    second = target or next(language for language in languages if language != first)
    why = "as chosen" if wanted else "alphabetical order unless a language is chosen"
    return _text_pair(str(path), (files.texts[first], files.texts[second]), (first, second), why, files.links)


def _open_two(first: StrPath, second: StrPath, source: str | None, target: str | None) -> Corpus:
    forms = [form_of(path).name for path in (first, second)]
    if "pharaoh" in forms:
        path = (first, second)[forms.index("pharaoh")]
        raise CorpusError(path, 0, "holds links, not text", hint="give the text of the other language")
    name = f"{os.fspath(first)} {os.fspath(second)}"
    if forms == ["giza", "giza"]:
        return _two_directions(name, first, second, source, target)
    if "giza" in forms:
        text = (first, second)[1 - forms.index("giza")]
        hint = "give two A3.final files, two texts, or one A3.final file alone"
        raise CorpusError(text, 0, "is no A3.final file, but the other one is", hint=hint)
    languages = language_of(first), language_of(second)
    swapped = Reading(source, target).swaps(languages)
    if swapped:
        first, second, languages = second, first, languages[::-1]
    why = "as chosen" if swapped else "the order given"
    return _text_pair(name, (first, second), (source or languages[0], target or languages[1]), why)


def _text_pair(name: str, files: Files, languages: Languages, why: str, links_file: Path | None = None) -> Corpus:
    source_file, target_file = files
    marked_up = any(map(is_marked_up, head(source_file)[:1] + head(target_file)[:1]))
    for file in files:
        kind = None if is_stream(file) else kind_of_units(file)
        if kind is not None:
            raise CorpusError(file, 0, f"is {kind}, which holds both languages", hint="give it alone")

    def numbered() -> Iterator[tuple[int, TextLine]]:
        return without_markup(side_by_side(files), files)

    def texts(start: int = 0) -> Iterator[TextLine]:
        return (pair for _, pair in numbered()) if marked_up else side_by_side(files, start)

    def links(path: Path) -> LinkStream:
        numbers = [number for number, _ in numbered()] if marked_up else None
        return open_links(path, lengths=word_counts(texts()), sentences=numbers)

    def count() -> int:
        lines = [count_lines_of(file) for file in files]
        if lines[0] != lines[1]:
            raise ends_sooner(files, lines.index(min(lines)), min(lines), max(lines) - min(lines))
        return lines[0]

    form = f"texts {Path(source_file).name} = source, {Path(target_file).name} = target ({why})"
    linker = None
    if links_file is not None:
        form += f", links {links_file.name}"
        linker = partial(links, links_file)
    names = os.fspath(source_file), os.fspath(target_file)
    return Corpus(name, form, *languages, *names, texts, linker, links_file, _count=None if marked_up else count)


def _two_directions(name: str, first: StrPath, second: StrPath, source: str | None, target: str | None) -> Corpus:
    def pairs() -> Iterator[tuple[A3Pair, A3Pair]]:
        last, hint = 0, "give the two directions of one GIZA++ run"
        for forward, reverse in zip_longest(read_a3(first), read_a3(second)):
            if forward is None or reverse is None:
                shorter = first if forward is None else second
                raise CorpusError(shorter, last, "has fewer pairs than the other direction", hint=hint)
            forward, reverse = forward.unless_missing(reverse), reverse.unless_missing(forward)
            if not _opposite(forward, reverse):
                what = f"is not the pair at line {forward.line} of {os.fspath(first)} with its sides swapped"
                raise CorpusError(second, reverse.line, what, hint=hint)
            last = forward.line + 2
            yield forward, reverse

    def texts() -> Iterator[TextLine]:
        return (forward.text for forward, _ in pairs())

    def symmetrized() -> Iterator[PairLinks]:
        for forward, reverse in pairs():
            transposed = {(i, j) for j, i in reverse.links.sure}
            sure = symmetrize(forward.links.sure, transposed, TWO_DIRECTIONS)
            yield PairLinks(frozenset(sure))

    form = f"GIZA++ A3.final files of two directions ({TWO_DIRECTIONS}), the first's side with NULL = source"
    files = os.fspath(first), os.fspath(first)
    return Corpus(name, form, source, target, *files, texts, lambda: LinkStream(symmetrized(), "giza"), second)


def _opposite(forward: A3Pair, reverse: A3Pair) -> bool:
    return forward.source == reverse.target and forward.target == reverse.source


def group_corpora(paths: Sequence[str]) -> list[list[str]]:
    """Group the paths of a command line into corpora, for ``open_corpus``.

    Two consecutive texts of one language each make a corpus, and so do two consecutive A3.final files
    of opposite directions; every other path stands alone.
    """
    groups: list[list[str]] = []
    rest = list(paths)
    while rest:
        size = 2 if len(rest) > 1 and _belong_together(rest[0], rest[1]) else 1
        groups.append(rest[:size])
        rest = rest[size:]
    return groups


def _belong_together(first: str, second: str) -> bool:
    if any(not Path(path).is_file() or table_opener(path) for path in (first, second)):
        return False
    forms = form_of(first), form_of(second)
    if all(form.name == "giza" for form in forms):
        both_there = (pairs for pairs in zip(read_a3(first), read_a3(second), strict=False) if all(map(any, pairs)))
        return any(_opposite(*pairs) for pairs in islice(both_there, 1))
    return all(form.read or form.name == "text" for form in forms)
