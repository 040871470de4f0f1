"""Strict YAML documents that keep the line and column of every value."""
