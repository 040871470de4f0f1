"""The fixes of `validate --fix`: text of a manifest to text with the same meaning."""
