"""Word alignment of parallel text by maximum-margin bipartite matching."""

__version__ = "0.1.0"
