"""Datasets as Arrow data: one layout for all of them, and what other tools take."""
