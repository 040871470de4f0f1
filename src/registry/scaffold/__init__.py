"""A manifest proposed from records, and Python code from a spec."""
