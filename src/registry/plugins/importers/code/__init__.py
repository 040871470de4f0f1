"""Expressions and templates of other tools, translated to the field language."""
