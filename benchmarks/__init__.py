"""Speed and memory beside Inspect AI in one run; see docs/explanation/performance.md."""
