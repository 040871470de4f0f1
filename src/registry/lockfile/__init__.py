"""`datasets.lock`: its pins, its text, and how a pin is applied to a dataset."""
