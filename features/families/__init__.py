"""Families of features: each module has NAMES and ``fill(batch, out)``.

`fill` writes a column of `out` for each name: (E, names) float32, a row for each edge, column after column in memory.
With ``OF_WORD_PAIRS = True`` the family depends on nothing but the two words, and has a row for each distinct word pair
of the batch instead. LEXICONS names the lexicons (`features.translation.lexicon.KINDS`) whose posteriors it uses.
The name of a new family goes into `_NAMES` of `features/extractor.py`.
"""
