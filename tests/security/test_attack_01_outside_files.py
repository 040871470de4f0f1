"""A pull request that makes a review read the runner's files into its comment, in every way."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.git_repository import git, write_files
from tests.security.audit import FILE_EVENTS, Audited, run_audited

SECRET = "hunter2-of-the-runner"
INDEX = "version: 1\ninclude: [registry/*.yaml]\n"
CSV = 'delimiter: "\\x01", fieldnames: [a]'
FIELDS = "fields: {input: a, target: {const: x}}"
MINE = '{"a": "mine"}\n'
VERBS = (
    *("validate --strict", "validate registry/qa.yaml", "list", "show d0", "show d0 --origin"),
    *("diff main", "diff main --build --offline --format markdown", "lock --check", "lock"),
    *("preview d0", "sync", "verify"),
)


def _real(event: list[str]) -> str:
    """Return the real path that an event is about; a link that is not followed is itself."""
    path = os.path.abspath(event[1])
    if event[0] == "open" and event[3].isdigit() and int(event[3]) & os.O_NOFOLLOW:
        return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    return os.path.realpath(path)


@dataclass(frozen=True)
class Runner:
    """The machine of a review: a checkout, and files of the runner beside it."""

    checkout: Path
    home: Path

    def change(self, files: dict[str, str]) -> None:
        """Commit the change of the pull request."""
        write_files(self.checkout, files)
        git(self.checkout, "add", "--all")
        git(self.checkout, "commit", "--quiet", "--allow-empty", "--message", "Change")

    def datasets(self, values: Sequence[str]) -> None:
        """Change the manifest: datasets `d0`, `d1`, …"""
        lines = (f"  d{number}: {{{value}}}\n" for number, value in enumerate(values))
        self.change({"registry/qa.yaml": f"datasets:\n{''.join(lines)}"})

    def run(self, *arguments: str) -> Audited:
        """Run a command of the review in the checkout; it reaches nothing outside."""
        environment = {"HOME": str(self.home), "RUNNER_TOKEN": SECRET, "HF_HUB_OFFLINE": "1"}
        done = run_audited(arguments, folder=self.checkout, environment=environment)
        assert SECRET not in done.text, (arguments, done.text)
        assert self._outside(done) == set(), (arguments, done.text)
        assert done.code in (0, 1, 4), (arguments, done.text)
        return done

    def _outside(self, done: Audited) -> set[str]:
        """Return the runner's files that a command opened, and its folders that it listed."""
        private = [self.home, Path("/proc"), Path("/etc/hostname"), self.checkout / ".git/config"]
        tops = [os.path.realpath(one) for one in private]
        reached = {_real(event) for event in done.events if event[0] in FILE_EVENTS}
        # Libraries count the cores of the machine.
        harmless = re.compile(r"/proc/(cpuinfo|meminfo|stat|\d+/(cgroup|status|mountinfo))")
        return {
            one
            for one in reached
            if any(one == top or one.startswith(f"{top}/") for top in tops)
            and not harmless.fullmatch(one)
        }

    def review(self) -> None:
        """Run all commands of a review."""
        for verb in VERBS:
            self.run(*verb.split())


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """Return a runner whose home folder, environment and `.git/config` have a secret."""
    home, checkout = tmp_path / "home", tmp_path / "work" / "checkout"
    private = (f"private/x.{suffix}" for suffix in ("csv", "json", "txt", "yaml"))
    secret = dict.fromkeys(private, f'{{"a": "{SECRET}"}}\n')
    write_files(home, {".netrc": f"machine {SECRET}\n", **secret})
    with zipfile.ZipFile(home / "private" / "x.zip", "w") as archive:
        archive.writestr("x.csv", f"a\n{SECRET}\n")
    checkout.mkdir(parents=True)
    runner = Runner(checkout, home)
    git(checkout, "init", "--quiet", "--initial-branch", "main")
    # As `actions/checkout` leaves it.
    git(checkout, "config", "http.extraheader", f"Authorization: basic {SECRET}")
    runner.change({"datasets.yaml": INDEX, "data/x.csv": "q,a\n1,2\n"})
    runner.datasets(["source: {type: csv, path: data/x.csv}, fields: {input: q, target: a}"])
    git(checkout, "checkout", "--quiet", "-b", "change")
    return runner


SOURCES = {
    "environment": f"{{type: csv, path: /proc/self/environ, {CSV}}}",
    "standard input": f"{{type: csv, path: /dev/fd/0, {CSV}}}",
    "open file": f"{{type: csv, path: /proc/self/fd/0, {CSV}}}",
    "home": f"{{type: csv, path: ~/.netrc, {CSV}}}",
    "upwards": f"{{type: csv, path: ../../../../../../../../../../etc/hostname, {CSV}}}",
    "file URL": f"{{type: csv, path: 'file://~/private/x.csv', {CSV}}}",
    "glob": f"{{type: csv, path: '~/private/*.csv', {CSV}}}",
    "glob upwards": "{type: json, path: ../../home/**/*.json}",
    "second path": f"{{type: csv, path: [data/x.csv, ~/private/x.csv], {CSV}}}",
    "archive": "{type: csv, path: 'zip://x.csv::~/private/x.zip'}",
    "own repository": f"{{type: csv, path: .git/config, {CSV}}}",
    "builder": "{type: hf, path: text, split: train, data_files: .git/config}",
    "builder outside": "{type: hf, path: json, split: train, data_files: [~/private/x.json]}",
    "builder splits": "{type: hf, path: json, split: t, data_files: {t: '../../home/*/*'}}",
    "folder outside": "{type: hf, path: ~/private, split: train}",
    "folder upwards": "{type: hf, path: ./data, split: train, data_files: '../../../home/**'}",
    "folder absolute": "{type: hf, path: ./data, split: train, data_files: /proc/self/environ}",
    "hidden": "{type: hf, path: ./, split: train, data_files: '.gi[t]/config'}",
    "data_dir": "{type: hf, path: ./data, split: train, data_dir: ../../../home/private}",
    "repository of the Hub": "{type: hf, path: a/b, split: train, data_files: /etc/hostname}",
    "file link": f"{{type: csv, path: data/l.csv, {CSV}}}",
    "folder link": f"{{type: csv, path: private/x.csv, {CSV}}}",
    "glob in link": f"{{type: csv, path: 'private/*.csv', {CSV}}}",
    "linked folder": "{type: hf, path: ./private, split: train}",
}
"""How a source may name a file outside, such that its path alone tells."""

REST = {
    "concat": "source: {type: csv, path: data/x.csv}, concat: [{}, {path: ~/private/x.csv}],"
    " fields: {input: q, target: a}",
    "join": f"source: {{type: csv, path: data/x.csv}}, join: {{source: {{type: csv, path: ~/.netrc,"
    f" {CSV}}}, on: q, key: a, into: j}}, fields: {{input: q, target: a}}",
}


def test_a_source_outside_is_reported_and_never_opened(runner: Runner) -> None:
    (runner.checkout / "private").symlink_to(runner.home / "private")
    (runner.checkout / "data" / "l.csv").symlink_to(runner.home / ".netrc")
    defaults = f"defaults: {{source: {{csv: {{path: ~/private/x.csv, {CSV}}}}}}}\n"
    runner.change({"datasets.yaml": f"{INDEX}{defaults}"})
    sources = [f"source: {source}, {FIELDS}" for source in SOURCES.values()]
    runner.datasets([*sources, *REST.values()])
    runner.review()
    done = runner.run("validate")
    for number, way in enumerate([*SOURCES, *REST]):
        place = rf"^registry/qa\.yaml:{2 + number}:\d+ \$\..*: '.*' .* \[outside-path\]$"
        assert re.search(place, done.out, re.MULTILINE), (way, done.out)
    synced = runner.run("sync", "--json")
    assert synced.out.count('"status": "failed"') == len(SOURCES) + len(REST)


def test_what_a_folder_or_glob_leads_to_is_refused(runner: Runner) -> None:
    for name in ("links", "deep/links"):
        (runner.checkout / name).mkdir(parents=True)
        (runner.checkout / name / "x.json").symlink_to(runner.home / "private" / "x.json")
    (runner.checkout / "nested").mkdir()
    (runner.checkout / "nested" / "private").symlink_to(runner.home / "private")
    datasets = ["links/*.json", "nested/**/*.json", "*/private/x.json", "deep/**/x.json"]
    values = [f"source: {{type: json, path: '{path}'}}, {FIELDS}" for path in datasets]
    paths = {
        "absolute": f"{runner.home}/private/x.json",
        "upwards": "../../../home/private/*.json",
        "hidden": ".git/../../.git/x.json",
    }
    for name, path in paths.items():
        text = f"configs:\n- config_name: c\n  data_files: [{{split: train, path: '{path}'}}]\n"
        cards = {f"{name}/README.md": f"---\n{text}---\n", f"{name}-2/.huggingface.yaml": text}
        runner.change({**cards, **dict.fromkeys([f"{name}{n}/y.json" for n in ("", "-2")], MINE)})
    values += [
        f"source: {{type: hf, path: ./{name}, split: train}}, {FIELDS}"
        for name in (*paths, *(f"{name}-2" for name in paths), "links", "nested", "deep")
    ]
    runner.datasets(values)
    runner.review()
    synced = runner.run("sync")
    assert len(re.findall(r"(?m)^d\d+ +failed ", synced.text)) == len(values), synced.text
    # Several datasets may have one error, which is printed once.
    errors = re.findall(r"(?m)^error: .*", synced.text)
    refused = re.compile("outside the catalog's folder|leads out of the dataset's")
    assert errors
    assert all(map(refused.search, errors)), synced.text


def test_a_data_uri_reads_no_file_outside(runner: Runner) -> None:
    (runner.checkout / "l.png").symlink_to(runner.home / ".netrc")
    paths = ["/proc/self/environ", f"{runner.home}/.netrc", f"{runner.checkout}/.git/config"]
    paths.append(f"{runner.checkout}/l.png")
    source = "source: {type: csv, path: data/x.csv}"
    values = []
    for path in paths:
        uri = f"{{from: {{const: {path}}}, do: [data_uri]}}"
        values += [
            f"{source}, fields: {{input: {uri}, target: a}}",
            f"{source}, fields: {{input: q, target: {uri}}}, limit: 1",
            f"{source}, fields: {{input: q, target: a}}, where: {{value: {uri}, not_equals: x}}",
            f"{source}, fields: {{input: q, target: a, metadata: {{m: {uri}}}}}, limit: 2",
        ]
    runner.datasets(values)
    runner.review()
    refused = re.findall("so it is not read|never read as data", runner.run("sync").text)
    assert len(refused) == len(values)
    found = re.findall(
        r"^registry/qa\.yaml:(\d+):\d+ \$\..*(?:so it is not read|never read).* \[outside-path\]$",
        runner.run("validate").out,
        re.MULTILINE,
    )
    assert [int(line) for line in found] == [2 + number for number in range(len(values))]


def test_a_data_uri_reads_a_file_of_the_catalog(runner: Runner) -> None:
    (runner.checkout / "own.gif").write_bytes(b"GIF89a")
    uri = f"{{from: {{const: {runner.checkout}/own.gif}}, do: [data_uri]}}"
    source = "source: {type: csv, path: data/x.csv}"
    where = f"{source}, fields: {{input: q, target: a}}, where: {{value: {uri}, not_equals: x}}"
    runner.datasets([f"{source}, fields: {{input: {uri}, target: a}}", where])
    assert "data:image/gif;base64" in runner.run("preview", "d0").out
    assert runner.run("preview", "d1").code == 0


def test_an_include_outside_is_refused_without_reading(runner: Runner) -> None:
    (runner.checkout / "private").symlink_to(runner.home / "private")
    for name, target in {"deep/x": "private", "linked/l.yaml": ".netrc"}.items():
        (runner.checkout / "registry" / name).parent.mkdir()
        (runner.checkout / "registry" / name).symlink_to(runner.home / target)
    includes = [
        *(f"{runner.home}/.netrc", f"{runner.home}/private/*.yaml", "../../home/**/*.yaml"),
        *("../**/*.yaml", "private/*.yaml", "registry/deep/**/*.yaml", "registry/linked/*.yaml"),
        *(".git/config", "/proc/self/environ", "/dev/zero"),
    ]
    listed = ", ".join(f"'{one}'" for one in includes)
    runner.change({"datasets.yaml": f"version: 1\ninclude: [registry/qa.yaml, {listed}]\n"})
    runner.review()
    runner.run("validate", "registry/linked/l.yaml")
    done = runner.run("validate")
    for number in range(1, len(includes) + 1):
        place = rf"^datasets\.yaml:2:\d+ \$\.include\[{number}\]: '.*' .* \[outside-path\]$"
        assert re.search(place, done.out, re.MULTILINE), (number, done.out)


@pytest.mark.parametrize("name", ["datasets.yaml", "datasets.lock", "registry/l.yaml"])
@pytest.mark.parametrize("kind", ["home", "environment"])
def test_a_file_of_the_catalog_is_no_link_out_of_it(runner: Runner, name: str, kind: str) -> None:
    path = runner.checkout / name
    path.unlink(missing_ok=True)
    path.symlink_to("/proc/self/environ" if kind == "environment" else runner.home / ".netrc")
    runner.change({})
    root = ["--root", "."] if name == "datasets.yaml" else []
    for command in ("validate", f"validate {name}", "diff main", "lock", "list"):
        runner.run(*command.split(), *root)
    assert runner.run("validate", "--root", ".").code == 1


def test_a_folder_that_is_a_link_is_not_searched_for_code(runner: Runner) -> None:
    (runner.home / "private" / f"{SECRET}.py").touch()
    (runner.checkout / "registry" / "qa.yaml").rename(runner.checkout / "qa.yaml")
    (runner.checkout / "registry").rmdir()
    (runner.checkout / "registry").symlink_to(runner.home / "private")
    runner.change({"datasets.yaml": "version: 1\ninclude: [qa.yaml]\n"})
    for command in ("validate", "validate", "diff main"):  # also with a cache
        runner.run(*command.split())


def test_names_of_files_in_samples_stay_inside(runner: Runner) -> None:
    (runner.checkout / "data" / "private").symlink_to(runner.home / "private")
    names = ["../../../home/.netrc", "private/x.txt", "in.txt"]
    runner.change({"data/in.txt": "mine", "data/x.csv": "\n".join(["q", *names, ""])})
    fields = "fields: {input: q, target: {const: x}, setup: q}"
    runner.datasets([f"source: {{type: csv, path: data/x.csv}}, {fields}"])
    runner.review()
    done = runner.run("preview", "d0", "-n", "9", "--json")
    resolved = [os.path.join(runner.checkout, "data", name) in done.out for name in names]
    assert resolved == [False, False, True], done.text


def test_paths_of_the_change_do_not_count_in_its_review(runner: Runner) -> None:
    include = f"[registry/*.yaml, '{runner.home}/private/*.yaml']"
    text = f"version: 1\ninclude: {include}\npaths: ['{runner.home}']\n"
    runner.change({"datasets.yaml": text})
    runner.datasets([f"source: {{type: json, path: ~/private/x.json}}, {FIELDS}"])
    for more in ([], ["--build", "--format", "markdown"]):
        runner.run("diff", "main", *more)
