"""`add`: write a manifest inferred from a source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import click

from registry.cache.cache import Cache
from registry.cli import CLEAN, options
from registry.cli.adding.files import choose_files, propose_join
from registry.cli.adding.proposal import (
    FIELDS,
    Draft,
    Proposal,
    UnusableDraftError,
    about_file,
    ask,
    ask_about,
    ask_what_next,
    checked_license,
    doubts,
    is_interactive,
    read_records,
    warn_outside,
)
from registry.cli.adding.request import (
    Destination,
    SourceOptions,
    allowing,
    check_options,
    destination_of,
    file_keys,
    write_manifest,
)
from registry.cli.adding.sources import about_repository, sniff_file, sniff_repository
from registry.cli.output import print_line
from registry.errors import RegistryError
from registry.scaffold.columns import Ask, Guess, refuse
from registry.sources.pins import SourceContext

__all__ = ["command"]

_EXAMPLES = """\b
Example: registry add my-qa --file data/questions.csv
registry add my-qa --file export.csv --delimiter ';' --target antwort
registry add my-mmlu --hf cais/mmlu --name all --split test
"""


@click.command("add", epilog=_EXAMPLES)
@click.argument("name")
@click.option("--hf", metavar="PATH", help="A dataset repository on the Hub: owner/name.")
@click.option("--name", "config", metavar="C", help="Configuration of the repository.")
@click.option(
    "--split", metavar="S", help="Split of the repository. Default: test, or the only one."
)
@click.option("--revision", metavar="R", help="Branch, tag or commit; pinned to its commit.")
@click.option(
    "--file",
    type=click.Path(),
    metavar="URL",
    help="A file, a URL, a folder or an archive: csv, json, jsonl or parquet.",
)
@click.option(
    "--join",
    type=click.Path(),
    metavar="URL",
    help="A second file, with a row for each record: keys of the same type and value.",
)
@click.option(
    "--type",
    type=click.Choice(["csv", "json", "parquet"]),
    help="What the file is. Default: what its name says.",
)
@click.option("--delimiter", metavar="D", help="Between the cells of CSV: a character, or `tab`.")
@click.option("--encoding", metavar="E", help="Of the text, such as cp1252.")
@click.option("--skip-rows", type=click.IntRange(min=0), metavar="N", help="Rows above the header.")
@click.option("--columns", metavar="A,B", help="Names of the columns, if the file has no header.")
@click.option("--header/--no-header", default=None, help="Whether the first row names the columns.")
@click.option("--records", metavar="PATH", help="Key of the list in a JSON document: `data.items`.")
@click.option(
    "--input",
    metavar="COLUMN",
    help="The column of the input, or a path such as data.question.",
)
@click.option("--target", metavar="COLUMN", help="The column of the target.")
@click.option("--no-target", is_flag=True, help="The samples have no target.")
@click.option(
    "--choices", metavar="COLUMNS", help="The column of the choices, or one for each: a,b,c."
)
@click.option(
    "--base",
    type=click.IntRange(0, 1),
    help="Number of the first choice, where the target has indexes that do not show it.",
)
@click.option("--id", metavar="COLUMN", help="The column of the ids.")
@click.option("--description", metavar="TEXT", help="What the dataset is, in one sentence.")
@click.option("--license", "license_", metavar="L", help="License of the data, such as mit.")
@click.option("--yes", is_flag=True, help="Ask nothing. Without a terminal, nothing is ever asked.")
@click.option("--dry-run", is_flag=True, help="Print the manifest and write nothing.")
@options.root
def command(
    name: str,
    description: str | None,
    license_: str | None,
    yes: bool,
    dry_run: bool,
    no_target: bool,
    base: int | None,
    root: str | None,
    **given: Any,
) -> int:
    """Infer a mapping from a source, write the manifest and show two samples.

    How a file is written, and what its columns are for, is inferred; each guess is printed, and
    what is not clear is asked, or an error that names the option. In a folder or an archive, the
    names of files become splits and columns, and two files are joined. All samples are built;
    fields are inferred from the first 20,000 records, or from all if these do not fit. The manifest
    goes to a folder that the index includes; where there is no index, one is created. No file is
    overwritten. Review the manifest: the mapping is a starting point, with the reasons as comments.
    """
    fields = {field: given.pop(field) for field in FIELDS}
    source = SourceOptions(name=given.pop("config"), **given)
    check_options(name, source)
    if no_target and fields["target"] is not None:
        raise click.UsageError("pass either --target COLUMN or --no-target")
    if license_ is not None:
        checked_license(license_)
    settings = options.settings_of(root)
    destination = destination_of(settings, name)
    asks = not yes and not dry_run and is_interactive()
    questions = ask if asks else refuse
    draft = _draft(
        source,
        destination,
        SourceContext(
            boundary=destination.catalog.boundary,
            cache=Cache(settings.cache_dir),
            offline=settings.offline,
            dataset=name,
        ),
        ask=questions,
        columns={field: column for field, column in fields.items() if column is not None},
        show=partial(print_line, err=dry_run),
    )
    about = draft.about.updated(description, license_)
    draft = replace(draft, about=about, no_target=no_target, base=base).settled(questions)
    try:
        found = _confirmed(draft) if asks else draft.propose()
    except UnusableDraftError as error:
        if not dry_run:
            message = f"{error}; --dry-run prints the manifest, to correct it by hand"
            raise RegistryError(message) from error
        print(error.text, end="")
        raise
    for keys in (draft.source, *([draft.join["source"]] if draft.join else [])):
        warn_outside(keys, destination)
    if asks:
        write_manifest(destination, found.text)
    else:
        _finish(found, draft, dry_run=dry_run)
    found.print_warnings()
    return CLEAN


def _draft(
    given: SourceOptions,
    destination: Destination,
    context: SourceContext,
    *,
    ask: Ask,
    columns: Mapping[str, str],
    show: Callable[[object], None],
) -> Draft:
    """Read the source, and return what its manifest is proposed from; show what is guessed."""
    folder = destination.catalog.index.parent
    if given.hf is not None:
        keys, guesses, card = sniff_repository(given, context, ask)
        context = allowing(context, keys, folder)
        for guess in guesses:
            show(guess)
        read = read_records(keys, destination, context)
        return Draft(
            name=context.dataset,
            source=read.source,
            records=read.records,
            is_all=read.is_all,
            labels=card.labels,
            about=about_repository(read.source, card),
            columns=columns,
            destination=destination,
            context=context,
        )
    chosen = choose_files(given, folder, context, ask)
    context = allowing(context, file_keys(chosen.options, folder), folder)
    keys, guesses = sniff_file(chosen.options, folder, context, ask)
    read = read_records(keys, destination, context)
    source = {**read.source, **({"path": chosen.path} if chosen.layout else {})}
    context = allowing(context, source, folder)
    join: Mapping[str, Any] | None = None
    table: Sequence[Mapping[str, Any]] = ()
    joining: list[Guess] = []
    if chosen.options.join is not None:
        join, table, joining = propose_join(chosen.options.join, read.records, folder, context, ask)
        context = allowing(context, join["source"], folder)
    for guess in (*chosen.guesses, *guesses, *joining):
        show(guess)
    return Draft(
        name=context.dataset,
        source=source,
        records=read.records,
        is_all=read.is_all,
        labels={},
        about=about_file(replace(read, source=source)),
        columns=columns,
        destination=destination,
        context=context,
        layout=chosen.layout,
        join=join,
        table=table,
    )


def _finish(found: Proposal, draft: Draft, *, dry_run: bool) -> None:
    """Write the manifest that nobody was asked about, or only print it, and show samples."""
    for line in doubts(found.mapping, len(found.records)):
        print_line(line, err=dry_run)
    if dry_run:
        print(found.text, end="")
        return
    write_manifest(draft.destination, found.text)
    print()
    found.print_samples()


def _confirmed(draft: Draft) -> Proposal:
    """Show what would be written, and change it until the user agrees.

    Raises:
        click.Abort: the user wants no manifest.
    """
    names = list(dict.fromkeys(column for record in draft.records for column in record))
    found = draft.propose()
    while True:
        click.echo(f"\n{found.text}")
        found.print_samples()
        change = ask_what_next(names)
        if change is None:
            about = draft.about.updated(*ask_about(draft.about.description, draft.about.license))
            return replace(draft, about=about).propose()
        changed = replace(draft, columns={**draft.columns, change[0]: change[1]})
        try:
            changed = changed.settled(ask)
            found, draft = changed.propose(), changed
        except RegistryError as error:  # such as a column whose values are no choices
            print_line(f"error: {error}", err=True)
