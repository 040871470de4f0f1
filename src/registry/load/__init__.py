"""Open datasets: by name, as a resolved spec, or only what the cache has of them."""
