"""Small bar charts as values, and their forms: SVG and lines of text."""
