"""How many bytes of a page the texts and pictures of a sample may take."""

from __future__ import annotations

from registry.plugins.site.text import content_html, cut

__all__ = ["Allowance"]


class Allowance:
    """How many bytes of a page some texts, and some pictures, may take together."""

    def __init__(self, size: int, *, pictures: int = 0) -> None:
        self.left = size
        self.pictures = pictures

    def take(self, text: str, most: int) -> tuple[str, str]:
        """Return the start of a text as HTML, and a note of what is left out of it.

        Args:
            text: The text; at most `most` characters of it are shown.
            most: How many characters.
        """
        html = content_html(text[:most])
        size = _bytes(html)
        if size > max(self.left, 0):
            # A character takes up to 10 bytes, so that the share that fits is an estimate.
            most = min(most, len(text)) * max(self.left, 0) // size
            html = content_html(text[:most])
            size = _bytes(html)
        self.left -= size
        return html, cut(text, most)[1]


def _bytes(html: str) -> int:
    return len(html) if html.isascii() else len(html.encode())
