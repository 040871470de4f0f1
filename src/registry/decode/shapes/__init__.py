"""Lines of JSON that have the same shape: they differ only in their strings and numbers."""
