"""From sentence pairs to edges: statistics of a corpus, and features of word pairs."""
