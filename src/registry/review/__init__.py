"""What a reviewer wants to know: how two states of a catalog differ, in words and in samples."""
