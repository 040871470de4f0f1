"""Builds by the workers of a Dask cluster."""
