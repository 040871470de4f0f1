"""`correct`: write the corrections that a corrected copy of a dataset contains."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from registry import Dataset, RegistryError, Sample
from registry.api import (
    CLEAN,
    EVIDENCE,
    PROBLEMS,
    Expect,
    View,
    as_mapped,
    bars,
    count_text,
    display_path,
    file_text,
    flow_text,
    infer_rows,
    list_names,
    options,
    print_line,
    schema_reference,
    write_new,
)

if TYPE_CHECKING:
    from registry.api import ArrowDataset, DatasetCall, DatasetSpec

__all__ = ["command", "samples_by_name"]

_TO_WRITE = "TODO: say why"
_NAMED = 3


@click.command(
    "correct",
    epilog="\b\nExample: registry correct gsm8k platinum.jsonl --reason 'revised by hand'"
    " --source https://arxiv.org/abs/2502.03461\n"
    "registry correct my-qa fixed.csv --out errata/my-qa.yaml",
)
@options.name
@click.argument("copy", metavar="COPY")
@click.option(
    "--out",
    metavar="FILE",
    type=options.OutFile(allow_dash=True),
    help="The corrections file to write; it must not exist. Default: print it.",
)
@click.option("--verdict", metavar="WORD", help="What kind of fault it is, for all rows.")
@click.option("--reason", metavar="TEXT", help="Why they are wrong, for all rows.")
@click.option("--source", metavar="URL", help="Where the faults were reported, for all rows.")
@click.option("--by", metavar="WHO", help="Who reviewed them.")
@click.option("--license", "license_", metavar="L", help="License of the corrections.")
@options.offline
@options.root
def command(
    name: str,
    copy: str,
    out: str | None,
    license_: str | None,
    offline: bool | None,
    root: str | None,
    **given: str | None,
) -> int:
    """Write the corrections that make the dataset NAME equal to its corrected copy.

    COPY is a file or a URL with the records of the source, corrected, which the manifest of NAME
    maps; or another dataset of the catalog. Samples are matched by their ids, and where those don't
    identify them, by the numbers of their records. What is only in the copy can't be a correction:
    it is reported, and the exit code is 1.
    """
    out = None if out == "-" else out
    opened = options.open_catalog(root, offline=offline)
    catalog = opened.catalog
    asked = options.call_of(opened, name)
    spec = asked.spec
    original = _samples(asked, as_mapped(spec))
    if copy in catalog:
        other, view = opened.call_of(copy), View(auto_id=spec.view.auto_id)
        corrected = _samples(other, replace(other.spec, view=view, companion=None))
    else:
        other = opened.call_of(name, source=_location(copy))
        corrected = _samples(other, as_mapped(other.spec))
    by_id = all(_are_named_by_ids(one) for one in (original, corrected)) and not spec.view.auto_id
    was, now = (samples_by_name(one, by_id=by_id) for one in (original, corrected))
    if was and now and not was.keys() & now.keys():
        raise RegistryError(
            f"{name}: no sample of {copy} has an id of {name} ({_first(was)}; {_first(now)}):"
            f" give the copy as a file, whose ids {name} maps"
        )
    found = infer_rows(was, now)
    if found.added:
        message = f"{count_text(len(found.added), 'sample')} only in {copy}: a correction adds none"
        print_line(f"warning: {message} ({list_names(found.added, _NAMED)})", err=True)
    if not found.rows:
        raise RegistryError(f"{name}: {copy} has the same samples, there is nothing to correct")
    evidence = {key: value for key in EVIDENCE if (value := given[key])}
    evidence.setdefault("reason", _TO_WRITE)
    here = Path.cwd() if out is None else Path(out).parent
    schema = schema_reference("corrections", root=catalog.index.parent, folder=here)
    text = file_text(found.rows, evidence, license_, schema=schema)
    if out is None:
        for line in text.removesuffix("\n").split("\n"):
            print_line(line)
    else:
        write_new(Path(out), text)
        key = flow_text(display_path(Path(out), catalog.index.parent))
        print_line(
            f"{out}: {count_text(len(found.rows), 'row')},"
            f" {count_text(found.changed, 'sample')} changed,"
            f" {found.dropped:,} left out (add `corrections: {key}` to {name}, and review it)"
        )
    return PROBLEMS if found.added else CLEAN


def _samples(asked: DatasetCall, spec: DatasetSpec) -> ArrowDataset:
    """Return all samples: of a copy that lacks some, `sample` would select others."""
    with bars(as_json=False) as report:
        whole = asked.made_of_it(replace(spec, sample=None, expect=Expect()))
        return whole.load(partial(report, spec.name)).dataset


def _first(samples: dict[Any, Sample]) -> str:
    return repr(next(iter(samples))[1])


def _location(copy: str) -> str:
    return copy if "://" in copy else str(Path(copy).absolute())


def _are_named_by_ids(dataset: Dataset) -> bool:
    ids = [sample.id for sample in dataset]
    return None not in ids and len(set(ids)) == len(ids)


def samples_by_name(dataset: Dataset, *, by_id: bool) -> dict[Any, Sample]:
    """Return samples by what a row of a corrections file names them with."""
    if by_id:
        return {("id", sample.id): sample for sample in dataset}
    numbers = dataset.records_at(range(len(dataset)))  # type: ignore[attr-defined]
    if len(set(numbers)) < len(numbers):
        raise RegistryError(
            f"{dataset.name}: some records give several samples without ids (add `fields.id`)"
        )
    return {("record", number): one for number, one in zip(numbers, dataset, strict=True)}
