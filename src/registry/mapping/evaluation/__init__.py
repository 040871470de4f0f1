"""Expressions evaluated for batches of records, with their templates and messages."""
