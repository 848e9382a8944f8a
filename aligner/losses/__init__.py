"""Structured losses, over matchings and label sequences, which solvers minimise.  Arrays only, no words.

A new loss is also named in LossName and LOSSES of `aligner/training/settings.py`, and built in `Plan.problem` there.
"""
