"""Names and paths that some system lacks, or that lead out of the catalog, are refused with their place; nothing is read."""

from __future__ import annotations

from pathlib import Path

from tests.faults.process import datasets_of, registry_each, write_catalog

NAMES = {
    "con": "Windows reserves it for a device",
    "nul.txt": "Windows reserves it for a device",
    "lpt1": "Windows reserves it for a device",
    "com\u00b9": "Windows reserves it for a device",
    "Good": "use lower-case letters",
    "caf\u00e9": "use lower-case letters",
    "cafe\u0301": "use lower-case letters",
    "'good.'": "it must not end with a dot",
    "g" * 200: "use at most 128 characters",
    "'a/b'": "use lower-case letters",
    "'..'": "it must not end with a dot",
    '"a\\0"': "use lower-case letters",
}
PATHS = {
    "../secret.csv": "is outside the catalog's folder",
    "/etc/passwd": "is outside the catalog's folder",
    "in/../../secret.csv": "is outside the catalog's folder",
    "link.csv": "is outside the catalog's folder",
    '"good.csv\\0"': "has a NUL, which no path has",
    '"https://example.org/\\0.csv"': "has a NUL, which no path has",
    "in/Con": "Windows reserves the name 'Con' for a device",
    "AUX.csv": "Windows reserves the name 'AUX.csv' for a device",
    "com\u00b9.csv": "Windows reserves the name 'com\u00b9.csv' for a device",
    "[good.csv, Good.csv]": "'Good.csv' and 'good.csv' are one file on some systems",
    "[caf\u00e9.csv, cafe\u0301.csv]": "are one file on some systems",
}
ROWS = "input,target\nWhy?,secret\n"


def test_names(tmp_path: Path) -> None:
    (tmp_path / "good.csv").write_text(ROWS)
    catalog = write_catalog(tmp_path, datasets_of("csv", dict.fromkeys(NAMES, "good.csv")))
    ended = registry_each(catalog, "validate --select bad-name", "sync", "preview con")
    assert ended.code == 1
    assert "secret" not in ended.out
    lines = ended.out.splitlines()
    for number, (name, reason) in enumerate(NAMES.items(), 3):
        (line,) = [one for one in lines if one.startswith(f"datasets.yaml:{number}:3 ")]
        assert f"is not a valid dataset name ({reason}" in line, name
    assert not list(tmp_path.glob("cache/v*/samples/*"))


def test_paths(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text(ROWS)
    folder = tmp_path / "catalog"
    (folder / "in").mkdir(parents=True)
    (folder / "link.csv").symlink_to("../secret.csv")
    names = ["good.csv", "Good.csv", "in/Con", "AUX.csv", "caf\u00e9.csv", "cafe\u0301.csv"]
    for name in [*names, "com\u00b9.csv"]:
        (folder / name).write_text(ROWS)
    paths = {f"d{number}": path for number, path in enumerate(PATHS)}
    datasets = datasets_of("csv", paths, ", fields: {input: input}")
    rules = "bad-location,outside-path"
    ended = registry_each(write_catalog(folder, datasets), f"validate --select {rules}", "sync")
    assert ended.code == 1
    for number, (path, message) in enumerate(PATHS.items()):
        lines = [one for one in ended.out.splitlines() if f"datasets.yaml:{number + 3}:" in one]
        assert any(message in line for line in lines), path
        assert f"error: d{number}: " in ended.err
    assert not list(tmp_path.glob("cache/v*/samples/*"))
