"""Builds in several processes: parts of one source, or whole builds."""
