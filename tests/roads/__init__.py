"""Generated sources, and what both roads make of them."""
