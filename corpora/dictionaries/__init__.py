"""Bilingual dictionaries: one format a file, all read by `read_dictionary`."""

from corpora.dictionaries.entries import Dictionary, Entry, Format
from corpora.dictionaries.read import FORMATS, read_dictionary

__all__ = ["FORMATS", "Dictionary", "Entry", "Format", "read_dictionary"]
