"""Families of features: each module has NAMES and ``fill(batch, out)``.

`fill` writes a column of `out` for each name: (E, names) float32, column after column in memory.
"""
