"""`import`: write a manifest for datasets that another tool's file defines."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from registry import Catalog, ManifestError
from registry.api import (
    CLEAN,
    MAX_BYTES,
    PROBLEMS,
    UNBOUNDED,
    ExtensionError,
    Progress,
    Report,
    bars,
    builtin_root,
    count_text,
    extension,
    extensions,
    name_fault,
    near_or_known,
    options,
    parse_bytes,
    parse_yaml,
    print_json,
    print_line,
    schema_reference,
    silent,
    write_new,
)
from registry.plugins.importers.models import (
    Imported,
    ImportedDataset,
    Importer,
    ImportOptions,
    NotImported,
    distinct,
    imported_text,
    left_out_lines,
    problem_at,
)
from registry.plugins.importers.tolerant_yaml import read_foreign_text, read_foreign_yaml

__all__ = ["KINDS", "ImportedFile", "command", "detect_kind", "files_of", "import_files"]

_EXAMPLES = """\b
Example: registry import tasks/arc_easy.yaml --out registry/arc.yaml
registry import eval.yaml --repository owner/name --strict
registry import tasks --from lm-eval --json
"""

KINDS = {
    "eval.yaml": "hub:read_eval",
    "lm-eval": "lm_eval:read",
    "croissant": "croissant:read",
    "hub-readme": "hub:read_card",
    "inspect": "inspect_task:read",
}
"""Kind of file → the function that reads it: `module:name(file, options) -> Imported`."""
MAX_FILES = 100_000
_LOADER = re.compile(r"\b(?:hf|csv|json)_dataset\(")
_SUFFIXES = (".yaml", ".yml", ".json", ".jsonld", ".md", ".py")


def _check_kind(context: click.Context, _: click.Parameter, kind: str | None) -> str | None:
    if kind is not None and kind not in KINDS and extension("importers", kind) is None:
        known = [*KINDS, *extensions("importers")]
        hint = near_or_known(kind, known, "kinds")
        raise click.BadParameter(f"no kind '{kind}' ({hint})", context)
    return kind


@click.command("import", epilog=_EXAMPLES)
@click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="FILE|FOLDER...")
@click.option(
    "--from",
    "kind",
    callback=_check_kind,
    metavar="KIND",
    help=f"Kind of the files: {', '.join(KINDS)}. Default: detected.",
)
@click.option("--name", metavar="NAME", help="Name of the dataset, if there is only one.")
@click.option(
    "--repository",
    metavar="REPO",
    help="Repository, or local folder, that an eval.yaml or README belongs to.",
)
@click.option("--revision", metavar="COMMIT", help="Commit of the repository.")
@click.option(
    "--out",
    type=options.OutFile(allow_dash=True),
    metavar="FILE",
    help="Write the manifest to a new file, not to stdout.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 if anything was left out.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the manifest as a string.")
def command(
    paths: tuple[str, ...],
    kind: str | None,
    name: str | None,
    repository: str | None,
    revision: str | None,
    out: str | None,
    strict: bool,
    as_json: bool,
) -> int:
    """Write a manifest for datasets that files of other tools define.

    Kinds: the Hub's eval.yaml, tasks of lm-evaluation-harness, Croissant, README files of the Hub,
    and Python files with tasks of Inspect AI. Nothing in the files is executed. What the manifest
    can't say is listed on stderr and as comments in the manifest.
    """
    if revision is not None and repository is None:
        raise click.UsageError("--revision goes with --repository")
    if name is not None and (fault := name_fault(name)):
        raise click.UsageError(f"'{name}' is not a valid dataset name ({fault})")
    out = None if out == "-" else out
    given = ImportOptions(name=name, repository=repository, revision=revision)
    here = Path(out).parent if out is not None else Path.cwd()
    schema = schema_reference("manifest", root=Path.cwd(), folder=here)
    with bars(as_json=as_json) as report:
        show = partial(report, "import")
        found = import_files(map(Path, paths), given, kind=kind, report=show)
        files, text = _manifest_of(found, schema, has_name=name is not None)
    datasets = [one for file in files for one in file.imported.datasets]
    if text:
        parse_bytes(text.encode(), file=out or "the manifest")
    if out is not None and text:
        write_new(Path(out), text)
    if as_json:
        print_json({"manifest": text, "out": out, "files": [_report(file) for file in files]})
    else:
        _print(files, text, out)
    refused = sum(len(file.imported.refused) for file in files)
    left_out = sum(len(one.left_out) for one in datasets)
    return PROBLEMS if not datasets or (strict and (refused or left_out)) else CLEAN


def _manifest_of(
    found: Iterable[ImportedFile], schema: str, *, has_name: bool
) -> tuple[list[ImportedFile], str]:
    """Return the files, and the manifest of their datasets; empty if there are none.

    Raises:
        ManifestError: two files define a dataset, or all are too many for one manifest.
    """
    files, owners = list[ImportedFile](), dict[str, Path]()
    empty = text = imported_text((), schema=schema)
    for one in found:
        file, added = _checked(one, schema)
        for dataset in file.imported.datasets:
            if has_name and owners:
                raise click.UsageError("--name needs one dataset, and the files have several")
            if (other := owners.setdefault(dataset.name, file.file)) is not file.file:
                message = f"it defines a dataset '{dataset.name}', and so does {other}"
                raise problem_at(file.file, message, "import them separately, with --name")
        text += "".join(one.removeprefix(empty) for one in added)
        if len(text.encode()) > MAX_BYTES:
            hint = "import fewer files at a time, such as those of one folder"
            message = f"with its datasets the manifest is larger than {MAX_BYTES >> 20} MiB"
            raise problem_at(file.file, message, hint)
        files.append(file)
    return files, text if owners else ""


def _checked(file: ImportedFile, schema: str) -> tuple[ImportedFile, list[str]]:
    """Return a file without the datasets that `validate` would refuse, and manifests of the rest.

    Where its sources may be is a matter of the catalog that it becomes a part of, not of it.
    """
    empty = Catalog(builtin_root(), boundary=UNBOUNDED)
    datasets, texts, refused = list[ImportedDataset](), list[str](), list(file.imported.refused)
    for one in file.imported.datasets:
        try:
            text = imported_text([one], schema=schema)
            document = parse_yaml(text, file=str(file.file))
            _ = empty.with_manifest(document)[one.name]
            datasets.append(one)
            texts.append(text)
        except ManifestError as error:
            refused.append(NotImported(one.name, "; ".join(one.text for one in error.problems)))
    return replace(file, imported=Imported(tuple(datasets), tuple(refused))), texts


def _report(file: ImportedFile) -> dict[str, Any]:
    return {
        "file": str(file.file),
        "kind": file.kind,
        "datasets": [
            {
                "name": one.name,
                "left_out": [
                    {"key": left.what, "reason": left.why, "about": left.about, "line": left.line}
                    for left in one.left_out
                ],
            }
            for one in file.imported.datasets
        ],
        "not_imported": [
            {"name": one.name, "reason": one.why, "where": one.where or str(file.file)}
            for one in file.imported.refused
        ],
    }


def _print(files: list[ImportedFile], text: str, out: str | None) -> None:
    if out is None:
        sys.stdout.write(text)
    for file in files:
        for one in file.imported.datasets:
            for line in left_out_lines(one.left_out):
                print_line(f"left out: {one.name}: {line}", err=True)
        for refused in file.imported.refused:
            where = refused.where or file.file
            print_line(f"not imported: {refused.name}: {refused.why} ({where})", err=True)
    datasets = sum(len(file.imported.datasets) for file in files)
    refused_count = sum(len(file.imported.refused) for file in files)
    summary = f"{count_text(datasets, 'dataset')} imported, {refused_count} not"
    todo = f": review {out or 'the manifest'}, and add descriptions and licenses"
    print_line(f"{summary}{todo if datasets else ''}", err=True)


@dataclass(frozen=True)
class ImportedFile:
    """A file, and what it gave."""

    file: Path
    kind: str | None
    """None if even that is unknown."""
    imported: Imported


def import_files(
    paths: Iterable[Path],
    options: ImportOptions,
    *,
    kind: str | None = None,
    report: Report = silent,
) -> Iterator[ImportedFile]:
    """Yield what each file gives; files of a folder that are of no kind are skipped.

    A file of a folder that can't be read is not imported, and does not stop the others.

    Raises:
        ManifestError: a named file can't be read, or it or all of a folder is of no kind.
    """
    read_foreign_yaml.cache_clear()  # the files may have changed since the last call
    for path in paths:
        is_known = False
        files = list(files_of(path))
        for number, file in enumerate(files, 1):
            report(Progress("import", number, len(files)))
            try:
                found = _import_file(file, options, kind)
            except ManifestError as error:
                if file == path:
                    raise
                # With its place, which may be in another file that this one includes.
                refused = NotImported(file.name, "; ".join(map(str, error.problems)))
                found = ImportedFile(file, kind, Imported(refused=(refused,)))
            if found is not None:
                is_known = True
                yield found
        if not is_known:
            what = "no file of a known kind" if path.is_dir() else "unknown kind of file"
            known = ", ".join([*KINDS, *extensions("importers")])
            calls = "it calls no hf_dataset, csv_dataset or json_dataset"
            hint = calls if path.suffix == ".py" else f"--from takes {known}"
            raise problem_at(path, what, hint)


def _import_file(file: Path, options: ImportOptions, kind: str | None) -> ImportedFile | None:
    """Return what a file gives; None if it is of no kind."""
    plugins = extensions("importers")
    others = (name for name in plugins if _importer_of_others(name).detects(file))
    found = kind or detect_kind(file) or next(others, None)
    if found is None:
        return None
    if found in KINDS:
        module, _, function = KINDS[found].partition(":")
        read = getattr(import_module(f"{__package__}.{module}"), function)
    else:
        read = _importer_of_others(found).read
    imported: Imported = read(file, options)
    return ImportedFile(file, found, replace(imported, datasets=distinct(imported.datasets)))


def _importer_of_others(name: str) -> Importer:
    found = extension("importers", name)
    if not isinstance(found, Importer):
        raise ExtensionError(f"the plugin '{name}' is no {Importer.__module__}.Importer")
    return found


def files_of(path: Path) -> Iterator[Path]:
    """Yield a file, or the files of a folder that may be of some kind, in the order of names.

    Raises:
        ManifestError: there is no such path, or the folder has too many files.
    """
    if not path.is_dir():
        if not path.exists():
            raise problem_at(path, "there is no such file or folder")
        yield path
        return
    count = 0
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__pycache__")))
        for name in sorted(files):
            count += 1
            if count > MAX_FILES:
                raise problem_at(path, f"more than {MAX_FILES:,} files", "name a smaller folder")
            if name.lower().endswith(_SUFFIXES):
                yield Path(folder) / name


def detect_kind(file: Path) -> str | None:
    """Return the kind of a file by its name and content; None if it is of no kind.

    Raises:
        ManifestError: it is YAML that can't be read.
    """
    name = file.name.lower()
    if name.endswith(".py"):
        return "inspect" if _LOADER.search(read_foreign_text(file)) else None
    if name.endswith(".md"):
        return "hub-readme" if read_foreign_text(file).startswith("---") else None
    if name.endswith((".json", ".jsonld")):
        with suppress(ManifestError):  # data, rather than a description of data
            return "croissant" if '"recordSet"' in read_foreign_text(file) else None
        return None
    value: Any = read_foreign_yaml(file, has_tags=True).value
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("tasks"), list) and file.name.startswith("eval"):
        # Those of inspect_evals have a title, and list names of tasks without their data.
        return None if "title" in value else "eval.yaml"
    if {"version", "include"} <= value.keys() and "task" not in value:
        return None  # the index of a catalog such as the one that the manifest becomes a part of
    is_task = {"task", "group", "dataset_path", "doc_to_text", "include"} & value.keys()
    return "lm-eval" if is_task else None
