"""Commands that write and check manifests."""
