"""Samples as pages show them: texts, pictures, messages, and which sample is on which page."""
