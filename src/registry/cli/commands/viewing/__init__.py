"""Commands that show datasets."""
