"""Training: from labels to a model."""
