"""Manifests: models, schemas, expressions, and an entry resolved to a dataset spec."""
