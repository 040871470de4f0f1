"""Render the templates of the pages: every value is escaped, and a missing one is an error."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from registry.plugins.site.assets import LINKED_POLICY, STYLE, asset, inline_policy
from registry.plugins.site.text import search_word, shorten, visible

__all__ = ["environment", "linked_page", "render", "standalone_page"]


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
    made.filters |= {"short": shorten, "search_word": search_word}
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
