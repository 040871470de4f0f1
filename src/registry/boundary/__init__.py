"""What the manifests of a catalog may reach: files, hosts, variables and code."""
