"""The styles, scripts and templates of the pages; untrusted text is made visible in them."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from registry.api import cut, file_stem, sample_css, start_of, visible

__all__ = [
    "LINKED_POLICY",
    "SCRIPTS",
    "STYLE",
    "asset",
    "cut",
    "encoded_size",
    "environment",
    "fitting",
    "html_size",
    "inline_policy",
    "linked_page",
    "render",
    "search_word",
    "shorten",
    "standalone_page",
    "start_of",
    "visible",
]


_Item = TypeVar("_Item")

STYLE = "registry.css"
SCRIPTS = ("theme.js", "search.js", "dataset.js", "explore.js")
"""All scripts; `theme.js` runs before the page is drawn."""

_COMMON = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; img-src 'self' data:; media-src data:"
)
LINKED_POLICY = f"{_COMMON}; style-src 'self'; script-src 'self'"
"""For pages with files beside them. Chromium and Firefox take `'self'` for files of file:// too."""


@functools.cache
def asset(name: str) -> str:
    """Return the text of a style or script."""
    text = (Path(__file__).parent / "assets" / name).read_text(encoding="utf-8")
    return text + sample_css() if name == STYLE else text


def inline_policy(styles: Iterable[str], scripts: Iterable[str]) -> str:
    """Return the policy of a page that has its styles and scripts in it, and runs no others."""
    by_hash = (
        f"{kind} {' '.join(map(_source, texts))}"
        for kind, texts in (("style-src", styles), ("script-src", scripts))
    )
    return "; ".join([_COMMON, *by_hash])


def _source(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def html_size(text: str) -> int:
    """Return the number of bytes of a text in the file of a page."""
    shown = visible(text)
    size = len(shown) if shown.isascii() else len(shown.encode())
    # Escaping each text only to measure it would take as long as the rest of a page.
    return size + sum(map(shown.count, "<>")) * 3 + sum(map(shown.count, "&\"'")) * 4


def encoded_size(html: str) -> int:
    """Return the number of bytes of HTML."""
    return len(html.encode())


def fitting(items: Iterable[_Item], most: int, size: Callable[[_Item], int]) -> Iterator[_Item]:
    """Yield the first items, as many as there is room for in so many bytes."""
    for one in items:
        most -= size(one)
        if most < 0:
            return
        yield one


def search_word(text: str) -> str:
    """Return a tag as one word of a search, which finds the tag as the list has it."""
    return "_".join(visible(start_of(text)).split())


def shorten(text: str, most: int) -> str:
    """Return a text, or its start and how much of it is not shown."""
    shown, note = cut(text, most)
    return f"{shown}… ({note})" if note else shown


@functools.cache
def environment() -> Environment:
    """Return the environment of the templates."""
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {"short": shorten, "search_word": search_word, "file_stem": file_stem}
    return made


def _finalize(value: Any) -> Any:
    """Make the invisible visible, in every value that a template shows."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value)
    return value


def render(template: str, **values: Any) -> Markup:
    """Return a template as HTML, for use in other templates."""
    # It has escaped the values.
    return Markup(environment().get_template(template).render(**values))  # nosec B704 # noqa: S704


def linked_page(
    template: str,
    *,
    base: str,
    scripts: Sequence[str] = (),
    policy: str = LINKED_POLICY,
    **values: Any,
) -> str:
    """Return a page whose styles and scripts are files below `{base}assets/`.

    Args:
        template: A template that extends `base.html`.
        base: The relative path from the page to the top of the site, empty or with a `/`.
        scripts: Names of scripts, in the order they run, after the page is read.
        policy: The Content-Security-Policy.
        **values: What the template shows.
    """
    head = {"inline": False, "base": base, "scripts": scripts, "policy": policy}
    return str(render(template, **head, **values))


def standalone_page(
    template: str, *, styles: Sequence[str] = (), scripts: Sequence[str] = (), **values: Any
) -> str:
    """Return a page with its styles and scripts in it.

    Args:
        template: A template that extends `base.html`.
        styles: Names of styles besides that of all pages.
        scripts: Names of scripts.
        **values: What the template shows.
    """
    style = "\n".join(map(asset, (STYLE, *styles)))
    theme, *others = map(asset, ("theme.js", *scripts))
    policy = inline_policy([style], [theme, *others])
    # They are ours, and a hash in the policy names each: not one character may be escaped.
    texts = {
        "style": Markup(style),  # nosec B704 # noqa: S704
        "theme": Markup(theme),  # nosec B704 # noqa: S704
        "scripts": [Markup(one) for one in others],  # nosec B704 # noqa: S704
    }
    return str(render(template, inline=True, base="", policy=policy, **texts, **values))
