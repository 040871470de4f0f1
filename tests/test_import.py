"""Importing is cheap: heavy packages load on demand, and not at all with a warm cache."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import registry

ROOT = Path(__file__).parents[1]
HEAVY = (
    "aiohttp",
    "charset_normalizer",
    "click",
    "datasets",
    "fsspec",
    "huggingface_hub",
    "jsonschema",
    "jsonschema_rs",
    "numpy",
    "pandas",
    "pyarrow",
    "pydantic",
    "rich",
    "s3fs",
    "tqdm",
    "yaml",
)
NOT_WHEN_WARM = (
    *("aiohttp", "click", "datasets", "fsspec", "huggingface_hub", "jsonschema", "pandas", "rich"),
    *("jsonschema_rs", "s3fs", "tqdm", "yaml"),
    *("bz2", "concurrent", "csv", "difflib", "gzip", "logging", "lzma", "mimetypes", "shutil"),
    "ssl",
)
"""Packages, and modules of Python that only take time, which a warm open does without."""

NOT_FOR_ONE_SAMPLE = (
    *("numpy", "pyarrow", "registry.base.arrow", "registry.store.schema"),
    *("registry.samples.messages", "registry.samples.messages", "registry.store.conversations"),
)
"""What a warm open, and an access to a sample by its number, do without too."""

OURS_NOT_WHEN_WARM = (
    *("base.git", "base.threads", "decode", "lint.runner", "loaders", "mapping"),
    *("manifest.schema", "manifest.validation", "pipeline.builder", "pipeline.kept_samples"),
    *("pipeline.expectations", "pipeline.file_references"),
    *("pipeline.transforms", "samples.digest", "samples.provenance", "sources.hub.files"),
    *("sources.hub.records", "sources.pinned_files", "sources.transfer", "store.writer"),
    *("workflows.lock", "workflows.sync", "yamldoc.parser"),
)
"""Modules of this package for what a warm open does not do: decode, map, write, word errors."""

LOADED = """
import json, sys
sys.modules["cloudpickle"] = None  # Dask brings it; pyarrow imports it wherever it is installed
{code}
known = sys.modules.keys() | {{name.partition(".")[0] for name in sys.modules}}
print(json.dumps(sorted(known.intersection({packages!r}))))
"""


def loaded_by(code: str, packages: tuple[str, ...]) -> Any:
    """Return which packages a new process has loaded after some code."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(code=code, packages=packages)],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout.splitlines()[-1])


def test_importing_registry_loads_nothing_heavy() -> None:
    assert loaded_by("import registry", HEAVY) == []


def test_importing_errors_and_field_spec_loads_few_modules() -> None:
    code = "from registry import DatasetNotFoundError, FieldSpec, RegistryError"
    assert set(loaded_by(code, HEAVY)) <= {"pydantic"}


def test_warm_dataset_loads_only_modules_needed_to_open_it() -> None:
    code = "from registry import get_dataset; get_dataset('demo-mcq-small')[0]"
    loaded_by(code, HEAVY)
    ours = tuple(f"registry.{name}" for name in OURS_NOT_WHEN_WARM)
    assert all(importlib.util.find_spec(name) for name in ours)
    # Making the first validator looks for pydantic's plugins in every package that is installed.
    validators = ("importlib.metadata", "pydantic.plugin._loader")
    assert loaded_by(code, (*NOT_WHEN_WARM, *NOT_FOR_ONE_SAMPLE, *ours, *validators)) == []


CATALOG = """
version: 1
datasets:
  d:
    source: {type: json, path: d.jsonl}
    fields: {input: q, choices: c, target: {from: n, do: [letter]}, metadata: {kind: k, any: {object: {n: n}}}}
    shuffle: true
    seed: 1
    shuffle_choices: 2
"""
LINES = "".join(f'{{"q": "q{n}", "c": ["x", "y"], "n": {n % 2}, "k": "é"}}\n' for n in range(9))


def test_first_build_of_a_small_dataset_does_not_import_pandas(tmp_path: Path) -> None:
    (tmp_path / "datasets.yaml").write_text(CATALOG, encoding="utf-8")
    (tmp_path / "d.jsonl").write_text(LINES, encoding="utf-8")
    load = f"d = get_dataset('d', root={str(tmp_path)!r}, refresh=True)"
    code = f"from registry import get_dataset; {load}; list(d)"
    assert loaded_by(code, ("datasets", "pandas")) == []


def test_warm_user_dataset_loads_few_modules_for_any_access(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "datasets.yaml").write_text(CATALOG, encoding="utf-8")
    (tmp_path / "d.jsonl").write_text(LINES, encoding="utf-8")
    load = f"from registry import get_dataset; d = get_dataset('d', root={str(tmp_path)!r})"
    code = f"{load}; len(d); d[0]; list(d); d[2:5][0]; d.filter(lambda one: one.target == 'A')[0]"
    loaded_by(code, HEAVY)
    monkeypatch.setenv("REGISTRY_OFFLINE", "1")
    assert loaded_by(code, NOT_WHEN_WARM) == []
    one = f"{load}; len(d); d[0]; d[-1]; repr(d)"
    assert loaded_by(one, (*NOT_WHEN_WARM, *NOT_FOR_ONE_SAMPLE)) == []
    limited = one.replace("root=", "shuffle=False, limit=3, root=")
    loaded_by(limited, HEAVY)
    assert loaded_by(limited, (*NOT_WHEN_WARM, *NOT_FOR_ONE_SAMPLE)) == []


def test_help_loads_only_terminal_modules() -> None:
    code = "from registry.cli import main; main(['--help'])"
    assert set(loaded_by(code, HEAVY)) <= {"click", "rich"}


def test_every_public_name_can_be_imported() -> None:
    for name in registry.__all__:
        assert getattr(registry, name) is getattr(registry, name)
        assert name in dir(registry)


def test_public_names_are_sorted_and_imported_from_public_modules() -> None:
    assert list(registry.__all__) == sorted(registry.__all__)
    assert set(registry.__all__) == set(registry._MODULES)
    for name, module in registry._MODULES.items():
        assert name in importlib.import_module(f"registry.{module}").__all__


def test_missing_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'registry' has no attribute 'nothing'"):
        registry.nothing  # noqa: B018 (the attribute access is tested)


def test_every_module_has_a_docstring_and_existing_public_names() -> None:
    source = ROOT / "src"
    names = [
        ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted((source / "registry").rglob("*.py"))
        if path.name != "__main__.py" and (path.name != "ray_worker.py" or find_spec("ray"))
    ]
    modules = [importlib.import_module(name) for name in names]
    starts = {one.__name__: (one.__doc__ or "").strip().partition("\n")[0] for one in modules}
    assert {name: text for name, text in starts.items() if not text.endswith((".", ":"))} == {}
    missing = [
        f"{one.__name__}.{name}"
        for one in modules
        for name in getattr(one, "__all__", ())
        if not hasattr(one, name)
    ]
    assert missing == []
