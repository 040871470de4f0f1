"""All manifests that an index reaches, found by name without parsing them again."""
