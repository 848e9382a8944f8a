"""Formats of links and of text with links: parser and writer side by side.

A new format of links is named in `corpora/link_files.py` (how it is opened), `recognize.py` (how it is told from
others) and `conversion.py` (how it is written).
"""
