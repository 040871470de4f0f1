"""What pages show, as values: from the catalog, the lockfile and the cache."""
