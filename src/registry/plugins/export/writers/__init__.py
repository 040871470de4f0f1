"""One module per format, and what they share."""
