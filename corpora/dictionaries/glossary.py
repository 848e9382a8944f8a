"""Glossaries as dictionaries: termbases, memories and tables whose columns have names."""

from collections import Counter
from collections.abc import Iterator

from corpora.corpus import Languages
from corpora.dictionaries.entries import Entry, Format, Found
from corpora.files import StrPath
from corpora.glossaries import WITHOUT, is_glossary, read_concepts


def _read(path: StrPath, languages: Languages, left_out: Counter[str]) -> Found:
    return languages, _entries(path, languages, left_out)


def _entries(path: StrPath, languages: Languages, left_out: Counter[str]) -> Iterator[Entry]:
    for concept in read_concepts(path, languages, left_out):
        source, target = ([*filter(None, map(str.strip, side))] for side in concept)
        if source and target:
            yield Entry(source, target)
        elif source or target:
            left_out[WITHOUT] += 1


FORMAT = Format("glossary", lambda head, path: is_glossary(path), _read)
