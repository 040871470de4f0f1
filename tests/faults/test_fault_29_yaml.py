"""YAML that readers disagree on is an error with its line, and every other value is what it says."""

from __future__ import annotations

from pathlib import Path

from tests.faults.process import registry, registry_each, write_catalog

REFUSED = {
    "[!!python/object/apply:os.system ['touch ran']]": "the tag tag:yaml.org,2002:python/object",
    "[!!str 3]": "the tag tag:yaml.org,2002:str is not allowed",
    "x, tags: y": "the key 'tags' is repeated",
    "x, <<: {limit: 1}, <<: {limit: 2}": "the key '<<' is repeated",
    "[.nan]": ".nan is not a finite number",
    "[-.inf]": "-.inf is not a finite number",
    f"[{'1' * 5000}]": "the number needs more than 64 bits",
    f"{'[' * 20_000}{']' * 20_000}": "nested deeper than 64 levels",
    "[no]": "",
    "[no, 010]": "must be a string, is 10",
    "[0x10]": "must be a string, is 16",
    "[1_000, 1:20, 2020-01-01, yes, on, ~]": "must be a string, is None",
    "{1: x}": "a key must be a string, is 1",
}
GARBAGE = ['["3"y]', '"3"y', "['x' 'y']", '{"a"b: 1}']


def test_each_value(tmp_path: Path) -> None:
    """Every dataset has its own file: some faults end the reading of one."""
    (tmp_path / "d.csv").write_text("input,target\n1,2\n")
    texts = [*REFUSED, *GARBAGE]
    for number, tags in enumerate(texts):
        text = (
            f"datasets:\n  d{number}: {{source: {{type: csv, path: d.csv}},\n    tags: {tags}}}\n"
        )
        (tmp_path / f"m{number:02}.yaml").write_text(text)
    index = "include: ['m*.yaml']\n"
    catalog = write_catalog(tmp_path, "  plain: {source: {type: csv, path: d.csv}}\n", index=index)
    ended = registry(catalog, "validate", "--ignore", "missing-license,missing-description")
    assert ended.code == 1
    for number, (tags, message) in enumerate(
        [*REFUSED.items(), *dict.fromkeys(GARBAGE, "not YAML").items()]
    ):
        lines = [
            line for line in ended.out.splitlines() if line.startswith(f"m{number:02}.yaml:3:")
        ]
        assert bool(lines) == bool(message), tags[:40]
        assert not message or any(message in line for line in lines), (tags[:40], lines)
    assert not (tmp_path / "ran").exists()


def test_words_and_numbers_are_those_of_yaml_1_2(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("input\n1\n")
    values = "{a: no, b: 010, c: 2020-01-01, d: 1:20, e: 0o10, f: on, g: 1e3, h: 1_000}"
    datasets = f"""\
  d:
    source: {{type: csv, path: d.csv}}
    fields: {{input: input, metadata: {{v: {{const: {values}}}}}}}
"""
    ended = registry_each(write_catalog(tmp_path, datasets), "sync d", "preview d --json")
    expected = '{"a": "no", "b": 10, "c": "2020-01-01", "d": "1:20", "e": 8, "f": "on", "g": 1000.0, "h": "1_000"}'
    assert ended.code == 0
    assert expected in ended.out
