"""Record → sample, by a FieldSpec or by the field language of manifests."""

from registry.mapping.field_mapper import map_fields
from registry.mapping.map_records import map_records, record_mapper

__all__ = ["map_fields", "map_records", "record_mapper"]
