"""Two states of a catalog → what differs, in specs and in samples."""
