"""The values that users work with: samples, messages, content, field specs and datasets."""
