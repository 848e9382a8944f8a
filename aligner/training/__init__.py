"""Training: from statistics and labelled pairs to a model."""
