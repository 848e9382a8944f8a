"""Structured losses, over matchings and label sequences, which solvers minimise.  Arrays only, no words."""
