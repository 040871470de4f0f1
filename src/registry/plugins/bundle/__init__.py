"""Datasets in one file, for a machine without a network."""
