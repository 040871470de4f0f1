"""The YAML of a dataset, line by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry import Catalog, Sample
from registry.plugins.site.manifest_lines import ManifestPart, manifest_part

MANIFEST = """\
datasets:
  qa:
    description: Questions.
    source: {type: csv, path: qa.csv}
# How they are read.
    fields:
      input: question
      target: answer
      sandbox: {const: docker}
      metadata:
        topic: subject
    shuffle: true
    seed: 1

  # Some of them.
  small:
    extends: qa
    limit: 2
groups: {}
"""


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    (tmp_path / "m.yaml").write_text(MANIFEST, "utf-8")
    (tmp_path / "datasets.yaml").write_text("version: 1\ninclude: [m.yaml]\n", "utf-8")
    return Catalog.open(tmp_path, keep=False)


def part(catalog: Catalog, name: str, size: int = 20_000) -> ManifestPart:
    sample = Sample("What is\nthis?", target="A", sandbox="docker", metadata={"topic": "maths"})
    return manifest_part(catalog.entries[name], "m.yaml", sample, size)


def test_lines_say_what_they_do_to_a_sample(catalog: Catalog) -> None:
    lines = part(catalog, "qa").lines
    assert "\n".join(line.text for line in lines) == MANIFEST[10:].partition("\n\n")[0]
    said = {line.number: (line.effect, line.link) for line in lines if line.effect}
    assert said == {
        4: ("where the records are read", ""),
        6: ("makes a sample of each record", ""),
        7: ("sample.input: What is this?", "#sample-1"),
        8: ("sample.target: A", "#sample-1"),
        9: ("sample.sandbox", "#sample-1"),
        10: ("sample.metadata", "#sample-1"),
        11: ("sample.metadata.topic: maths", "#sample-1"),
        12: ("the order of the samples", ""),
        13: ("the order of the samples", ""),
    }


def test_dataset_ends_where_the_next_key_begins(catalog: Catalog) -> None:
    lines = part(catalog, "small").lines
    assert [line.number for line in lines] == [16, 17, 18]
    assert (lines[1].effect, lines[1].link) == ("takes the keys of qa", "qa.html")


def test_lines_that_have_no_room_are_counted(catalog: Catalog) -> None:
    shown = part(catalog, "qa", size=800)
    assert (len(shown.lines), shown.more) == (2, 10)


def test_file_that_is_gone_has_no_lines(catalog: Catalog, tmp_path: Path) -> None:
    (tmp_path / "m.yaml").unlink()
    assert part(catalog, "qa").lines == ()
