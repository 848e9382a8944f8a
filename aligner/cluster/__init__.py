"""Counting and aligning on other machines, by Dask distributed, which no other package imports."""
