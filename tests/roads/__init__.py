"""Generated sources, and the results of both pipelines."""
