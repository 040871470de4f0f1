"""How samples and datasets show themselves in a notebook and to rich."""
