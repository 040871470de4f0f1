"""Kernels: what expressions do with values, done with whole columns."""
