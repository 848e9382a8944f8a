"""Gold links by hand: what an annotator has made of each pair, kept at once, and the page to do it on."""
