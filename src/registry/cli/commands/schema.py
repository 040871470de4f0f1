"""`schema`: print a JSON Schema, for editors and other validators."""

from __future__ import annotations

import click

from registry.cli import CLEAN
from registry.errors import near_or_known
from registry.manifest.schema import SCHEMAS, SchemaName, schema_text

__all__ = ["command"]

_EXAMPLES = """\b
Example: registry schema
registry schema manifest > schemas/manifest.schema.json
registry schema index > schemas/index.schema.json
"""


def _schema_name(ctx: click.Context, param: click.Parameter, given: str) -> SchemaName:
    for name in SCHEMAS:
        if name == given:
            return name
    hint = near_or_known(given, SCHEMAS, "schemas")
    raise click.UsageError(f"no schema '{given}' ({hint})", ctx)


@click.command("schema", epilog=_EXAMPLES)
@click.argument("name", default="manifest", callback=_schema_name, metavar=f"[{'|'.join(SCHEMAS)}]")
def command(name: SchemaName) -> int:
    """Print the JSON Schema of a manifest, of datasets.yaml (index) or of datasets.lock (lock).

    `validate` checks files against the same schemas. The schema of the index refers to the
    manifest's by its file name: keep both in one folder. Needs no catalog.
    """
    print(schema_text(name), end="")
    return CLEAN
