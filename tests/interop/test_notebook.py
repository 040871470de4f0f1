"""The notebook of docs/ runs in a real kernel, and shows what it says."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from registry.display.html import MOST_BYTES
from tests.conftest import REPOSITORY

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed: make interop")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: make interop")
pytest.importorskip("ipykernel", reason="ipykernel is not installed: make interop")

NOTEBOOK = REPOSITORY / "docs" / "how-to" / "notebook.ipynb"
# A kernel by its command, as none may be registered for this environment.
SPEC = {
    "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
    "display_name": "Python 3",
    "language": "python",
}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs a notebook, or cells, and returns the outputs of its cells."""
    folder = tmp_path / "share" / "jupyter" / "kernels" / "python3"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps(SPEC), encoding="utf-8")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share" / "jupyter"))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("REGISTRY_OFFLINE", "1")

    def outputs(notebook: Any) -> list[list[Any]]:
        resources = {"metadata": {"path": str(REPOSITORY)}}
        client = nbclient.NotebookClient(notebook, timeout=120, resources=resources)
        client.execute()
        return [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]

    return outputs


def of_cells(*sources: str) -> Any:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(one) for one in sources])


def shown(outputs: list[Any], kind: str) -> str:
    """Return what the value of a cell shows."""
    (result,) = [one for one in outputs if one.output_type == "execute_result"]
    return str(result.data[kind])


def kinds(outputs: list[Any]) -> list[str]:
    """Return what the value of a cell is shown as."""
    results = (one for one in outputs if one.output_type == "execute_result")
    return sorted(kind for one in results for kind in one.data)


def test_notebook_of_the_documentation_runs(run: Any) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    # GitHub shows what is committed.
    committed = [kinds(cell.outputs) for cell in notebook.cells if cell.cell_type == "code"]
    assert NOTEBOOK.stat().st_size < 100_000
    found = run(notebook)
    assert committed == [kinds(outputs) for outputs in found]
    catalog, names, dataset, sample, chat, described, frame, short = found[:8]
    assert "demo-mcq" in shown(names, "text/plain")
    assert "data:image/svg+xml," in shown(catalog, "text/html")
    assert "50 samples" in shown(dataset, "text/html")
    assert '<li class="target"><span class="letter">A</span>' in shown(sample, "text/html")
    assert '<span class="role">user</span>' in shown(chat, "text/html")
    assert "50 samples" in shown(described, "text/html")
    assert "data:image/svg+xml," in shown(described, "text/html")
    assert "demo-001" in shown(frame, "text/html")
    assert "demo-" in shown(short, "text/plain")
    sizes = [len(shown(one, "text/html")) for one in (catalog, dataset, sample, chat)]
    assert max(sizes) < MOST_BYTES


def test_keys_of_a_catalog_complete_in_a_kernel(run: Any) -> None:
    ask = "get_ipython().complete('catalog[\"demo-m')[1]"
    (_, found) = run(of_cells("from registry import Catalog; catalog = Catalog.open()", ask))
    assert shown(found, "text/plain") == "['catalog[\"demo-mcq', 'catalog[\"demo-mcq-small']"


def test_build_shows_progress_in_a_kernel(run: Any, tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text('{"q": "a"}\n' * 50, encoding="utf-8")
    (tmp_path / "datasets.yaml").write_text(
        "version: 1\ndatasets: {d: {source: {type: json, path: d.jsonl}, fields: {input: q},"
        " auto_id: true, accept: [blank_targets]}}\n",
        encoding="utf-8",
    )
    code = (
        "from registry import get_dataset\n"
        "from registry.display import notebook\n"
        "notebook._DELAY_SECONDS = 0\n"
        f"len(get_dataset('d', root={str(tmp_path)!r}))"
    )
    (outputs,) = run(of_cells(code))
    assert shown(outputs, "text/plain") == "50"
    drawn = "".join(one.text for one in outputs if one.output_type == "stream")
    assert "d: parse: 0 records" in drawn
    assert "d: map: 0 samples" in drawn
