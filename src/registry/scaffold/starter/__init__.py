"""The files of a new catalog."""
