"""Many datasets at once: sync, lock, and the check of a lock."""
