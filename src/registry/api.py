"""What everything outside the core may import, besides `registry`: plugins, ours and others'.

Each name is imported from its module on first use. A name of `STABLE` changes only with an entry of
the changelog; those of `INTERNAL` serve our own plugins, and may change at any time. `api.pyi`
beside this file tells type checkers the same.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["INTERNAL", "STABLE"]

STABLE = {
    "base.fs": "write_atomic",
    "base.local_files": "display_path",
    "cli": "CLEAN PROBLEMS",
    "cli.output": "print_error print_json print_line print_table",
    "errors": "ExportError ExtensionError Problem did_you_mean",
    "load.load": "load",
    "decode.stream": "open_bytes open_text",
    "decode.frame": "NotColumnarError",
    "manifest.models": "DatasetSpec",
    "manifest.source": "Source",
    "manifest.source_models": "FileSource",
    "progress": "Progress Report",
    "settings": "Settings",
    "sources.files": "FileReader",
    "sources.source_type": "FormatReader SourceType",
    "store.arrow_dataset": "ArrowDataset",
    "cli.options": "",
}
"""Module → its names that other people's packages may use; the module itself if there are none."""

INTERNAL = {
    "base.cache_access": "CACHE_FORMAT create_file",
    "base.conversion": "convert decode_json",
    "base.digest": "canonical_json digest_of encode_value",
    "base.escape": "escape_control start_of",
    "base.local_files": "FileState NAME_PATTERN file_stem is_device name_fault open_regular",
    "base.fs": "HashedFile file_sha256",
    "base.materials": "Material Original",
    "base.process_state": "cached_property gc_paused",
    "base.locations": "PACKED_SUFFIXES Location",
    "base.git": "Repository repository_of",
    "base.executor": "WorkerLostError Workers can_start",
    "base.threads": "LibraryError NoProgressError ReportNamed run_limited",
    "boundary.boundary": "Boundary UNBOUNDED",
    "boundary.checks": "check_location",
    "boundary.http_client": "Client client_opener",
    "cache.cache": "Cache CacheEntry",
    "cache.contents": "contents older_formats paths_of size_of",
    "cache.folders": "CACHE_FOLDERS check_meta publish_folder seal unseal",
    "cache.remote": "Packed",
    "cache.locks": "again_if_lost",
    "catalog.cache": "parents_of",
    "catalog.cached_files": "package_version_key",
    "catalog.licenses": "LICENSE_PARTS denied_by is_denial notice_text",
    "cli": "INTERRUPTED UNREADABLE",
    "cli.commands.diff": "FORMATS print_diff",
    "cli.datasets": "valid_specs",
    "cli.help": "dataset_names",
    "cli.options": "size",
    "cli.output": "size_text write_new",
    "cli.progress_bars": "bars has_bars",
    "cli.problems": "full_lines",
    "cli.terminal": "columns_of paint print_styled unescaped wrap",
    "corrections.file": "EVIDENCE file_text infer_rows report_rows report_text",
    "decode.bounded": "HARMLESS_BYTES",
    "diff.edits": "correction_lines edits facts",
    "diff.models": "CatalogDiff Chunk CorrectionChange DatasetChange Example FieldChange"
    " KeyChange SampleChange",
    "diff.samples": (
        "Compared STATUSES Samples Status compare_samples corrections_between corrections_of"
        " equal_samples"
    ),
    "diff.severity": "ChangeClass",
    "diff.summary": (
        "Code MAX_NAMES display_value effect headline inherited_keys left_out reach_remark row_of "
        "sample_line sentence users_text"
    ),
    "diff.words": "excerpt",
    "display.html": "Allowance cut sample_css visible",
    "display.text": "json_html",
    "errors": (
        "BundleError LogError MissingDependencyError ReachError RevisionError count_text list_names"
        " near_or_known"
    ),
    "installation": (
        "KINDS extension extension_points extensions install_advice installed_release package_of"
    ),
    "lint.layout": "schema_reference",
    "load.dataset": "Overrides",
    "load.materials": "named_files_of",
    "load.call": "OpenCatalog DatasetCall",
    "lockfile.models": "Lock Pin lock_text read_lock",
    "lockfile.pinned": "pin_sources staleness state_of",
    "lockfile.origins": "PinOrigins",
    "lockfile.spec_digest": "location_in",
    "manifest.checks": "license_expression",
    "manifest.merge": "Entry",
    "manifest.models": "Expect FieldsSpec OwnColumn View as_mapped",
    "manifest.origins": "Origin origins_of",
    "manifest.serialize": "data_of is_not_default",
    "manifest.source_models": "GENERIC_BUILDERS HfSource SOURCE_TYPES infer_source_keys is_folder",
    "mapping.columns_used": "mapping_dependencies",
    "pipeline.execute": "LoadResult Opening check_unpublished open_entry",
    "pipeline.expectations": "check_samples quality_warnings",
    "pipeline.plan": "plan",
    "pipeline.preview": "preview_records",
    "plots": "Bar Plot ranges_of svg",
    "progress": "Deadline log_waits silent",
    "samples.digest": "samples_id",
    "samples.shown_sample": "sample_body shown_data",
    "samples.fields": "COMPARED NAMES SETTINGS field_data",
    "samples.frames.layout": "frame_schema",
    "samples.letters": "choice_of letter_of",
    "samples.provenance": "Provenance read_provenance",
    "samples.sample": "DatasetRecord",
    "scaffold.columns": "FRAME_COLUMNS FRAME_FIELDS",
    "scaffold.new_manifest": "dataset_lines",
    "settings": "Remote builtin_root deadline_seconds most_jobs remote_cache remote_seconds",
    "sources.hub.card": "card_of language_tags",
    "sources.pins": "SourceContext",
    "sources.remote_files": "fetch_blob_of",
    "sources.retry": "PROXY_LOGIN Unreached connection_failure hub_host",
    "sources.source_type": "reader_of",
    "store.received": "check_received",
    "workflows.engines": "Job Order run_job SyncResult",
    "workflows.states": "samples_of",
    "workflows.sync": "sync",
    "yamldoc.document": "paths_in",
    "yamldoc.reader": "MAX_BYTES is_within json_path parse_bytes parse_yaml",
    "yamldoc.writer": "block_text flow_text",
}
"""Module → its names that our own plugins use, too."""


def _module_of(name: str) -> str:
    """Return the module of a name, with a colon before the name unless the name is a module."""
    for table in (STABLE, INTERNAL):
        for module, names in table.items():
            if name in names.split():
                return f"{module}:{name}"
            if not names and name == module.rpartition(".")[2]:
                return module
    raise AttributeError(f"module 'registry.api' has no attribute '{name}'")


def __getattr__(name: str) -> Any:
    module, _, attribute = _module_of(name).partition(":")
    found = importlib.import_module(f"registry.{module}")
    value = getattr(found, attribute) if attribute else found
    globals()[name] = value
    return value
