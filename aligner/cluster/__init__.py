"""Work on other machines, by Dask distributed: the one package that imports it, and only for a cluster."""
