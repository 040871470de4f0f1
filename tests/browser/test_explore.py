"""The table of all samples in Chromium: from scripts as from a server, by mouse as by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Visit, address_of, browse


@pytest.fixture(scope="module")
def address(site: Path, catalog: Path) -> Iterator[str]:
    """Start a server of the catalog, whose samples the site has built; yield its address."""
    with browse(catalog, site.parent / "cache") as process:
        yield address_of(process)


def numbers(page: Any) -> list[str]:
    """Return the numbers of the samples in the table."""
    found: list[str] = page.locator("#table tbody th button").all_text_contents()
    return found


def counts(page: Any) -> dict[str, list[str]]:
    """Return the groups of each facet as they are seen."""
    facets = page.locator("fieldset.facet").all()
    return {
        one.locator("legend").text_content(): one.locator("label").all_text_contents()
        for one in facets
    }


def walk(page: Any) -> list[Any]:
    """Search, choose, sort and turn pages; return what the table showed after each step."""
    page.locator("#table tbody tr").first.wait_for()
    seen: list[Any] = [(numbers(page), counts(page))]

    def look(expected: str) -> None:
        page.locator("#table-place", has_text=expected).wait_for()
        seen.append((numbers(page), counts(page), page.locator("#find-status").text_content()))

    find = page.get_by_role("searchbox")
    find.fill("QUESTION word")
    look("of 12")
    facet = page.locator("fieldset.facet", has_text="metadata.level")
    facet.get_by_role("checkbox").nth(1).check()
    look("of 4")
    facet.get_by_role("checkbox").nth(2).check()
    look("of 8")
    page.get_by_role("button", name="Sort by input", exact=True).click()
    page.locator("th[aria-sort=ascending]", has_text="input").wait_for()
    seen.append(numbers(page))
    page.get_by_role("button", name="Sort by input", exact=True).click()
    page.locator("th[aria-sort=descending]", has_text="input").wait_for()
    seen.append(numbers(page))
    find.fill("nowhere at all")
    page.locator("#find-status", has_text="0 of 24").wait_for()
    seen.append(numbers(page))
    find.press("Escape")
    look("of 16")
    return seen


def test_scripts_and_server_show_the_same(site: Path, address: str, visit: Visit) -> None:
    from_scripts = walk(visit(f"{site.as_uri()}/datasets/planets.html"))
    page = visit(address)
    page.wait_for_url("**/")
    page.goto(page.url.replace("/?", "/") + "datasets/planets.html")
    from_server = walk(page)
    assert from_scripts == from_server
    first, *_ = from_scripts
    assert first[0] == [str(number) for number in range(1, 25)]
    ascending, descending = from_scripts[4:6]
    assert ascending == ["12", "14", "18", "20", "2", "24", "6", "8"]
    assert descending == ascending[::-1]


def test_row_opens_by_keyboard_and_leads_to_the_sample(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/datasets/planets.html")
    row = page.get_by_role("button", name="Sample 22, all of it")
    row.focus()
    page.keyboard.press("Enter")
    assert row.get_attribute("aria-expanded") == "true"
    whole = page.locator("tr.whole")
    assert '"long": "word word' in whole.inner_text().replace('":"', '": "')
    whole.get_by_role("link").click()
    page.wait_for_url("**/samples/planets@21.html#sample-22")
    assert page.evaluate("document.querySelector('article.current')?.dataset.id") == "planet 21/é"


def test_columns_can_be_chosen(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/datasets/planets.html")
    page.locator("summary", has_text="Columns of the table").click()
    box = page.locator("#table-columns").get_by_role("checkbox", name="choices", exact=True)
    column = page.get_by_role("button", name="Sort by choices", exact=True)
    assert column.count() == 1
    box.uncheck()
    column.wait_for(state="detached")
    box.check()
    column.wait_for()


def test_address_has_the_question(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/datasets/planets.html")
    page.locator("#table tbody tr").first.wait_for()
    page.keyboard.press("/")
    page.keyboard.type("question word")
    page.locator("fieldset.facet", has_text="metadata.level").get_by_role("checkbox").first.check()
    page.locator("#table-place", has_text="of 4").wait_for()
    again = visit(page.url)
    again.locator("#table-place", has_text="of 4").wait_for()
    assert again.get_by_role("searchbox").input_value() == "question word"
    assert numbers(again) == numbers(page)


def test_table_replaces_the_plots_that_it_repeats(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/datasets/planets.html")
    page.locator("fieldset.facet").first.wait_for()
    assert page.locator("figure:visible").count() == 0
    without = visit(f"{site.as_uri()}/datasets/planets.html", java_script_enabled=False)
    assert without.locator("figure:visible").count() >= 4
    assert not without.locator("#explorer").is_visible()


def test_hostile_samples_stay_texts(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/datasets/hostile.html")
    page.locator("#table tbody tr").first.wait_for()
    for button in page.locator("#table tbody th button").all():
        button.click()
    assert page.locator("tr.whole").count() == 10
    assert page.title() == "hostile"
    assert page.locator("#table script, #table img, #table iframe, #table style").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 1000
