"""Corrected sets that others published: our corrections of the original give the same samples.

The files stay out of the repository. `REGISTRY_EVIDENCE_CORRECTED` names the folder with them; each is at
the place of `ORIGINS`, under the name here.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from registry import Catalog, get_dataset
from registry.samples.digest import digest_samples
from tests.cli.invocation import Run

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("REGISTRY_SHARED", ROOT.parent / "shared"))
FILES = Path(os.environ.get("REGISTRY_EVIDENCE_CORRECTED", SHARED / "data" / "corrected"))
# The results files of MMLU-Pro have the records that were asked.
ORIGINS = """\
sat-math-ec5b97e.jsonl 8da51dfc8579ac00b01fd5e9b6ca3f1a97269769e05b593ae68a9730c02cf9ef
  github:ruixiangcui/AGIEval@ec5b97e13f227dceb0d369ccf82f1035e5741230:data/v1/sat-math.jsonl (MIT)
sat-math-879c5cc.jsonl 9cde4c0522b6196852a5562db6e72bf8817b4802822db0fc10013d1becdab3c3
  github:ruixiangcui/AGIEval@879c5ccd28af0ce82d38a094ee4fdb0663950050:data/v1/sat-math.jsonl (MIT)
gaokao-physics-before.jsonl b895bd565c7ffc61aba1656ed775969ee5eaf0a0a0f0e119a4ecff3a9cb62d60
  github:ruixiangcui/AGIEval@54887c36044904e34ff255a40323edd0d94129f0:data/v1/gaokao-physics.jsonl
  (MIT)
gaokao-physics-after.jsonl a8cbc26d9edce4a280c5ffd9d026c5a6ca1eb6a9d801f04283861e69b3318fd5
  github:ruixiangcui/AGIEval@19b2c5daed87e3463fe6a29f0c342bfc31e98234:data/v1/gaokao-physics.jsonl
  (MIT)
sat-en-before.jsonl 46380c9473cd39f689aa103f22b369fa2357f7074d02839bb351ec7eed139b3e
  github:ruixiangcui/AGIEval@19b2c5daed87e3463fe6a29f0c342bfc31e98234:data/v1/sat-en.jsonl (MIT)
sat-en-after.jsonl 33fe87b32ff16ae7ba52b27bb398190b082253b3617a3eb9737005262ba12dd4
  github:ruixiangcui/AGIEval@442e251e634599873644833b729c0ea83d77ce57:data/v1/sat-en.jsonl (MIT)
class-eval-before.json 68940ede05257f75809d118cc40ac0b3345a660929db338b41afc5ebaac6ee33
  github:FudanSELab/ClassEval@8ac9909c134b3cd760774cb7bb8d34202f47786a:data/ClassEval_data.json
  (MIT code, CC-BY-NC-4.0 data)
class-eval-after.json 50a1ac0e4d0c238573c10c0ab11feae00b14a80ae9e4c9cc28148707ecf0b6a2
  github:FudanSELab/ClassEval@e22643b9f1c9df889886e38b47d54d845d9b4658:data/ClassEval_data.json
  (MIT code, CC-BY-NC-4.0 data)
cybermetric-80-before.json b6c9b2727710cbae6491e8aef16447cd24b876ed349c7b035fd80d7f55a47f31
  github:cybermetric/CyberMetric@50cc0971e3df30a101b41ea78c5c070ccf3d18b1:CyberMetric-80-v1.json
  (none stated)
cybermetric-80-after.json 1624aeecc54761198bff4828442ce4a10de6cb87c9da3298088b34ae11e15ba0
  github:cybermetric/CyberMetric@01ee9394c6dee073a2c782f9d56def1af75e4bdd:CyberMetric-80-v1.json
  (none stated)
bbq-physical-appearance-before.jsonl 2bed773490a31adb0cce6758dbae70db70c21204860f86cabb1d51768b62df68
  github:nyu-mll/BBQ@1bf8c62880fb4dc1b84e8b56d5ad0291ba324753:data/Physical_appearance.jsonl
  (CC-BY-4.0)
bbq-physical-appearance-after.jsonl e48d7e13508565f4801574e611043470c25c95a0a62af3699cb5ee7cb02608fb
  github:nyu-mll/BBQ@9eba1ba179cc3169f75a1c03a8b392a58d188303:data/Physical_appearance.jsonl
  (CC-BY-4.0)
mmlu-pro-2024-07.json a7c5b0d83b888b4bd522733b182f63cbf4c38157e12dfc4cb466e46d32447f6d
  github:TIGER-AI-Lab/MMLU-Pro@964a136e98ff17f81b0cd11c15c70784f6ee4378:eval_results/
  model_outputs_Llama-2-7b-hf_5shots.zip/model_outputs_Llama-2-7b-hf_5shots.json (Apache-2.0)
mmlu-pro-2024-10.json 3d8a85a3d1a24830655b8615390a323b3249372ec20ec426b839cacce6bef219
  github:TIGER-AI-Lab/MMLU-Pro@964a136e98ff17f81b0cd11c15c70784f6ee4378:eval_results/
  model_outputs_jamba-1.5-large_5shots.zip/model_outputs_jamba-1.5-large_5shots.json (Apache-2.0)
gpqa_extended.csv 21a112403d94cdb0623b9dbe1d02b558c00f1ba395482e5c0467898463e3d530
  github:kennethleungty/
  DeepSeek-R1-Ollama-Simple-Evals@0e56b4cc394f03faffb838b3372395c2c7c4d638:data/gpqa/
  gpqa_extended.csv (CC-BY-4.0)
mmlu_global_facts.csv 8ffa62d058bf4a81916c348df67d3745047eea2fac032a67dae727c3442255a2
  github:aryopg/mmlu-redux@4563cfa79b659d76716e5b6019f46bba85fa02db:mmlu_redux/mmlu_global_facts.csv
  (CC-BY-4.0)
mmlu_virology.csv eca12346cf4ccabab2264878db690da5e471f5c773a146582c05356ba535d26b
  github:aryopg/mmlu-redux@4563cfa79b659d76716e5b6019f46bba85fa02db:mmlu_redux/mmlu_virology.csv
  (CC-BY-4.0)
gpqa_diamond.csv 41d1213cd7a4998605a26c2798500652572007161b3a92817ba46b35befcd305
  github:openai/simple-evals@be11f462e3834c4571e4683b171101db8300944e:gpqa_diamond.csv
"""
"""Each file with its digest, and below them where it is, and its license."""
DIGESTS = dict(re.findall(r"(?m)^(\S+) (\w{64})$", ORIGINS))


def published(name: str) -> Path:
    """Return a published file; skip the test where it is not on this machine."""
    path = FILES / name
    if not path.is_file():
        pytest.skip(f"{name} is not in REGISTRY_EVIDENCE_CORRECTED: ORIGINS says where it is")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == DIGESTS[name]
    return path


def write_catalog(folder: Path, source: str, fields: str, more: str = "") -> Path:
    (folder / "datasets.yaml").write_text(
        f"version: 1\npaths: ['{FILES}']\ndatasets:\n  q:\n    description: Questions.\n"
        f"    license: mit\n    source: {source}\n    fields: {fields}\n{more}",
        encoding="utf-8",
    )
    return folder


# Names of files before and after their authors' corrections: the built-in dataset that maps them,
# and how many samples are corrected.
CORRECTED = {
    "sat-math": ("agieval-sat-math", 2),
    "gaokao-physics": ("agieval-sat-math", 12),
    "sat-en": ("agieval-sat-en", 3),
    "class-eval": ("class-eval", 4),
    "cybermetric-80": ("cybermetric-80", 13),
    "bbq-physical-appearance": ("bbq-physical-appearance", 36),
    "mmlu-pro": ("mmlu-pro", 48),
}


@pytest.mark.parametrize("name", CORRECTED)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_corrections_inferred_from_a_corrected_version_give_it(
    tmp_path: Path, run: Run, name: str
) -> None:
    base, changed = CORRECTED[name]
    old, new = (published(file) for file in DIGESTS if file.startswith(name))

    def write(corrections: str | None = None) -> None:
        # Ids that hash the question would not name a question that is corrected.
        fields = {"id": None} if "hash" in str(Catalog.open(ROOT)[base].fields.id) else {}
        source = {"type": "json", "path": str(old)}
        if old.name.startswith("cybermetric"):
            source["records"] = "questions"
        own = {"extends": base, "source": source, "fields": fields, "expect": None}
        manifest = {"datasets": {"q": own | {"corrections": corrections}}}
        (tmp_path / "m.yaml").write_text(yaml.safe_dump(manifest), encoding="utf-8")

    index = f"version: 1\ninclude: [m.yaml, package:registry]\npaths: ['{FILES}']\n"
    (tmp_path / "datasets.yaml").write_text(index, encoding="utf-8")
    write()
    out = tmp_path / "e.yaml"
    how = ("--reason", "r", "--root", str(tmp_path))
    result = run("correct", "q", str(new), "--out", str(out), *how)
    assert result.code == 0, result.err
    assert f"{changed} samples changed, 0 left out" in result.out
    copy = get_dataset("q", root=tmp_path, source=str(new))
    write("e.yaml")
    corrected = get_dataset("q", root=tmp_path)
    # The results files of MMLU-Pro have its questions in two orders.
    order = "unordered" if name == "mmlu-pro" else "ordered"
    original = get_dataset("q", root=tmp_path, corrections=False)
    was, now, wanted = (getattr(digest_samples(one), order) for one in (original, corrected, copy))
    assert now == wanted != was


def redux_rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def verdict_of(row: dict[str, Any]) -> str:
    return str(row["error_type"]).strip().lower().replace(" ", "_")


def corrected_answer(row: dict[str, Any]) -> str | None:
    """Return the answer of MMLU-Redux by its own rule; None for a question that it takes out."""
    if verdict_of(row) == "ok":
        return "ABCD"[int(row["answer"])]
    known = row["correct_answer"].strip()
    is_known = verdict_of(row) == "wrong_groundtruth" and known in {*"0123", *"ABCD"}
    return ("ABCD"[int(known)] if known.isdigit() else known) if is_known else None


def corrections_of(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return MMLU-Redux as a corrections file: rows name the record, as MMLU has no ids."""
    found: list[dict[str, Any]] = []
    for number, row in enumerate(rows, 1):
        was, now = "ABCD"[int(row["answer"])], corrected_answer(row)
        evidence = {
            "verdict": verdict_of(row),
            "reason": row["potential_reason"] or "see the source",
        }
        if now is None:
            found.append({"record": number, "drop": True, **evidence})
        elif now != was:
            found.append({"record": number, "field": "target", "was": was, "now": now, **evidence})
    source = "https://arxiv.org/abs/2406.04127"
    return {"license": "cc-by-4.0", "defaults": {"source": source}, "corrections": found}


@pytest.mark.parametrize("name", ["mmlu_global_facts.csv", "mmlu_virology.csv"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_mmlu_redux_as_corrections_of_mmlu(tmp_path: Path, run: Run, name: str) -> None:
    path = published(name)
    rows = redux_rows(path)
    file = corrections_of(rows)
    (tmp_path / "e.yaml").write_text(yaml.safe_dump(file, allow_unicode=True), encoding="utf-8")
    # The columns of MMLU alone: neither the verdict nor the correct answer.
    fields = "{input: question, choices: null, target: {from: answer, do: [int, letter]}}"
    source = f"{{type: csv, path: '{path}'}}"
    root = write_catalog(tmp_path, source, fields, "    corrections: e.yaml\n")
    wanted = [(row["question"], answer) for row in rows if (answer := corrected_answer(row))]
    assert [(one.input, one.target) for one in get_dataset("q", root=root)] == wanted
    assert len(wanted) < len(rows) == len(get_dataset("q", root=root, corrections=False))
    result = run("compare", "q", "--corrections", "--root", str(root))
    assert f"{len(rows)} → {len(wanted)}" in result.out


# Dataset of the catalog → its original, the numbers of samples that the audit published, the real
# file, and the column with its ids.
AUDITED = {
    "gpqa-diamond-clean": ("gpqa-diamond", 198, 189, "gpqa_diamond.csv", "Record ID"),
    "gpqa-extended-clean": ("gpqa-extended", 546, 498, "gpqa_extended.csv", "Record ID"),
    "mmlu-pro-clean": ("mmlu-pro", 12_032, 10_689, "mmlu-pro-2024-10.json", "question_id"),
}


@pytest.mark.parametrize("name", AUDITED)
def test_exclusions_of_the_answer_key_audit(name: str) -> None:
    original, before, after, *_ = AUDITED[name]
    catalog = Catalog.open(ROOT)
    spec, whole = catalog[name], catalog[original]
    assert spec.corrections is not None
    excluded = yaml.safe_load(Path(spec.corrections.path[0]).read_text(encoding="utf-8"))
    ids = [row["id"] for row in excluded["corrections"]]
    assert (whole.expect.samples, spec.expect.samples) == (before, after)
    assert before - len(set(ids)) == after == before - len(ids)
    assert all(row == {"id": row["id"], "drop": True} for row in excluded["corrections"])


def ids_of(path: Path, column: str) -> list[Any]:
    if path.suffix == ".json":
        return [row[column] for row in json.loads(path.read_text(encoding="utf-8"))]
    with path.open(encoding="utf-8", newline="") as opened:
        return [row[column] for row in csv.DictReader(opened)]


@pytest.mark.parametrize("name", AUDITED)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_audited_set_is_the_real_file_without_the_excluded_ids(name: str) -> None:
    _, before, after, file, column = AUDITED[name]
    path = published(file)
    ids = ids_of(path, column)
    errata = yaml.safe_load((ROOT / f"registry/errata/{name}.yaml").read_bytes())
    excluded = {row["id"] for row in errata["corrections"]}
    assert excluded <= set(ids)
    kept = [one for one in ids if one not in excluded]
    assert (len(ids), len(kept)) == (before, after)
    # A build with an id that is not there is an error.
    found = get_dataset(name, root=ROOT, source=str(path))
    assert [sample.id for sample in found] == kept
    everything = get_dataset(name, root=ROOT, source=str(path), corrections=False)
    assert [sample.id for sample in everything] == ids
