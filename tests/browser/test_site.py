"""The site in Chromium: search, samples, keys, themes, widths, hostile data."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from registry import MemoryDataset, Sample
from registry.plugins.site.environment import LINKED_POLICY
from tests.browser.conftest import Visit, assert_axe_finds_nothing
from tests.gallery import FORMULA

PAGES = (
    "index.html",
    "index.html#q=planet",
    "list/2.html",
    "datasets/planets.html",
    "samples/planets@21.html",
    "datasets/talks.html",
    "datasets/gallery.html",
    "samples/gallery@21.html",
    "samples/gallery@41.html",
    "datasets/hostile.html",
    "datasets/fixed.html",
    "compare/fixed~original@fixed@1.html",
    "datasets/unbuilt.html",
    "datasets/broken.html",
)


def names(page: Any) -> list[str]:
    """Return the names of the datasets in the list."""
    found: list[str] = page.locator("#results a.name").all_text_contents()
    return found


def current(page: Any) -> Any:
    """Return the id of the sample that the keys have reached."""
    return page.evaluate("document.querySelector('article.current')?.dataset.id")


def focused(page: Any) -> Any:
    """Return what has the focus: an id, or the text."""
    return page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()")


def test_search_finds_while_typing(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/index.html")
    assert len(names(page)) > 100
    page.get_by_role("searchbox").press_sequentially("planets")
    status = page.get_by_role("status")
    status.get_by_text("datasets").wait_for()
    assert names(page)[:2] == ["planets", "planets-small"]
    assert page.url.endswith("#q=planets")
    page.get_by_role("searchbox").press_sequentially(" five")
    assert names(page) == ["planets-small"]
    assert status.text_content() == "1 dataset"
    page.get_by_role("searchbox").press("Escape")
    assert len(names(page)) > 100


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("tag:astronomy tag:mcq", ["planets", "planets-small"]),
        ("license:mit", ["talks", "unbuilt"]),
        ("language:te", ["unbuilt"]),
        ("brazilian", ["unbuilt"]),
        ("column:options description", []),
        ("column:options five", ["planets-small"]),
        (
            "column:question tag:many 17",
            ["many-017", "many-117", *(f"many-{n}" for n in range(170, 180)), "many-217"],
        ),
        ("is:broken", ["broken", "unbuilt"]),
        ("is:cached conversations", ["talks"]),
        ("<b>bold</b>", ["hostile"]),
        ("tag:two_words", ["hostile"]),
        ("constructor:x", []),
        ("nothing has this", []),
    ],
)
def test_search_reads_every_part(site: Path, visit: Visit, query: str, found: list[str]) -> None:
    page = visit(f"{site.as_uri()}/index.html")
    page.get_by_role("searchbox").fill(query)
    page.locator("#search-status", has_text="dataset").wait_for()
    assert names(page) == found[:100]


def test_all_results_can_be_reached(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/index.html#q=tag:many")
    status = page.locator("#search-status", has_text="230 datasets, the first 100 are shown")
    status.wait_for()
    more = page.get_by_role("button", name="Show all 230 datasets")
    page.locator("#results a.name").last.press("ArrowDown")  # goes through results only
    assert focused(page) == names(page)[-1]
    more.focus()
    more.press("Enter")
    assert len(names(page)) == 230
    assert focused(page) == names(page)[100]
    assert not more.is_visible()
    page.get_by_role("searchbox").fill("many")
    page.locator("#search-status", has_text="the first 100 are shown").wait_for()
    page.get_by_role("searchbox").fill("planets")
    assert not more.is_visible()


def test_list_is_filtered_and_sorted(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/index.html")
    page.locator("#filters summary").click()
    page.get_by_role("link", name="mit 2").click()
    page.locator("#search-status", has_text="2 datasets").wait_for()
    page.get_by_role("link", name="broken 2").click()
    page.locator("#search-status", has_text="1 dataset").wait_for()
    assert page.get_by_role("searchbox").input_value() == "license:mit is:broken"
    assert names(page) == ["unbuilt"]
    page.get_by_role("link", name="broken 2").click()
    page.locator("#search-status", has_text="2 datasets").wait_for()
    page.get_by_role("searchbox").fill("")
    page.get_by_role("link", name="Brazilian Portuguese 1").click()
    page.locator("#search-status", has_text="1 dataset").wait_for()
    assert page.get_by_role("searchbox").input_value() == "language:pt-BR"
    page.get_by_role("searchbox").fill("")
    page.get_by_label("Sort by").select_option("samples")
    page.locator("#search-status", has_text="datasets").wait_for()
    assert names(page)[0] == "gallery"


@pytest.mark.parametrize(
    ("query", "meant", "found"),
    [
        ("plaents-smal five", "planets-small", ["planets-small"]),
        ("astronmy", "astronomy", ["planets", "planets-small"]),
        ("conversatoin", "conversations", ["talks"]),
        ("conversatoin xyzw", "conversations", []),
        ("xyzw", "", []),
    ],
)
def test_search_finds_what_is_like_a_word_that_is_nowhere(
    site: Path, visit: Visit, query: str, meant: str, found: list[str]
) -> None:
    page = visit(f"{site.as_uri()}/index.html")
    page.get_by_role("searchbox").fill(query)
    status = page.locator("#search-status", has_text="dataset")
    status.wait_for()
    assert names(page)[:2] == found
    word = query.partition(" ")[0]
    told = f". No dataset has \u201c{word}\u201d: showing {meant}" if meant else ""
    count = "1 dataset" if len(found) == 1 else f"{len(names(page))} datasets"
    assert status.text_content() == f"{count}{told}"


def test_back_leads_from_a_tag_to_the_list(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/index.html")
    before = names(page)
    tags = page.get_by_role("region", name="Tags")
    tags.get_by_role("link", name="astronomy 2").click()
    page.locator("#search-status", has_text="2 datasets").wait_for()
    assert not tags.is_visible()
    page.go_back()
    tags.wait_for()
    assert page.get_by_role("searchbox").input_value() == ""
    assert names(page) == before


def test_link_to_a_tag_leads_to_its_datasets(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/datasets/planets.html")
    page.get_by_role("link", name="astronomy").click()
    page.locator("#search-status", has_text="dataset").wait_for()
    assert names(page) == ["planets", "planets-small"]
    assert page.get_by_role("searchbox").input_value() == "tag:astronomy"
    page.get_by_role("link", name="mcq").first.click()
    expect = pytest.importorskip("playwright.sync_api", reason="no playwright").expect
    expect(page.get_by_role("searchbox")).to_have_value("tag:mcq")


def test_link_to_a_tag_with_spaces_leads_to_its_dataset(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/datasets/hostile.html")
    page.get_by_role("link", name="Two words").click()
    page.locator("#search-status", has_text="dataset").wait_for()
    assert names(page) == ["hostile"]
    page.locator("#results a.tag", has_text="words").click()
    page.locator("#search-status", has_text="1 dataset").wait_for()


def test_list_and_search_work_by_keyboard(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/index.html")
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to content"
    page.keyboard.press("Tab")
    assert focused(page) == "theme"
    page.keyboard.press("/")
    assert focused(page) == "search"
    page.keyboard.type("planets")
    page.locator("#search-status", has_text="dataset").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert focused(page) == "planets-small"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert focused(page) == "search"
    page.keyboard.press("Enter")
    page.wait_for_url("**/datasets/planets.html")


def test_samples_show_the_target(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/datasets/planets.html")
    assert page.locator("article.sample").count() == 20
    first = page.locator("article.sample").nth(1)
    assert first.locator(".choices .target").inner_text().split() == ["B", "Venus", "target"]
    assert first.locator("dl").inner_text().split()[:2] == ["metadata.level", "1"]
    first.locator("summary").first.click()
    assert '"target": "B"' in first.locator("details").first.text_content()
    record = first.locator("details", has_text="Record")
    record.locator("summary").click()
    assert '"answer": "B"' in record.inner_text()
    assert page.locator("svg.plot").count() >= 2


def test_link_leads_to_a_sample(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/datasets/planets.html#sample=planet%207%2F%C3%A9")
    assert current(page) == "planet 7/é"
    assert page.locator("article.current").bounding_box()["y"] < 400
    page.get_by_role("link", name="planet 9/é").click()
    page.locator("article.current", has_text="Question 9:").wait_for()
    # Within the page: `goto` does not wait for the event of a new fragment.
    page.goto(f"{site.as_uri()}/datasets/planets.html#sample=none")
    page.get_by_role("status").filter(has_text="The sample none is not on this page.").wait_for()


def test_keys_go_from_sample_to_sample(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/datasets/planets.html")
    for key, expected in (("j", 0), ("j", 1), ("j", 2), ("k", 1), ("k", 0), ("k", 0)):
        page.keyboard.press(key)
        assert current(page) == f"planet {expected}/é"
        assert focused(page) == f"sample-{expected + 1}"


def test_keys_and_links_go_on_to_the_next_page_of_samples(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/datasets/planets.html#sample-20")
    assert current(page) == "planet 19/é"
    page.keyboard.press("j")
    page.wait_for_url("**/samples/planets@21.html#sample-21")
    assert current(page) == "planet 20/é"
    assert page.get_by_text("21 to 24 of 24").is_visible()
    for _ in range(4):
        page.keyboard.press("j")
    assert current(page) == "planet 23/é"
    page.get_by_role("link", name="Previous samples").first.click()
    page.wait_for_url("**/datasets/planets.html")
    page.get_by_role("link", name="Next samples").last.click()
    page.wait_for_url("**/samples/planets@21.html")
    page.keyboard.press("k")
    page.keyboard.press("k")
    assert current(page) == "planet 22/é"
    page.goto(f"{site.as_uri()}/samples/planets@21.html#sample-21")
    page.locator('article.current[data-id="planet 20/é"]').wait_for()
    page.keyboard.press("k")
    page.wait_for_url("**/datasets/planets.html#sample-20")
    assert current(page) == "planet 19/é"


def test_code_is_copied(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/datasets/planets.html")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy: Python", exact=True).click()
    page.locator("button", has_text="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == 'from registry import get_dataset\n\ndataset = get_dataset("planets")'


def test_conversation_has_bubbles_code_and_pictures(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/datasets/talks.html")
    first = page.locator("article.sample").first
    # As seen: the name of a tool must keep its capital letters.
    assert first.locator(".role").all_inner_texts() == ["system", "user", "assistant", "user"]
    assert "for line in open(name):" in first.locator("pre code").first.text_content()
    picture = first.get_by_role("img", name="Image of the sample")
    assert picture.evaluate("(image) => image.decode().then(() => image.naturalWidth)") == 32
    second = page.locator("article.sample").nth(1)
    assert "https://example.com/x.png" in second.text_content()
    assert second.locator("img").count() == 0


def test_broken_datasets_say_why(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/datasets/broken.html")
    assert "$.datasets.broken" in page.locator(".notice.bad").text_content()
    page = visit(f"{site.as_uri()}/datasets/unbuilt.html")
    assert "Its source can't be read." in page.locator("main").text_content()


@pytest.mark.parametrize("path", PAGES)
def test_nothing_is_wider_than_a_narrow_screen(site: Path, visit: Visit, path: str) -> None:
    page = visit(f"{site.as_uri()}/{path}", viewport={"width": 360, "height": 640})
    page.wait_for_load_state()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    wide = """() => [...document.querySelectorAll("main *")].filter((one) => {
        const box = one.getBoundingClientRect();
        return box.right > 361 && box.width > 0 && !one.closest("article, .skip, svg, .scroll");
    }).map((one) => one.outerHTML.slice(0, 80))"""
    assert page.evaluate(wide) == []


def background(page: Any) -> str:
    """Return the colour of the page."""
    found: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return found


def test_theme_follows_the_system_until_it_is_chosen(site: Path, visit: Visit) -> None:
    light = visit(f"{site.as_uri()}/index.html", color_scheme="light")
    dark = visit(f"{site.as_uri()}/index.html", color_scheme="dark")
    assert (background(light), background(dark)) == ("rgb(255, 255, 255)", "rgb(15, 19, 23)")
    button = light.get_by_role("button", name="Theme")
    for text, colour in (
        ("Theme: light", "rgb(255, 255, 255)"),
        ("Theme: dark", "rgb(15, 19, 23)"),
    ):
        button.click()
        assert (button.text_content(), background(light)) == (text, colour)
    light.goto(f"{site.as_uri()}/datasets/planets.html")
    assert background(light) == "rgb(15, 19, 23)"


def test_pages_can_be_read_without_javascript(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/index.html", java_script_enabled=False)
    assert len(names(page)) > 100
    assert not page.locator("#search").is_visible()
    assert page.get_by_text("The search needs JavaScript").is_visible()
    page.get_by_role("link", name="2", exact=True).click()
    page.wait_for_url("**/list/2.html")
    assert names(page)[-1] == "unbuilt"
    page.goto(f"{site.as_uri()}/datasets/planets.html")
    assert page.locator("article.sample:visible").count() == 20
    assert not page.locator("#find").is_visible()


@pytest.mark.parametrize("has_script", [True, False])
def test_original_is_seen_beside_corrected(site: Path, visit: Visit, has_script: bool) -> None:
    page = visit(f"{site.as_uri()}/datasets/fixed.html", java_script_enabled=has_script)
    page.get_by_role("link", name="Original beside corrected").click()
    page.wait_for_url("**/compare/fixed~original@fixed@1.html")
    assert page.get_by_role("link", name="2 changed").is_visible()
    first = page.locator("article").first
    assert (first.locator("del").text_content(), first.locator("ins").text_content()) == (
        "One",
        "Two",
    )
    sides = first.locator(".beside")
    assert [one.locator("strong").text_content() for one in sides.all()] == ["One", "Two"]
    left, right = (one.bounding_box() for one in sides.all())
    assert left["y"] == right["y"]
    assert sides.locator("math").count() == 2
    assert page.locator("article script").count() == 0
    if has_script:
        for _ in range(3):
            page.keyboard.press("j")
        assert current(page) == "id 3"


def test_hostile_data_is_only_text(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/datasets/hostile.html")
    assert page.title() == "hostile"
    assert page.locator("iframe, article script, article style, article img").count() == 0
    assert page.locator("main").is_visible()
    text = page.locator("main").text_content()
    for part in (
        "<script>document.title='owned'</script>",
        "\\u{202e}gnp.exe\\u{202c}",
        "\\u{0}\\u{7}\\u{1b}[31m",
        "{{ 7 * 7 }}",
        "1,994,000 more characters of 2,000,000 not shown",
    ):
        assert part in text
    assert not set(text) & set("\u202e\u202c\u2066\u200b\ufeff\x00\x1b")
    assert len((site / "datasets" / "hostile.html").read_bytes()) < 300_000
    page = visit(f"{site.as_uri()}/index.html#q=hostile")
    page.locator("#search-status", has_text="1 dataset").wait_for()
    assert page.locator("#results script, #results img").count() == 0
    assert page.title() == "catalog"


@pytest.mark.parametrize(
    ("scheme", "path"),
    [
        *(("light", path) for path in PAGES),
        # The colours of all that there is.
        *(("dark", path) for path in ("index.html#q=is:broken", "samples/gallery@21.html")),
        ("dark", "compare/fixed~original@fixed@1.html"),
        *(("dark", f"datasets/{name}.html") for name in ("planets", "broken")),
    ],
)
def test_axe_finds_nothing(site: Path, visit: Visit, scheme: str, path: str) -> None:
    page = visit(f"{site.as_uri()}/{path}", color_scheme=scheme)
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    assert_axe_finds_nothing(page)


class Strict(http.server.SimpleHTTPRequestHandler):
    """Serves files with the policy as a header."""

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", f"{LINKED_POLICY}; frame-ancestors 'none'")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


@pytest.fixture
def served(site: Path) -> Iterator[str]:
    """Serve the site, and return its address."""
    handler = functools.partial(Strict, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_site_works_under_the_policy_of_a_server(served: str, visit: Visit) -> None:
    page = visit(f"{served}/index.html")
    page.get_by_role("searchbox").fill("talks")
    page.locator("#search-status", has_text="1 dataset").wait_for()
    page.get_by_role("link", name="talks", exact=True).click()
    page.wait_for_url("**/datasets/talks.html")
    page.keyboard.press("j")
    assert current(page) == "talk-1"
    picture = page.get_by_role("img", name="Image of the sample")
    assert picture.evaluate("(image) => image.decode().then(() => image.naturalWidth)") == 32


NBCONVERT = """<meta charset="utf-8">
<style>:not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon td { text-align: right; }</style>
<div class="jp-RenderedHTMLCommon">{}</div>"""


def test_notebooks_align_texts_and_tables_at_the_start(chromium: Any) -> None:
    sample = Sample("Let $x$ be\n\n|a|b|\n|-|-|\n|1|2|", ["one", "two"], "A", metadata={"k": "v"})
    html = MemoryDataset([sample])._repr_html_() + sample._repr_html_()
    page = chromium.new_page()
    page.set_content(NBCONVERT.replace("{}", html))
    for cell in page.locator(".registry-repr :is(td, th, .text, dd, li)").all():
        assert cell.evaluate("one => getComputedStyle(one).textAlign") == "start"
    page.get_by_text("Rendered").click()
    assert page.locator("math").bounding_box()["width"] > 0
    border = page.locator(".choices .target").evaluate("one => getComputedStyle(one).borderColor")
    assert border != page.locator(".choices li").last.evaluate(
        "one => getComputedStyle(one).borderColor"
    )
    page.close()


def test_text_begins_at_the_side_of_its_own_script(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/datasets/gallery.html")
    middle = page.viewport_size["width"] / 2
    for key, is_left in (("arabic", False), ("hebrew", False), ("telugu", True)):
        text = page.locator(f'[data-id="{key}"] .message .text')
        left = text.evaluate(
            "one => { const range = document.createRange(); range.selectNodeContents(one);"
            " return range.getBoundingClientRect().left; }"
        )
        assert (left < middle) == is_left


def test_raw_text_and_all_lines_are_one_click_away(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/datasets/gallery.html", java_script_enabled=False)
    formula = page.locator('[data-id="formula"] .message')
    assert formula.locator("math").count() == 2
    formula.get_by_text("Raw text").click()
    assert not formula.locator(".drawn").is_visible()
    assert formula.get_by_text(FORMULA).is_visible()
    page.goto(f"{site.as_uri()}/samples/gallery@21.html")
    long = page.locator('[data-id="long-lines"]')
    before = long.bounding_box()["height"]
    long.get_by_label("all 119 lines").check()
    assert long.bounding_box()["height"] > 2 * before


def test_players_and_pictures_of_the_gallery_work(site: Path, visit: Visit) -> None:
    page = visit(f"{site.as_uri()}/samples/gallery@21.html")
    for key, why in (("damaged", "it can't be decoded"), ("no-picture", "does not begin as")):
        assert why in page.locator(f'[data-id="picture-{key}"]').text_content()
    page.goto(f"{site.as_uri()}/samples/gallery@41.html")
    loaded = "one => new Promise(done => { const end = () => done(one.duration);"
    loaded += " one.readyState ? end() : one.addEventListener('loadedmetadata', end); })"
    assert page.locator("audio").evaluate(loaded) == 0.25


@pytest.mark.parametrize("file", ["datasets/gallery", "samples/gallery@21", "samples/gallery@41"])
@pytest.mark.parametrize("width", [360, 830, 1280])
def test_gallery_fits_the_page_and_runs_nothing(
    site: Path, visit: Visit, file: str, width: int
) -> None:
    page = visit(f"{site.as_uri()}/{file}.html", viewport={"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.title() != "owned"
    assert page.locator("article :is(script, iframe, a[href^=javascript], [style])").count() == 0
    assert (site / f"{file}.html").stat().st_size < 300_000
