"""Families of features: each module has NAMES and fill."""
