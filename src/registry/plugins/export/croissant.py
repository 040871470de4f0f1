"""`croissant`: a folder of a Parquet file and its description in Croissant 1.1 (JSON-LD)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from registry.api import file_sha256
from registry.plugins.export.exported import Exported, provenance_text
from registry.plugins.export.tables import schema_of, write_parquet

if TYPE_CHECKING:
    from pathlib import Path


__all__ = ["write"]

_DATA = "samples.parquet"
_RECORDS = "samples"
_LIST = {"isArray": True, "arrayShape": "-1"}
# Written out, as in the examples of the specification: a reader needs no request for it.
_TERMS = (
    "arrayShape citeAs column equivalentProperty extract field fileObject fileProperty fileSet"
    " format includes isArray isLiveDataset jsonPath key md5 parentField path recordSet references"
    " regex repeated replace samplingRate separator source subField transform"
)
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    **{term: f"cr:{term}" for term in _TERMS.split()},
}


def write(exported: Exported, folder: Path) -> None:
    """Write the data, the description and the provenance."""
    data = folder / _DATA
    with data.open("xb") as file:
        write_parquet(exported, file)
    description = _description(exported, size=data.stat().st_size, sha256=file_sha256(data))
    texts = {
        "croissant.json": json.dumps(description, ensure_ascii=False, indent=2),
        "provenance.json": provenance_text(exported.provenance),
    }
    for name, text in texts.items():
        (folder / name).write_text(f"{text}\n", encoding="utf-8")


def _description(exported: Exported, *, size: int, sha256: str) -> dict[str, Any]:
    spec = exported.spec
    stated = None if spec.license is None else spec.license.spdx
    known = {"description": spec.description, "license": stated, "url": spec.homepage}
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": exported.name,
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        **{key: value for key, value in known.items() if value is not None},
        **({"keywords": list(spec.tags)} if spec.tags else {}),
        **({"inLanguage": list(spec.languages)} if spec.languages else {}),
        "identifier": exported.provenance.fingerprint,
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": _DATA,
                "name": _DATA,
                "contentUrl": _DATA,
                "contentSize": f"{size} B",
                "encodingFormat": "application/x-parquet",
                "sha256": sha256,
            }
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": _RECORDS,
                "name": _RECORDS,
                "description": "The samples in their order.",
                "field": [_field(column) for column in schema_of(exported)],
            }
        ],
    }


def _field(column: pa.Field) -> dict[str, Any]:
    """Return the description of a column: text, a list of texts, or a list of structs."""
    field = {
        "@type": "cr:Field",
        "@id": f"{_RECORDS}/{column.name}",
        "name": column.name,
        **(_LIST if pa.types.is_large_list(column.type) else {}),
    }
    if not bool(pa.types.is_large_list(column.type) and pa.types.is_struct(column.type.value_type)):
        return {**field, "dataType": "sc:Text", "source": _source(column.name)}
    members = [
        {
            "@type": "cr:Field",
            "@id": f"{_RECORDS}/{column.name}/{member.name}",
            "name": member.name,
            "dataType": "sc:Text",
            "source": {**_source(column.name), "transform": {"jsonPath": member.name}},
        }
        for member in column.type.value_type
    ]
    return {**field, "subField": members}


def _source(column: str) -> dict[str, Any]:
    return {"fileObject": {"@id": _DATA}, "extract": {"column": column}}
