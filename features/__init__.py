"""Pairs to edges: corpus statistics and the features of every word pair."""
