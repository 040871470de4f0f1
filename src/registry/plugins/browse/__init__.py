"""The catalog in a browser while it is edited: a server on this machine alone."""
