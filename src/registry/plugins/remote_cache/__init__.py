"""A second cache that many machines share, below the local one."""
