"""`datasets.lock`: its pins, its text, and a dataset held to its pin."""
