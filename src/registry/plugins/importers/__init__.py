"""Importers: files of other tools that define datasets, as manifests."""

from __future__ import annotations

__all__ = ["KINDS"]

KINDS = {
    "eval.yaml": "eval_yaml",
    "lm-eval": "lm_eval",
    "croissant": "croissant",
    "hub-readme": "hub_card",
    "kedro": "kedro",
    "intake": "intake",
    "inspect": "inspect_task",
}
"""Kind of file → the module that reads it, with a function `read(file, options) -> Imported`."""
