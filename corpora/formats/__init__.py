"""Formats of links and of text with links: parser and writer side by side.

A new format of links is also named in `corpora/link_files.py` (to open it), `recognize.py` (to tell it from others)
and `conversion.py` (to write it); the formats of ``aligner align`` are in `aligner/model/streaming.py` (FORMATS).
"""
