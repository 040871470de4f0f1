"""Builds in several processes: runs of lines of one file, or whole builds."""
