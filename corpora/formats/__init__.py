"""Formats of links and of text with links: parser and writer side by side."""
