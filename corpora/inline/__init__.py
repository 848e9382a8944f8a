"""Inline markup of a text, apart from its words, and carried across links to a translation."""
