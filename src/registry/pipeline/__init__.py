"""Records of pinned sources → a samples file in the cache."""
