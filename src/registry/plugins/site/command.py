"""`site`: write the catalog as pages for a browser."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from registry import RegistryError
from registry.api import (
    CLEAN,
    PROBLEMS,
    bars,
    count_text,
    has_bars,
    most_jobs,
    options,
    print_json,
    print_line,
)
from registry.plugins.site.catalog_view import CatalogView, site_names
from registry.plugins.site.environment import SCRIPTS, STYLE, asset
from registry.plugins.site.home_page import folded, list_pages, search_chunks, unfolded
from registry.plugins.site.sample_pages import sample_file
from registry.plugins.site.site_folder import SiteFolder, WrittenPage, write_pages

if TYPE_CHECKING:
    from registry.api import OpenCatalog

__all__ = ["command", "write_site"]

_EVERY_SECONDS = 10.0
_MOST_PROBLEMS = 50

_EXAMPLES = """\b
Example: registry site --out site
registry site --out site --samples 50 demo-mcq demo-chat
registry site --out site --tag demo --build
"""


@click.command("site", epilog=_EXAMPLES)
@options.names
@click.option(
    "--out",
    required=True,
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder of the pages; it is created, or an earlier site in it is updated.",
)
@click.option(
    "--samples",
    type=click.IntRange(min=0, max=10_000),
    default=20,
    show_default=True,
    metavar="N",
    help="How many samples of a dataset are shown at most, up to 20 on a page.",
)
@click.option(
    "--table",
    "table_size",
    default="2MB",
    show_default=True,
    metavar="SIZE",
    callback=options.size,
    help="How much of a dataset its table may have: the samples that are searched, filtered and"
    " sorted on its page. 0MB leaves the tables out, and so does `--samples 0`.",
)
@click.option(
    "--build", is_flag=True, help="Build datasets that are not cached, to show their samples."
)
@click.option(
    "--force",
    is_flag=True,
    help="Write to a folder that has files of others: they stay, unless a page has their name.",
)
@options.tags
@options.jobs
@options.offline
@options.locked
@options.frozen
@options.as_json
@options.root
def command(
    names: tuple[str, ...],
    out: Path,
    samples: int,
    table_size: int,
    build: bool,
    force: bool,
    tags: tuple[str, ...],
    jobs: int,
    as_json: bool,
    **access: Unpack[options.Access],
) -> int:
    """Write the catalog, or only NAMES, as pages for a browser: DIR/index.html.

    The pages have a search, the resolved manifest of each dataset with the place of every value,
    its pin, and its first samples, if they are cached; of data behind a gate or an agreement, no
    sample is published. They need no server and load nothing from elsewhere. Without `--build`,
    nothing is built and no request is made.

    A dataset with problems has a page that says which; the exit code is then 1.
    """
    opened = options.open_catalog(**access)
    catalog = opened.catalog
    chosen = site_names(sorted(options.choose(opened, names, tags)))
    folder = SiteFolder(out, force=force)
    stray = [] if names or tags else [str(one) for one in catalog.stray_problems()]
    unread = [] if names or tags else [str(one) for one in catalog.unread_problems()]
    failures = _build(chosen, opened, jobs, as_json=as_json) if build else {}
    view = CatalogView(opened, chosen, samples, failures, table_size if samples else 0)
    pages = write_site(folder, view, problems=unread, processes=min(jobs, most_jobs()))
    written = list(_shown(pages, len(chosen), as_json=as_json))
    return _report(written, stray, out, as_json=as_json)


def _shown(pages: Iterable[WrittenPage], number: int, *, as_json: bool) -> Iterator[WrittenPage]:
    """Yield pages when they are written; show how many, as a bar or as lines."""
    shown = time.monotonic()
    with bars(as_json=as_json, number=number) as report:
        for done, page in enumerate(pages, 1):
            report.finish(page.name, failed=bool(page.problems))
            is_time = time.monotonic() - shown > _EVERY_SECONDS
            if is_time and not as_json and not has_bars(as_json=as_json):
                shown = time.monotonic()
                print_line(f"{done:,} of {count_text(number, 'page')}", err=True)
            yield page


def _build(
    names: tuple[str, ...], opened: OpenCatalog, jobs: int, *, as_json: bool
) -> dict[str, RegistryError]:
    """Build what is not cached; return the errors of the datasets that can't be built."""
    from registry.api import sync  # few invocations build

    failures, original = {}, {"corrections": False}
    with bars(as_json=as_json, number=len(names)) as report:
        processes = min(jobs, most_jobs())
        results = sync(names, opened, jobs=jobs, processes=processes, report=report)
        for result in results:
            report.finish(result.name, failed=result.error is not None)
            if result.error is not None:
                failures[result.name] = result.error
    for name in (one for one in names if one not in failures):
        if not opened.catalog.resolve(name, overrides=original).is_original:
            continue
        try:  # what the corrected samples are seen beside
            opened.call_of(name, original).load()
        except RegistryError as error:
            failures[name] = error
    return failures


def _report(written: list[WrittenPage], stray: list[str], out: Path, *, as_json: bool) -> int:
    """Print what was written, and the problems; return the exit code."""
    broken = [page for page in written if page.problems]
    index = out / "index.html"
    if as_json:
        print_json(
            {
                "index": str(index),
                "pages": len(written),
                "with_samples": sum(page.has_samples for page in written),
                "broken": {page.name: page.problems for page in broken},
                "problems": stray,
            }
        )
    else:
        _print_problems(stray, broken)
        samples = sum(page.has_samples for page in written)
        counted = count_text(len(written), "dataset")
        print_line(f"{counted}, {samples:,} with samples, {len(broken):,} broken: {index}")
    return PROBLEMS if broken or stray else CLEAN


def _print_problems(stray: list[str], broken: list[WrittenPage]) -> None:
    """Print each problem once: a file with one has it in the pages of all its datasets."""
    lines = dict.fromkeys(stray)
    for page in broken:
        for text in page.problems:
            lines[text] = None
    for text in list(lines)[:_MOST_PROBLEMS]:
        print_line(f"error: {text}", err=True)
    if len(lines) > _MOST_PROBLEMS:
        more = count_text(len(lines) - _MOST_PROBLEMS, "more problem")
        print_line(f"{more} (--json lists all)", err=True)


def write_site(
    folder: SiteFolder,
    view: CatalogView,
    *,
    problems: Sequence[str] = (),
    processes: int = 1,
) -> Iterator[WrittenPage]:
    """Write the pages of a catalog; yield each dataset when its page is written.

    Raises:
        ExportError: a file can't be written.
    """
    folder.begin([sample_file(name, 1) for name in view.names])
    for name in (STYLE, *SCRIPTS):
        folder.write(f"assets/{name}", asset(name))
    rows = []
    for page in write_pages(folder.path, view, processes=processes):
        for file in page.files:
            folder.note(file)
        rows.append(page.row)
        yield page
    listed = folded(rows, view.families())
    chunks = list(search_chunks(unfolded(listed)))
    for number, chunk in enumerate(chunks):
        folder.write(f"search/{number}.js", chunk)
    shown = [view.paths.shorten(problem) for problem in problems]
    for file, text in list_pages(
        listed, about=view.about, chunks=len(chunks), problems=shown, groups=view.groups
    ):
        folder.write(file, text)
    folder.finish()
