"""Commands that build, pin and move datasets."""
