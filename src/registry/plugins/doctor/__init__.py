"""The checks of `registry doctor`: each returns observations, and prints nothing."""
