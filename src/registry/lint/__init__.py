"""The checks of `validate`: which problems are reported, ignored and fixed."""
