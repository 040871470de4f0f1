"""Python functions that are generated from expressions and evaluate them for many records."""
