"""All datasets reachable from an index, by name, cached so that no file is parsed twice."""
