"""How objects show themselves in a notebook and to rich."""
