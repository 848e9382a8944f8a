"""Models: from edges to links."""
