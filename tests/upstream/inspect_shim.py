"""A pytest plugin that runs Inspect AI's own dataset tests with our classes in the place of theirs.

    cd CHECKOUT_OF_INSPECT_AI
    PYTHONPATH=…/tests/upstream python -m pytest -p inspect_shim tests/dataset

Only names that their tests import are replaced; Inspect itself keeps its own. A test in `EXCLUDED`
must fail: the run fails if it passes, and if any other test does not.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import inspect_ai._util.content as their_content
import inspect_ai.dataset as their_dataset
import inspect_ai.dataset._sources as their_sources
import inspect_ai.dataset._sources.example as their_example
import inspect_ai.dataset._sources.hf as their_hf
import inspect_ai.dataset._util as their_util
import inspect_ai.model._chat_message as their_messages
import pytest

import registry
from registry import loaders
from registry.errors import SourceError
from registry.manifest.source_models import HfSource
from registry.mapping import coerce
from registry.mapping.field_mapper import record_mapper
from registry.progress import Deadline
from registry.samples import dataset as our_dataset
from registry.sources import retry
from registry.sources.hub.api import hub_errors

COMMIT = "499e6152e7b8fc8cbd8ac5283536572aa6e4ab17"
"""Commit of Inspect AI whose tests this plugin was written for."""

OUR_RETRIES = "ours repeats only what may pass: the status or the kind of an error decides"

EXCLUDED: dict[str, str] = {
    "test_data_uri_mime_type_function": "a function of Inspect that has changed since that commit",
    "test_retry_dataset_generation_error": OUR_RETRIES,
    "test_retry_local_entry_not_found": OUR_RETRIES,
    "test_retry_filenotfound_hub_unreachable": OUR_RETRIES,
    "test_retry_filenotfound_hub_either": OUR_RETRIES,
    "test_retry_valueerror_cache_message": OUR_RETRIES,
    "test_no_retry_readtimeout_other_host": OUR_RETRIES,
    "test_hf_dataset_cache_hit_does_not_invoke_retry": "builds the folder of Inspect's own cache",
}
"""Test → why it can't pass with our classes."""

Result = TypeVar("Result")


def pytest_configure() -> None:
    """Put our names in the place of theirs."""
    readers = ("csv_dataset", "file_dataset", "json_dataset")
    _put(their_dataset, registry, "FieldSpec", "MemoryDataset", "Sample", *readers)
    # `example_dataset` calls them, and lists the samples, which is refused elsewhere.
    _put(their_example, registry, "csv_dataset", "json_dataset")
    _set(our_dataset, refuse_inspect=lambda: None)
    _put(their_content, registry, "ContentDocument", "ContentImage")
    _put(their_messages, registry, "ChatMessageUser")
    # Their test of `file_dataset` replaces the loaders in its module.
    _set(their_sources, file=loaders)
    _set(their_util, read_choices=coerce.to_choices, record_to_sample_fn=record_mapper)
    _replace_hub()


def _put(module: ModuleType, source: ModuleType, *names: str) -> None:
    _set(module, **{name: getattr(source, name) for name in names})


def _set(module: ModuleType, **values: Any) -> None:
    for name, value in values.items():
        setattr(module, name, value)


def _replace_hub() -> None:
    """Replace `hf_dataset` and its retries; `load_dataset` is the one that a test installs."""
    _set(their_dataset, hf_dataset=_hf_dataset)
    _set(loaders, _hub_records=_records_of_installed)
    _set(their_hf, _should_retry_hf_error=retry.is_transient, _call_with_hf_retry=_with_retries)


def _records_of_installed(
    source: HfSource, extra: dict[str, Any], *, retry: bool
) -> list[dict[str, Any]]:
    """Return the records of the module `datasets` that a test has installed."""
    import datasets

    def load() -> Any:
        return datasets.load_dataset(source.path, revision=source.revision, **extra)

    loaded = _repeated(load, 1800 if retry else 0)
    return list(loaded.to_list())


def _with_client_errors(call: Callable[[], Result]) -> Result:
    """Call, and raise the error of the Hub's client, as Inspect does, in the place of ours."""
    try:
        return call()
    except SourceError as error:
        raise error.__cause__ or error from None


def _hf_dataset(*args: Any, **kwargs: Any) -> Any:
    return _with_client_errors(lambda: registry.hf_dataset(*args, **kwargs))


def _with_retries(call: Callable[[], Result]) -> Result:
    return _with_client_errors(lambda: _repeated(call, 1800))


def _repeated(call: Callable[[], Result], seconds: float) -> Result:
    """Return the result of a call, with our retries; a test says how many."""

    def translated() -> Result:
        with hub_errors("org/data"):
            return call()

    policy = retry.NetworkPolicy(attempts=their_hf._hf_max_tries(), longest_pause=0)
    return retry.with_retries(translated, Deadline(seconds), policy=policy)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Expect the excluded tests to fail."""
    unknown = EXCLUDED.keys() - {item.name.partition("[")[0] for item in items}
    if unknown and len(items) > len(EXCLUDED):
        raise pytest.UsageError(f"inspect_shim.EXCLUDED has tests that are gone: {sorted(unknown)}")
    for item in items:
        if reason := EXCLUDED.get(item.name.partition("[")[0]):
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder: Path = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("REGISTRY_CACHE_DIR", os.fspath(folder))
