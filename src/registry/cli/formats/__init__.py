"""How problems and diffs are printed, one module for each format."""
