"""Write the pages of a catalog to a folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from registry.plugins.site.catalog_view import CatalogView
from registry.plugins.site.environment import SCRIPTS, STYLE, asset
from registry.plugins.site.home_page import folded, list_pages, search_chunks, unfolded
from registry.plugins.site.page_workers import WrittenPage, write_pages
from registry.plugins.site.sample_pages import sample_file
from registry.plugins.site.site_folder import SiteFolder

__all__ = ["write_site"]


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
