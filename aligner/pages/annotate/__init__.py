"""Gold links by hand: the page to make them on, and the store of each annotator's work."""
