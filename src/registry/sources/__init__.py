"""Where data comes from: pin what a source holds now, then fetch exactly that."""
