"""Parts that only use the rest: the core finds them by name, and imports none of them."""
