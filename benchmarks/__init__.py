"""Speed and memory, measured side by side with Inspect AI in one run; see docs/performance.md."""
