"""Datasets as reviewed code: YAML manifests in, the same samples on every machine out.

Each name is imported from its module on first use, so that `import registry` stays fast.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from registry.catalog.catalog import Catalog
    from registry.errors import (
        AccessError,
        CacheError,
        DatasetNotFoundError,
        DecodeError,
        DeprecatedNameWarning,
        DigestMismatchError,
        ExpectationError,
        GroupError,
        LockError,
        LockStaleError,
        ManifestError,
        MappingError,
        MissingDependencyError,
        OfflineError,
        RegistryError,
        SampleNotFoundError,
        SourceError,
    )
    from registry.load.dataset import get_dataset, list_datasets
    from registry.load.groups import get_group, list_groups
    from registry.loaders import csv_dataset, file_dataset, hf_dataset, json_dataset
    from registry.mapping.field_mapper import map_fields
    from registry.samples.checkpoint import CheckpointSampleConfig
    from registry.samples.dataset import Dataset, MemoryDataset
    from registry.samples.fields import FieldSpec
    from registry.samples.messages import (
        ChatMessage,
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageTool,
        ChatMessageUser,
        Content,
        ContentAudio,
        ContentDocument,
        ContentImage,
        ContentText,
        ContentVideo,
    )
    from registry.samples.sample import RecordToSample, Sample, SandboxEnvironmentSpec

if sys.platform == "win32":
    raise ImportError(
        "registry runs on Linux and macOS; on Windows, install it inside WSL"
        " (its cache needs the file locks and renames of those systems)"
    )

__all__ = [
    "AccessError",
    "CacheError",
    "Catalog",
    "ChatMessage",
    "ChatMessageAssistant",
    "ChatMessageSystem",
    "ChatMessageTool",
    "ChatMessageUser",
    "CheckpointSampleConfig",
    "Content",
    "ContentAudio",
    "ContentDocument",
    "ContentImage",
    "ContentText",
    "ContentVideo",
    "Dataset",
    "DatasetNotFoundError",
    "DecodeError",
    "DeprecatedNameWarning",
    "DigestMismatchError",
    "ExpectationError",
    "FieldSpec",
    "GroupError",
    "LockError",
    "LockStaleError",
    "ManifestError",
    "MappingError",
    "MemoryDataset",
    "MissingDependencyError",
    "OfflineError",
    "RecordToSample",
    "RegistryError",
    "Sample",
    "SampleNotFoundError",
    "SandboxEnvironmentSpec",
    "SourceError",
    "csv_dataset",
    "file_dataset",
    "get_dataset",
    "get_group",
    "hf_dataset",
    "json_dataset",
    "list_datasets",
    "list_groups",
    "map_fields",
]

_MODULES = {
    "AccessError": "errors",
    "CacheError": "errors",
    "Catalog": "catalog.catalog",
    "ChatMessage": "samples.messages",
    "ChatMessageAssistant": "samples.messages",
    "ChatMessageSystem": "samples.messages",
    "ChatMessageTool": "samples.messages",
    "ChatMessageUser": "samples.messages",
    "CheckpointSampleConfig": "samples.checkpoint",
    "Content": "samples.messages",
    "ContentAudio": "samples.messages",
    "ContentDocument": "samples.messages",
    "ContentImage": "samples.messages",
    "ContentText": "samples.messages",
    "ContentVideo": "samples.messages",
    "Dataset": "samples.dataset",
    "DatasetNotFoundError": "errors",
    "DecodeError": "errors",
    "DeprecatedNameWarning": "errors",
    "DigestMismatchError": "errors",
    "ExpectationError": "errors",
    "FieldSpec": "samples.fields",
    "GroupError": "errors",
    "LockError": "errors",
    "LockStaleError": "errors",
    "ManifestError": "errors",
    "MappingError": "errors",
    "MemoryDataset": "samples.dataset",
    "MissingDependencyError": "errors",
    "OfflineError": "errors",
    "RecordToSample": "samples.sample",
    "RegistryError": "errors",
    "Sample": "samples.sample",
    "SampleNotFoundError": "errors",
    "SandboxEnvironmentSpec": "samples.sample",
    "SourceError": "errors",
    "csv_dataset": "loaders",
    "file_dataset": "loaders",
    "get_dataset": "load.dataset",
    "get_group": "load.groups",
    "hf_dataset": "loaders",
    "json_dataset": "loaders",
    "list_datasets": "load.dataset",
    "list_groups": "load.groups",
    "map_fields": "mapping.field_mapper",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'registry' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"registry.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
