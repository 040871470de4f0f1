"""What users hold: samples, chat messages, content, field specs and datasets."""
