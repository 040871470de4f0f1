"""Digests, files, locations, Arrow arrays and threads: what every other package builds on."""
