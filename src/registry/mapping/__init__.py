"""Record → sample, by a FieldSpec, by the field language of manifests, or by a Python function."""
