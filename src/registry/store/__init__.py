"""Samples in Arrow files: writing, reading, ordering them by views, digesting them."""
