"""The table of cases: what is measured, beside what, and what is asked of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.case import OURS, PEER, AtMost, Call, Case, Over, Program, Times, Within
from benchmarks.catalogs import KNOWN, SYNCED
from benchmarks.place import Place
from benchmarks.real import GSM8K, REPOSITORY, SMALL, found
from benchmarks.whole_files import WHOLE_FILES, WholeFiles

__all__ = ["FIRST_OF_TINY", "all_cases"]


def all_cases(place: Place) -> tuple[Case | WholeFiles, ...]:
    """Return the cases, in the order of the table."""
    return (
        WHOLE_FILES,
        *_real(place),
        *_cold(place),
        *_warm(place),
        *_catalog(place),
        *_start(place),
        *_remote(place),
    )


def _real(place: Place) -> tuple[Case, ...]:
    """Return the cases on the lengths of a real file beside the single files."""
    here = found(place.real) if place.real else {}
    file, smallest = (str(here.get(name, "")) for name in (GSM8K, SMALL))
    large = str(place.data(place.sizes.large, "real.jsonl"))
    first = Program(("-c", _FIRST_OF_REAL.format(name=GSM8K, file=file, root=str(REPOSITORY))))
    peer = Program(("-c", _FIRST_OF_REAL_PEER.format(file=file)))
    sides = {"file": large, "warm": file}
    return (
        Case(
            name="real-process-cold",
            what="new process: import, build gsm8k's 7,473 records, empty cache, print the first",
            unit="ms",
            runs={OURS: replace(first, cache="fresh"), PEER: peer},
            goals=(Times(1 / 3.5),),
            parity=True,
        ),
        Case(
            name="real-process-warm",
            what="new process: import, open the same again, print the first",
            unit="ms",
            runs={OURS: first, PEER: peer},
            goals=(Times(1 / 15),),
            before=(Call("benchmarks.real:opened", {"file": file}),),
            parity=True,
        ),
        Case(
            name="real-small",
            what=f"least processor time of 300 cold builds of {SMALL}'s 44 records, warm process",
            unit="ms",
            runs={OURS: Call("benchmarks.real:small", {"file": smallest}, cache="fresh")},
            goals=(AtMost(2),),
            rounds=3,
        ),
        Case(
            name="real-large",
            what=f"cold build, {place.sizes.large:,} records of gsm8k's lengths",
            unit="s",
            runs={
                who: Call("benchmarks.real:large", {"who": who, **sides}, cache="fresh")
                for who in (OURS, PEER)
            },
            goals=(Times(1 / 4),),
            needs=((place.sizes.large, "real.jsonl"),),
            parity=True,
        ),
        Case(
            name="real-memory",
            what=f"peak memory of the same build, {place.sizes.large:,} records (one round)",
            unit="MB",
            runs={OURS: Call("benchmarks.real:memory", cache="fresh")},
            goals=(AtMost(150),),
            needs=((place.sizes.large, "real.jsonl"),),
            rounds=1,
        ),
        Case(
            name="real-explored",
            what=f"the slowest of six questions about {place.sizes.explored:,} samples in `browse`:"
            " words, groups, orders; the table is open",
            unit="ms",
            runs={OURS: Call("benchmarks.ours:explored", {"rows": place.sizes.explored})},
            goals=(AtMost(200),),
            needs=((place.sizes.large, "real.jsonl"),),
        ),
    )


_FIRST_OF_REAL = (
    "import registry; print(registry.get_dataset({name!r}, source={file!r}, root={root!r})[0])"
)
_FIRST_OF_REAL_PEER = (
    "from inspect_ai.dataset import json_dataset;"
    " from inspect_evals.gsm8k.gsm8k import record_to_sample;"
    " print(json_dataset({file!r}, record_to_sample)[0])"
)


def _opened(name: str, count: int, **root: str) -> Call:
    return Call("benchmarks.ours:opened", {"name": name, "rows": count, **root})


def _peer_arguments(place: Place, suffix: str, count: int) -> dict[str, Any]:
    files = {"file": place.data(count, suffix), "tiny": place.data(place.sizes.tiny, suffix)}
    return {**{key: str(file) for key, file in files.items()}, "rows": count}


def _cold(place: Place) -> tuple[Case, ...]:
    sizes = place.sizes
    peer = Call("benchmarks.peer:load", _peer_arguments(place, "parquet", sizes.rows))
    return (
        Case(
            name="cold-hub",
            what=f"`type: hf`, Parquet, {sizes.rows:,} rows, both with the records in a cache",
            unit="s",
            runs={
                OURS: Call(
                    "benchmarks.ours:rebuild",
                    {"name": "hub", "rows": sizes.rows},
                    takes_cache=True,
                ),
                PEER: peer,
            },
            goals=(Times(1 / 10),),
            needs=((sizes.rows, "parquet"),),
            before=(
                _opened("hub", sizes.rows),
                _opened("hub-tiny", sizes.tiny),
                peer,
            ),
        ),
        Case(
            name="sync-jobs",
            what=f"`registry sync --jobs 4` of four datasets of {sizes.synced:,} rows, empty cache",
            unit="s",
            runs={OURS: _sync(4), "--jobs 1": _sync(1)},
            goals=(Times(1 / 1.6, "--jobs 1"),),
            needs=((sizes.synced, "jsonl"),),
        ),
        Case(
            name="memory",
            what=f"peak memory of a cold build, JSONL, {sizes.many:,} rows (one round)",
            unit="MB",
            runs={
                OURS: _memory("many", sizes.many),
                f"{sizes.most:,} rows": _memory("most", sizes.most),
            },
            goals=(AtMost(450), Within(0.15, f"{sizes.most:,} rows")),
            needs=((sizes.many, "jsonl"), (sizes.most, "jsonl")),
            rounds=1,
        ),
    )


def _sync(jobs: int) -> Program:
    arguments = ("-m", "registry", "sync", "--tag", SYNCED, "--jobs", str(jobs))
    return Program(arguments, cache="fresh")


def _memory(name: str, count: int) -> Call:
    return Call("benchmarks.ours:memory", {"name": name, "rows": count}, cache="fresh")


def _warm(place: Place) -> tuple[Case, ...]:
    sizes = place.sizes
    many = {"name": "many-shuffled", "rows": sizes.many}
    small = f"{sizes.few:,} rows"
    large = _peer_arguments(place, "jsonl", sizes.many)
    return (
        Case(
            name="warm",
            what=f"warm `get_dataset` and first sample, in process, {sizes.many:,} rows shuffled",
            unit="ms",
            runs={
                OURS: Call("benchmarks.ours:warm", {"name": "many-shuffled"}),
                small: Call("benchmarks.ours:warm", {"name": "few-shuffled"}),
            },
            goals=(AtMost(5), Times(1.5, small)),
            needs=((sizes.many, "jsonl"), (sizes.few, "jsonl")),
            before=(_opened("many-shuffled", sizes.many), _opened("few-shuffled", sizes.few)),
            cache="shuffled",
        ),
        Case(
            name="iteration",
            what=f"all of {sizes.many:,} rows shuffled, a sample; the peer's load counts",
            unit="µs",
            runs={
                OURS: Call("benchmarks.ours:iterate", many),
                PEER: Call("benchmarks.peer:iterate", large),
            },
            goals=(AtMost(3), Times(1 / 5)),
            needs=((sizes.many, "jsonl"),),
            before=(_opened("many-shuffled", sizes.many),),
            cache="shuffled",
        ),
        Case(
            name="checksums",
            what=f"checksums of {sizes.rows:,} rows, a sample; iteration includes them",
            unit="µs",
            runs={
                OURS: Call("benchmarks.ours:checked", {"name": "jsonl", "rows": sizes.rows}),
                "iteration": Call("benchmarks.ours:iterate", {"name": "jsonl", "rows": sizes.rows}),
            },
            goals=(Times(1 / 20, "iteration"),),
            needs=((sizes.rows, "jsonl"),),
            before=(_opened("jsonl", sizes.rows),),
        ),
        Case(
            name="random-access",
            what=f"a sample at a random place of {sizes.many:,} rows shuffled",
            unit="µs",
            runs={OURS: Call("benchmarks.ours:access", many)},
            goals=(AtMost(25),),
            needs=((sizes.many, "jsonl"),),
            before=(_opened("many-shuffled", sizes.many),),
            cache="shuffled",
        ),
    )


FIRST_OF_TINY = Program(("-c", "import registry; print(registry.get_dataset('jsonl-tiny')[0])"))
"""A new process that opens samples of the cache; its imports are listed."""


def _catalog(place: Place) -> tuple[Case, ...]:
    sizes = place.sizes
    many, few = (str(place.manifests(one)) for one in (sizes.manifests, sizes.few_manifests))
    small = f"{sizes.few_manifests:,} manifests"
    validate = ("-m", "registry", "validate", "--root", many)
    return (
        Case(
            name="lookup",
            what=f"warm `get_dataset` of ten rows among {sizes.manifests:,} manifests, in process",
            unit="ms",
            runs={
                OURS: Call("benchmarks.ours:warm", {"name": KNOWN, "root": many}),
                small: Call("benchmarks.ours:warm", {"name": KNOWN, "root": few}),
            },
            goals=(Over(40, small),),
            needs=((sizes.manifests, "manifests"), (sizes.few_manifests, "manifests")),
            before=(_opened(KNOWN, sizes.tiny, root=many), _opened(KNOWN, sizes.tiny, root=few)),
        ),
        Case(
            name="index-cold",
            what=f"`list_datasets` over {sizes.manifests:,} files of one dataset, empty cache",
            unit="s",
            runs={
                OURS: Call(
                    "benchmarks.ours:index",
                    {"root": many, "few": few, "count": sizes.manifests},
                    cache="fresh",
                )
            },
            goals=(AtMost(3),),
            needs=((sizes.manifests, "manifests"), (sizes.few_manifests, "manifests")),
        ),
        Case(
            name="validate-cold",
            what=f"`registry validate` of {sizes.manifests:,} manifests, empty cache",
            unit="s",
            runs={OURS: Program(validate, cache="fresh")},
            goals=(AtMost(15),),
            needs=((sizes.manifests, "manifests"),),
        ),
        Case(
            name="validate-again",
            what=f"`registry validate` of {sizes.manifests:,} manifests, nothing changed",
            unit="s",
            runs={OURS: Program(validate)},
            goals=(AtMost(1.5),),
            needs=((sizes.manifests, "manifests"),),
            before=(Call("benchmarks.ours:validated", {"root": many}),),
        ),
        Case(
            name="diff-build",
            what=f"`registry diff --build` of {sizes.changed:,} changed datasets, empty cache",
            unit="s",
            runs={
                OURS: Call(
                    "benchmarks.ours:compared",
                    {"root": str(place.change(sizes.changed)), "count": sizes.changed},
                    cache="fresh",
                )
            },
            goals=(AtMost(30),),
            needs=((sizes.changed, "change"),),
        ),
        _site(place),
    )


def _site(place: Place) -> Case:
    count = place.sizes.shown
    root = str(place.datasets(count))
    return Case(
        name="site",
        what=f"`registry site` of {count:,} datasets that are built, 20 samples each (one round)",
        unit="s",
        runs={OURS: Call("benchmarks.ours:site", {"root": root, "count": count})},
        goals=(AtMost(60),),
        needs=((count, "datasets"),),
        before=(Call("benchmarks.ours:synced", {"root": root}),),
        rounds=1,
    )


def _start(place: Place) -> tuple[Case, ...]:
    return (
        Case(
            name="import",
            what="`import registry` in a new process",
            unit="ms",
            runs={
                OURS: Program(("-c", "import registry"), times=5),
                "bare Python": Program(("-c", "pass"), times=5),
            },
            goals=(Over(60, "bare Python"),),
        ),
    )


def _remote(place: Place) -> tuple[Case, ...]:
    count = place.sizes.most
    many = place.sizes.many
    far = {"file": str(place.data(many, "jsonl"))}
    return (
        Case(
            name="s3-first",
            what=f"bytes read of {count:,} JSONL rows on S3 for `limit` 100 (one round)",
            unit="%",
            runs={
                OURS: Call(
                    "benchmarks.remote:share_read",
                    {"file": str(place.data(count, "jsonl"))},
                    cache="fresh",
                )
            },
            goals=(AtMost(1),),
            needs=((count, "jsonl"),),
            rounds=1,
        ),
        Case(
            name="far-file",
            what=f"download of {many:,} JSONL rows at 20 MB/s a connection, 50 ms away",
            unit="s",
            runs={
                OURS: Call("benchmarks.remote:far", far),
                "one connection": Call("benchmarks.remote:far_at_once", far),
            },
            goals=(Times(1 / 2, than="one connection"),),
            needs=((many, "jsonl"),),
        ),
    )
