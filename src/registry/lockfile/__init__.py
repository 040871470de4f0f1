"""`datasets.lock`: its pins, its text, and how pins apply to datasets."""
