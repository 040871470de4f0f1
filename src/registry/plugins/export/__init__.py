"""Datasets as files of other tools' formats."""
