"""Samples in Arrow files: written, read, ordered by views, digested."""
