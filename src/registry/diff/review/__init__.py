"""Hold a change to what was reviewed: classes that may not change, and the reviewed state."""
