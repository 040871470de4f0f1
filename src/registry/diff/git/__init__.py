"""Read git repositories that nobody vouches for."""
