"""All manifests reachable from an index, looked up by name without parsing them again."""
