"""The gallery: samples that are hard to show, as a catalog of one dataset that each surface renders."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from pathlib import Path
from typing import Any

__all__ = [
    "FORMULA",
    "GALLERY",
    "HOSTILE",
    "MANIFEST",
    "SCRIPT",
    "picture",
    "sound",
    "uri",
    "write_gallery",
    "write_records",
]

FORMULA = r"\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2}"
SCRIPT = (
    "</script></code></math><script>document.title='owned'</script><img src=x onerror=alert(1)>"
)

MANIFEST = """\
datasets:
  gallery:
    description: Samples that are hard to show.
    license: cc0-1.0
    tags: [coding]
    source: {type: json, path: gallery.jsonl}
    fields:
      input: input
      choices: choices
      target: target
      id: key
      metadata: {"*": metadata}
    accept: [blank_targets, blank_inputs, repeated_choices]
"""


def picture(width: int = 32, height: int = 16) -> bytes:
    """Return a PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rows = b"".join(
        b"\0" + b"".join(bytes([8 * x % 256, 60, 16 * y % 256]) for x in range(width))
        for y in range(height)
    )
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def sound() -> bytes:
    """Return a second of a WAV of 8,000 samples of 8 bits."""
    data = bytes(128 + 60 * ((n // 10) % 2) for n in range(2_000))
    head = struct.pack("<IHHIIHH", 16, 1, 1, 8_000, 8_000, 1, 8)
    body = b"WAVEfmt " + head + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


def uri(kind: str, data: bytes) -> str:
    """Return a data URI."""
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def user(*parts: Any) -> list[dict[str, Any]]:
    """Return the messages of a user's one message."""
    return [{"role": "user", "content": list(parts)}]


def _call(name: str, **arguments: str) -> dict[str, Any]:
    return {"id": "1", "function": name, "arguments": arguments, "type": "function"}


_PNG = uri("image/png", picture())
_PYTHON = 'from typing import List\n\n\ndef close(xs: List[float]) -> bool:\n    """ Are two close?\n    >>> close([1.0])\n    False\n    """\n'
_TABLE = "| metal | density |\n|:------|--------:|\n| iron | 7.9 |\n| gold | 19.3 |"
_WIDE = (
    "| "
    + " | ".join(f"column {n}" for n in range(14))
    + " |\n|"
    + "---|" * 14
    + "\n| "
    + "1 | " * 14
)

HOSTILE: dict[str, str] = {
    "script": SCRIPT,
    "markdown-link": "[click](javascript:alert(1)) **b** [x](data:text/html,<script>alert(1)</script>)",
    "markdown-image": "![x](https://example.com/track.png) **b** ![](x onerror=alert(1))",
    "markdown-html": "**b** <img src=x onerror=alert(1)> <svg onload=alert(1)> <!-- hidden -->",
    "fence": "```html <script>\n" + SCRIPT + "\n```",
    "formula": r"$\text{<img src=x onerror=alert(1)>} \href{javascript:alert(1)}{x}$ and $\text{"
    + SCRIPT
    + "}$",
    "formula-style": r"$\style{position:fixed;inset:0}{x}$ $\class{skip}{y}$ $\color{white}{hidden}$ $x\phantom{hidden}y$ $a % hidden"
    "\n$",
    "formula-deep": "$" + "{" * 2_000 + "x" + "}" * 2_000 + "$ " + r"$\sqrt" * 300 + "$",
    "formula-macro": r"$\def\a{\a\a}\a$ $\newcommand{\b}{\b\b}\b$",
    "code": "import os\n" + f'x = "{SCRIPT}"\n# {SCRIPT}\n',
    "bidi": "\u202egnp.exe\u202c \u2066hidden\u2069 \u200b\ufeff\x00\x07\x1b[31m **b** $x\u202e$",
    "template": "javascript:alert(1) {{ 7 * 7 }} {% raw %} ${7*7}",
    "style": "</article></main><style>body{display:none}</style>",
    "private": "\ue0000\ue001 **b** $x$",
}

_TEXTS: dict[str, tuple[str, str]] = {
    "telugu": ("జానెట్ బాతులు రోజుకు 16 గుడ్లు పెడతాయి. రైతుల మార్కెట్‌లో ఆమె ఎంత సంపాదిస్తుంది?", "18"),
    "hindi": ("एक वस्त्र में 2 बोल्ट नीले फाइबर और उसका आधा सफेद फाइबर लगता है। कुल क्\u200dष कितने?", "3"),
    "kannada": ("ಒಂದು ನಿಲುವಂಗಿಗೆ 2 ಬೋಲ್ಟ್‌ಗಳು ಬೇಕು. ಒಟ್ಟು ಎಷ್ಟು?", "3"),
    "bengali": ("জ্যানেটের হাঁসগুলি প্রতিদিন 16টি ডিম পাড়ে। র\u200d্যাম?", "18"),
    "thai": ("เป็ดของเจเน็ตวางไข่ 16 ฟองต่อวัน เธอได้เงินกี่ดอลลาร์?", "18"),
    "chinese": ("珍妮特的鸭子每天下 16 颗蛋。她每天赚多少美元？", "18"),
    "japanese": ("ジャネットのアヒルは1日に16個の卵を産みます。", "18"),
    "korean": ("재닛의 오리는 하루에 16개의 알을 낳습니다.", "18"),
    "arabic": ("كم يساوي 3 + 4 = ؟ أجب برقم واحد.", "7"),
    "persian": ("می‌خواهم بدانم: کتاب‌ها چند تا هستند؟", "۷"),
    "hebrew": ("כמה זה 3 + 4? כתוב את המספר בלבד.", "7"),
    "mixed-directions": ("The word שלום (shalom) means peace; والسلام too.\nثم سطر عربي مع English.", "peace"),
    "emoji": ("A family 👨‍👩‍👧‍👦, a flag 🏴󠁧󠁢󠁥󠁮󠁧󠁿, skin 👍🏽, a keycap 1️⃣ and a heart ❤️.", "👨‍👩‍👧‍👦"),
    "combining": ("e\u0301 n\u0303 Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́O", "zalgo"),
    "formula": (rf"Show that \[{FORMULA}\] holds for $x \ge 0$.", r"$\frac{\sqrt\pi}{2}$"),
    "formula-lines": ("Solve:\n\\begin{align*}\nx + y &= 3 \\\\\n- x + 2y &= 0\n\\end{align*}\nfor $x$ and $y$.", "(2, 1)"),
    "formula-matrix": (r"$$A = \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}, \quad \boxed{\det A = -2}$$ \(\cancel{x}\)", "-2"),
    "formula-bad": (r"This can't be drawn: $\frac{1}{$, $\unknown{x}$ and $x_{1$. This can: $\sqrt[3]{x}$", "x"),
    "formula-rtl": (r"احسب $x^2 + 1$ عندما $x = 3$.", "10"),
    "prices": ("She pays $5 for milk, then sells it for $10 (a gain of $5), and $2 more: 3*2*$1=$6.", "$6"),
    "gsm8k": ("He makes 9*2=$<<9*2=18>>18 a day.\n#### 18", "18"),
    "markdown": ('# Task\n\nUse **bold**, *stress*, `code` and [a link](https://example.com "its title").\n\n3. three\n7. seven\n   - nested\n\n> quoted\n\n---\n![a cat](cat.png)', "none"),
    "table": (f"Which is denser?\n\n{_TABLE}\n\nAnswer with a word.", "gold"),
    "table-wide": (_WIDE, "1"),
    "not-markdown": ("2*3*4 and __init__ and snake_case_name, a * b * c, 5 > 3, [1] and _____.", "24"),
    "code": (_PYTHON, "    return any(\n        abs(a - b) < 1  # close\n        for a in xs\n        for b in xs\n    )\n"),
    "code-after-words": ("Complete the function:\n" + _PYTHON, "return True"),
    "fence": ("Count:\n```python\nfor line in open(name):\n    print(line)  # é\n```\nand\n~~~sql\nSELECT * FROM t\n~~~", "2"),
    "drawing": ('[asy]\ndraw((0,0)--(1,1));\nlabel("$A$", (0,0));\n[/asy] Find $A$.', "1"),
    "empty": ("", ""),
    "blank": ("  \n\t\n ", " "),
    "long-lines": ("\n".join(f"Line {n} of a long document, with $x_{{{n}}}$." for n in range(1, 120)), "119"),
    "long-word": ("W" * 3_000, "W"),
    "huge": ("word " * 40_000, "word"),
}  # fmt: skip


def _records() -> list[dict[str, Any]]:
    texts = [
        {"key": key, "input": text, "target": target} for key, (text, target) in _TEXTS.items()
    ]
    hostile = [
        {
            "key": f"hostile-{key}",
            "input": text,
            "choices": [text[:300], "plain"],
            "target": "A",
            "metadata": {text[:30]: text[:300]},
        }
        for key, text in HOSTILE.items()
    ]
    tools = [
        {"role": "system", "content": "Use the tools."},
        {"role": "user", "content": "How many lines has `a.txt`? أجب بالعربية."},
        {
            "role": "assistant",
            "content": "Counting.",
            "tool_calls": [
                _call("python", code="with open('a.txt') as f:\n    print(len(f.readlines()))\n")
            ],
        },
        {"role": "tool", "content": "3\n", "function": "python", "tool_call_id": "1"},
        {"role": "assistant", "content": "**3** lines."},
    ]
    others: list[dict[str, Any]] = [
        {"key": "tools", "input": tools, "target": "3"},
        {"key": "picture", "input": user({"type": "text", "text": "What is it?"}, {"type": "image", "image": _PNG}), "target": "a gradient"},
        {"key": "picture-damaged", "input": user({"type": "image", "image": _PNG[:-40] + "AAAA" * 10}), "target": "?"},
        {"key": "picture-no-picture", "input": user({"type": "image", "image": uri("image/png", b"plain text")}), "target": "?"},
        {"key": "picture-svg", "input": user({"type": "image", "image": uri("image/svg+xml", b"<svg onload=alert(1)>")}), "target": "?"},
        {"key": "picture-elsewhere", "input": user({"type": "image", "image": "https://example.com/x.png"}), "target": "?"},
        {"key": "sound", "input": user({"type": "text", "text": "What is said?"}, {"type": "audio", "audio": uri("audio/wav", sound()), "format": "wav"}), "target": "?"},
        {"key": "sound-hostile", "input": user({"type": "audio", "audio": 'data:audio/wav;base64,"onerror="alert(1)', "format": "wav"}), "target": "?"},
        {"key": "choices-formulas", "input": "Which is $\\sqrt{2}$?", "choices": ["$2^{1/2}$", "**none**", "مرحبا", _PYTHON], "target": "A"},
        {"key": "choices-many", "input": "Which?", "choices": [f"choice {n}" for n in range(50)], "target": "B"},
        {"key": "metadata", "input": "See below.", "target": "x", "metadata": {"nested": {"a": [1, {"b": None}]}, "long": "word " * 600, "formula": "$x^2$", "picture": _PNG, "flag": True, "arabic": "مرحبا"}},
        {"key": "metadata-many", "input": "See below.", "target": "x", "metadata": {f"key {n}": n for n in range(300)}},
    ]  # fmt: skip
    return [{"choices": None, "metadata": {}, **one} for one in (*texts, *others, *hostile)]


GALLERY = _records()


def write_records(file: Path) -> None:
    """Write the records of the gallery."""
    lines = (json.dumps(record) + "\n" for record in GALLERY)
    file.write_text("".join(lines), encoding="utf-8")


def write_gallery(root: Path) -> Path:
    """Write the catalog with the gallery, and return its folder."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "datasets.yaml").write_text("version: 1\n" + MANIFEST, encoding="utf-8")
    write_records(root / "gallery.jsonl")
    return root
