"""The page of a diff in Chromium: keys, filters, widths, themes, hostile data, axe-core."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from registry.diff.models import Chunk, Example, FieldChange
from registry.diff.severity import ChangeClass
from registry.plugins.site.diff_page import diff_page
from tests.browser.conftest import Visit, assert_axe_finds_nothing
from tests.cli.diffs import EVIL, change, diff_of, untrusted_diff

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(2)>\u202e"


@pytest.fixture(scope="module")
def review(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write the page of a diff of three datasets, and return its address."""
    made = diff_of(
        change("first", "old words", "new words", kind=ChangeClass.TARGETS),
        change("second", "a", "b", kinds=(ChangeClass.INPUTS, ChangeClass.DOCUMENTATION)),
        replace(change("third", "a", "b", kinds=()), status="added", keys=()),
    )
    return written(tmp_path_factory, diff_page(made))


def written(folders: pytest.TempPathFactory, page: str) -> str:
    file: Path = folders.mktemp("review") / "review.html"
    file.write_text(page, encoding="utf-8")
    return file.as_uri()


def current(page: Any) -> Any:
    """Return the title of the change that the keys have reached."""
    return page.evaluate("document.querySelector('.current h2, .current h3')?.textContent.trim()")


def test_keys_and_buttons_go_from_change_to_change(review: str, visit: Visit) -> None:
    page = visit(review)
    place = page.locator("#place")
    assert place.text_content() == "0 of 9"
    found = []
    for _ in range(4):
        page.keyboard.press("j")
        found.append(current(page))
    assert found == ["first", "changed id first", "added id first", "second"]
    assert place.text_content() == "4 of 9"
    assert page.evaluate("document.activeElement.className") == "change current"
    page.keyboard.press("k")
    assert current(page) == "added id first"
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Previous").click()
    assert current(page) == "added id first"
    for _ in range(20):
        page.keyboard.press("j")
    assert current(page) == "added id third"
    assert place.text_content() == "9 of 9"


def test_datasets_are_reached_by_links_and_keys(review: str, visit: Visit) -> None:
    page = visit(review)
    found = []
    for key in ("J", "j", "J", "J", "J", "k", "K", "K"):
        page.keyboard.press(f"Shift+{key}" if key.isupper() else key)
        found.append(current(page))
    steps = ["first", "changed id first", "second", "third", "third", "added id second"]
    assert found == [*steps, "second", "first"]
    page.get_by_role("link", name="third").click()
    # The address changes before the page hears of it.
    page.wait_for_function("document.querySelector('.current h2')?.textContent.trim() === 'third'")
    assert page.url.endswith("#change-3")
    assert current(visit(f"{review}#change-2")) == "second"
    page.get_by_role("checkbox", name="targets").uncheck()
    links = page.get_by_role("navigation", name="Datasets").get_by_role("link")
    assert links.all_text_contents() == ["second", "third"]


def test_filters_choose_classes(review: str, visit: Visit) -> None:
    page = visit(review)
    page.get_by_role("checkbox", name="targets").uncheck()
    assert page.locator("section.change:visible h2").all_text_contents() == ["second", "third"]
    assert page.locator("#place").text_content() == "0 of 6"
    page.keyboard.press("j")
    assert current(page) == "second"
    page.get_by_role("checkbox", name="inputs").uncheck()
    # It has another class, which is still chosen.
    assert page.locator("section.change:visible").count() == 2
    page.get_by_role("checkbox", name="documentation").uncheck()
    page.keyboard.press("j")
    assert current(page) == "third"
    page.get_by_role("checkbox", name="added").uncheck()
    assert page.get_by_text("Nothing is chosen.").is_visible()
    page.keyboard.press("j")
    page.get_by_role("checkbox", name="targets").press("Space")
    assert page.locator("section.change:visible h2").all_text_contents() == ["first"]


def test_sides_stand_beside_each_other_or_below_on_a_narrow_screen(
    review: str, visit: Visit
) -> None:
    for width, beside in ((1000, True), (360, False)):
        page = visit(review, viewport={"width": width, "height": 640})
        sides = page.locator(".sides").first.locator(".side")
        before, after = (sides.nth(n).bounding_box() for n in (0, 1))
        assert (before["y"] == after["y"]) == beside
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_page_can_be_read_without_javascript(review: str, visit: Visit) -> None:
    page = visit(review, java_script_enabled=False)
    assert page.locator("section.change:visible").count() == 3
    assert page.locator(".toolbar:visible").count() == 0


@pytest.mark.parametrize("text", [EVIL, HOSTILE])
def test_hostile_text_is_only_text(
    text: str, tmp_path_factory: pytest.TempPathFactory, visit: Visit
) -> None:
    page = visit(written(tmp_path_factory, diff_page(untrusted_diff(text))))
    assert page.title().startswith("Review: ")
    assert page.locator("main script, main img, main b, section details").count() == 0
    assert text[:9] in page.locator("main").text_content()
    page.keyboard.press("j")
    assert page.evaluate("document.documentElement.scrollWidth") == 1000


def test_page_of_many_samples_is_ready_at_once(
    tmp_path_factory: pytest.TempPathFactory, visit: Visit
) -> None:
    chunks = (Chunk("=", "Some words "), Chunk("-", "old "), Chunk("+", "new " * 100))
    fields = (FieldChange("input", chunks), FieldChange("target", chunks))
    one = change("d", "a", "b")
    assert one.samples is not None
    samples = replace(
        one.samples,
        changed=20_000,
        examples=tuple(Example("changed", f"id {n}", fields) for n in range(20_000)),
    )
    page = visit(written(tmp_path_factory, diff_page(diff_of(replace(one, samples=samples)))))
    assert "more examples not shown, as the page is full" in page.locator("main").text_content()
    count = page.locator("article").count()
    assert 2_000 < count < 20_000
    page.keyboard.press("k")
    assert page.locator("#place").text_content() == f"{count + 1} of {count + 1}"
    page.get_by_role("checkbox").uncheck()
    assert page.locator("section.change:visible").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(review: str, visit: Visit, scheme: str) -> None:
    page = visit(review, color_scheme=scheme)
    page.keyboard.press("j")
    assert_axe_finds_nothing(page)
