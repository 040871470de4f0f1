"""Frames over a samples file: its columns, without a Sample for each row."""
