"""Map records to samples by a FieldSpec, the field language of manifests, or a Python function."""
