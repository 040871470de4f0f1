"""The cache folder: entries found by fingerprint, locks, and what keeps it tidy."""
