"""Builds by the workers of a cluster, of Dask or Ray."""
