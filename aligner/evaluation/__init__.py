"""Figures of links against gold: counts, error rates, intervals, paired tests."""
