"""All samples of a dataset: searched, counted and sorted, by a server or by scripts."""
