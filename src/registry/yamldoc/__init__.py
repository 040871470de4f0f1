"""Strict YAML documents with the line and column of every value."""
