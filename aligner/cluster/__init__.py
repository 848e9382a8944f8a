"""Work on other machines, by Dask distributed: the one package that knows it, and only where a cluster is asked for."""
