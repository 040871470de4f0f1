"""Make docs/images/recording.svg: a dataset is added, changed, reviewed and evaluated, in 20 seconds.

The commands are run in a pseudo-terminal, and what they leave on the screen is drawn: one scene for
each. An SVG with CSS moves without a script; who wants no motion gets the scene of the review.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path

from rich.style import Style
from rich.text import Text

from registry.base.cells import cell_len
from tests.conftest import REPOSITORY
from tests.docs.pages import TOKENIZER
from tests.screenshots.terminal_svg import THEME, screen_text
from tests.terminal.screens import COMMAND, run_in_terminal

__all__ = ["RECORDING", "SCENES", "Scene", "recorded", "svg_of"]

RECORDING = REPOSITORY / "docs" / "images" / "recording.svg"
_DATA = """\
question,answer
What is the capital of France?,Paris
What is the capital of Australia?,Sydney
What is the capital of Canada?,Ottawa
What is the capital of Kenya?,Nairobi
"""
_COLUMNS, _CELL, _LINE = 104, 8, 18
_SECONDS, _TYPED = 20, 1.5
_STILL = 1
"""The scene that stands without motion."""
_INSPECT = (sys.executable, "-m", "inspect_ai")


@dataclass(frozen=True)
class Scene:
    """A command, and what it leaves on the screen."""

    shown: str
    """The command as it is typed."""
    program: tuple[str, ...]
    """What runs it."""
    change: tuple[str, str] | None = None
    """What is replaced in the data before."""

    @property
    def arguments(self) -> list[str]:
        """The command as it is run."""
        return [*self.program, *self.shown.split()[1:]]


SCENES = (
    Scene("registry add capitals --file capitals.csv --yes", COMMAND),
    Scene("registry diff HEAD --build", COMMAND, ("Sydney", "Canberra")),
    Scene(
        "inspect eval registry/dataset -T name=capitals -T scorer=includes --model mockllm/model"
        " --display plain",
        _INSPECT,
    ),
)


def recorded(folder: Path) -> Iterator[tuple[Scene, Text]]:
    """Yield each scene with what is on the screen after it, in a new folder."""
    catalog = folder / "capitals"
    catalog.mkdir()
    data = catalog / "capitals.csv"
    data.write_text(_DATA, encoding="utf-8")
    variables = {
        "REGISTRY_CACHE_DIR": str(folder / "cache"),
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": str(folder),
    }
    (folder / "tiktoken.py").write_text(TOKENIZER, encoding="utf-8")
    subprocess.run([*COMMAND, "init"], cwd=catalog, check=True, capture_output=True)
    _git(catalog, "init", "--quiet", "--initial-branch", "main")
    for scene in SCENES:
        if scene.change:
            _git(catalog, "add", "--all")
            _git(catalog, "commit", "--quiet", "--message", "Add capitals")
            data.write_text(_DATA.replace(*scene.change), encoding="utf-8")
        screen = run_in_terminal(
            scene.arguments, folder=catalog, columns=_COLUMNS, environment=variables
        )
        yield scene, screen_text(screen.raw.replace(str(folder), "~"), _COLUMNS)


def _git(folder: Path, *words: str) -> None:
    date = "2026-01-01T00:00:00Z"
    subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *words],
        cwd=folder,
        check=True,
        env={"PATH": "/usr/bin:/bin", "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date},
    )


def svg_of(scenes: list[tuple[Scene, Text]]) -> str:
    """Return scenes as one picture in which each follows the one before."""
    lines = 3 + max(text.plain.count("\n") for _, text in scenes)
    width, height = _COLUMNS * _CELL + 32, lines * _LINE + 24
    each = 100 / len(scenes)
    rules, bodies = [], []
    for number, (scene, text) in enumerate(scenes):
        start, typed = each * number, each * number + 100 * _TYPED / _SECONDS
        end = each * (number + 1)
        rules.append(_keyframes(f"s{number}", {0: _HIDDEN, start: _SHOWN, end: _HIDDEN}))
        rules.append(_keyframes(f"o{number}", {0: _HIDDEN, typed: _SHOWN, end: _HIDDEN}))
        rules += [f".s{number}{{animation-name:s{number}}}.o{number}{{animation-name:o{number}}}"]
        command = _text(Text.assemble(("$ ", "green"), (scene.shown, "bold")), 0)
        rows = "".join(_text(row, at) for at, row in enumerate(text.split("\n"), 1))
        still = " still" if number == _STILL else ""
        bodies.append(f'<g class="m s{number}{still}">{command}</g>')
        bodies.append(f'<g class="m o{number}{still}">{rows}</g>')
    background = "#{:02x}{:02x}{:02x}".format(*THEME.background_color)
    about = "; ".join(scene.shown for scene, _ in scenes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">'
        f"<title>A terminal: {escape(about)}</title><style>"
        f".m{{visibility:hidden;animation:{_SECONDS}s step-end infinite}}{''.join(rules)}"
        "@media (prefers-reduced-motion:reduce){.m{animation:none}.still{visibility:visible}}"
        "text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre}"
        f'</style><rect width="{width}" height="{height}" rx="8" fill="{background}"/>'
        f"{''.join(bodies)}</svg>\n"
    )


_HIDDEN, _SHOWN = "visibility:hidden", "visibility:visible"


def _keyframes(name: str, states: Mapping[float, str]) -> str:
    return f"@keyframes {name}{{{''.join(f'{at:.4g}%{{{one}}}' for at, one in states.items())}}}"


def _text(line: Text, number: int) -> str:
    """Return a line of the screen; each run of a style is at its own column."""
    plain, y = line.plain, 28 + number * _LINE
    cuts = sorted({0, len(plain), *(one for span in line.spans for one in (span.start, span.end))})
    runs = []
    for start, end in pairwise(cuts):
        if not plain[start:end].strip():
            continue
        styles = [one.style for one in line.spans if one.start <= start and end <= one.end]
        style = Style.combine([Style(), *(Style.parse(str(one)) for one in styles if one)])
        color = style.color.get_truecolor(THEME) if style.color else THEME.foreground_color
        columns = cell_len(plain[start:end])
        weight = "bold" if style.bold else "normal"
        runs.append(
            f'<text x="{16 + cell_len(plain[:start]) * _CELL}" y="{y}"'
            f' textLength="{columns * _CELL}" lengthAdjust="spacingAndGlyphs"'
            f' fill="#{color[0]:02x}{color[1]:02x}{color[2]:02x}"'
            f' font-weight="{weight}">{escape(plain[start:end])}</text>'
        )
    return "".join(runs)


def main() -> None:
    """Make the picture."""
    with tempfile.TemporaryDirectory(prefix="registry-recording-") as name:
        RECORDING.write_text(svg_of(list(recorded(Path(name)))), encoding="utf-8")


if __name__ == "__main__":
    main()
