"""Structured losses over matchings: what solvers minimise.  Arrays only, no words."""
