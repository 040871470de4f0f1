"""Conversations in the forms that files have, and the messages that each gives.

The texts are our own; the forms, and what is odd in them, are those of these files, read in November 2026:

- OpenAI's fine-tuning examples, github.com/openai/openai-cookbook, examples/data/drone_training.jsonl:
  an assistant without the key `content`, and arguments that are JSON in a JSON string.
- tau-bench, github.com/sierra-research/tau-bench at 59a200c6, historical_trajectories/gpt-4o-airline.json
  (sha256 e9e6c029…7bfa): `content: null` beside calls, text beside calls, results with a `name`.
- ShareGPT as LLaMA-Factory has it, github.com/hiyouga/LLaMA-Factory at ff6d4d12,
  data/glaive_toolcall_en_demo.json (sha256 8b84773e…7436): `function_call` and `observation`.
- The same after its conversion, data/reason_tool_use_demo_50.jsonl (sha256 6e1f0d3c…7e4e): parts
  with the keys `type` and `value`, and a part `tool_call`.
- Glaive's calls by way of Locutusque/function-calling-chatml: a Python literal in place of JSON.
- Anthropic's, github.com/anthropics/anthropic-cookbook, finetuning/datasets/json_mode_dataset.jsonl, and the
  parts of its Messages API.
"""

from __future__ import annotations

from typing import Any

__all__ = ["ANTHROPIC", "OPENAI", "OTHERS"]

Form = tuple[list[dict[str, Any]], list[dict[str, Any]]]

_PIXEL = "iVBORw0KGgo="
_URI = f"data:image/png;base64,{_PIXEL}"


def _openai_call(arguments: str, identifier: str = "call_a") -> dict[str, Any]:
    function = {"name": "weather", "arguments": arguments}
    return {"id": identifier, "type": "function", "function": function}


def _call(city: str = "Oslo", identifier: str = "call_a") -> dict[str, Any]:
    return {"id": identifier, "function": "weather", "arguments": {"city": city}}


def _result(text: Any, identifier: str = "call_a") -> dict[str, Any]:
    return {"role": "tool", "content": text, "tool_call_id": identifier, "function": "weather"}


_ASKED = {"role": "user", "content": "Is it cold in Oslo?"}
_ASSISTANT = {"role": "assistant", "content": ""}
_OSLO = _openai_call('{"city": "Oslo"}')

OPENAI: dict[str, Form] = {
    "text of each role": (
        [{"role": "developer", "content": "Be brief."}, _ASKED, {"role": "assistant", "content": "Yes."}],
        [{"role": "system", "content": "Be brief."}, _ASKED, {"role": "assistant", "content": "Yes."}],
    ),
    "null beside a call": (
        [_ASKED, {"role": "assistant", "content": None, "tool_calls": [_OSLO]}, {"role": "tool", "tool_call_id": "call_a", "content": "-3"}],
        [_ASKED, {**_ASSISTANT, "tool_calls": [_call()]}, _result("-3")],
    ),
    "no content beside a call": ([{"role": "assistant", "tool_calls": [_OSLO]}], [{**_ASSISTANT, "tool_calls": [_call()]}]),
    "text beside calls": (
        [{"role": "assistant", "content": "Both.", "tool_calls": [_OSLO, _openai_call('{"city": "Rome"}', "call_b")]}, {"role": "tool", "tool_call_id": "call_b", "content": "20"}],
        [{"role": "assistant", "content": "Both.", "tool_calls": [_call(), _call("Rome", "call_b")]}, _result("20", "call_b")],
    ),
    "a call without arguments": (
        [{"role": "assistant", "content": None, "tool_calls": [_openai_call("")]}],
        [{**_ASSISTANT, "tool_calls": [{**_call(), "arguments": {}}]}],
    ),
    "parts": (
        [{"role": "user", "content": [{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {"url": _URI, "detail": "low"}}, {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}}]}],
        [{"role": "user", "content": [{"type": "text", "text": "Look:"}, {"type": "image", "image": _URI, "detail": "low"}, {"type": "audio", "audio": "data:audio/wav;base64,AA==", "format": "wav"}]}],
    ),
    "a refusal": (
        [{"role": "assistant", "content": [{"type": "refusal", "refusal": "Never."}]}],
        [{"role": "assistant", "content": [{"type": "text", "text": "Never.", "refusal": True}]}],
    ),
    "reasoning": (
        [{"role": "assistant", "content": "Yes.", "reasoning_content": "North."}],
        [{"role": "assistant", "content": [{"type": "reasoning", "reasoning": "North.", "internal": "reasoning_content"}, {"type": "text", "text": "Yes."}]}],
    ),
}  # fmt: skip
"""What OpenAI's client takes, so that Inspect's own reader of it can be asked."""

_TOOL_USE = {"type": "tool_use", "id": "call_a", "name": "weather", "input": {"city": "Oslo"}}

ANTHROPIC: dict[str, Form] = {
    "text": ([_ASKED, {"role": "assistant", "content": "Yes."}], [_ASKED, {"role": "assistant", "content": "Yes."}]),
    "a call and its result": (
        [{"role": "assistant", "content": [{"type": "text", "text": "I look."}, _TOOL_USE]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_a", "content": "-3"}, {"type": "text", "text": "And now?"}]}],
        [{"role": "assistant", "content": [{"type": "text", "text": "I look."}], "tool_calls": [_call()]}, _result("-3"), {"role": "user", "content": [{"type": "text", "text": "And now?"}]}],
    ),
    "a call alone, and a failure": (
        [{"role": "assistant", "content": [_TOOL_USE]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_a", "content": [{"type": "text", "text": "no network"}], "is_error": True}]}],
        [{**_ASSISTANT, "tool_calls": [_call()]}, {**_result([{"type": "text", "text": "no network"}]), "error": {"type": "unknown", "message": "no network"}}],
    ),
    "a result without content": ([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_z"}]}], [{"role": "tool", "content": "", "tool_call_id": "call_z"}]),
    "media": (
        [{"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _PIXEL}}, {"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}}, {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Hi"}}, {"type": "text", "text": "?", "cache_control": {"type": "ephemeral"}}]}],
        [{"role": "user", "content": [{"type": "image", "image": _URI}, {"type": "image", "image": "https://a.example/b.png"}, {"type": "document", "document": "data:text/plain;base64,SGk="}, {"type": "text", "text": "?"}]}],
    ),
    "thinking": (
        [{"role": "assistant", "content": [{"type": "thinking", "thinking": "North.", "signature": "s1g"}, {"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "Yes."}]}],
        [{"role": "assistant", "content": [{"type": "reasoning", "summary": "North.", "reasoning": "s1g", "redacted": True}, {"type": "reasoning", "reasoning": "x", "redacted": True}, {"type": "text", "text": "Yes."}]}],
    ),
    "citations": (
        [{"role": "assistant", "content": [{"type": "text", "text": "Cold.", "citations": [{"type": "page_location", "cited_text": "-3", "document_index": 0, "document_title": "Log", "start_page_number": 1, "end_page_number": 2}, {"type": "web_search_result_location", "cited_text": "-3", "title": "T", "url": "https://a.example", "encrypted_index": "e"}]}]}],
        [{"role": "assistant", "content": [{"type": "text", "text": "Cold.", "citations": [
            {"type": "document", "cited_text": "-3", "title": "Log", "range": {"type": "page", "start_index": 0, "end_index": 1}, "internal": {"document_index": 0}},
            {"type": "url", "cited_text": "-3", "title": "T", "url": "https://a.example", "internal": {"encrypted_index": "e"}},
        ]}]}],
    ),
}  # fmt: skip
"""What Anthropic's client takes."""

_SHARED = '{"name": "weather", "arguments": {"city": "Oslo"}}'
_FIRST = {**_call(), "id": "call_1"}

OTHERS: dict[str, Form] = {
    "ShareGPT": (
        [{"from": "system", "value": "Be brief."}, {"from": "human", "value": "Cold?"}, {"from": "function_call", "value": _SHARED}, {"from": "observation", "value": "-3"}, {"from": "gpt", "value": "Yes."}],
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Cold?"}, {**_ASSISTANT, "tool_calls": [_FIRST]}, _result("-3", "call_1"), {"role": "assistant", "content": "Yes."}],
    ),
    "Glaive: a Python literal": (
        [{"from": "function-call", "value": """{"name": "weather", "arguments": '{"city": "Oslo"}'}"""}, {"from": "function-response", "value": "-3"}],
        [{**_ASSISTANT, "tool_calls": [_FIRST]}, _result("-3", "call_1")],
    ),
    "several calls at once, and results by name": (
        [{"from": "function_call", "value": f'[{_SHARED}, {{"name": "time", "arguments": {{}}}}]'}, {"role": "tool", "name": "time", "content": "7"}, {"from": "tool", "value": "-3"}],
        [{**_ASSISTANT, "tool_calls": [_FIRST, {"id": "call_2", "function": "time", "arguments": {}}]}, {"role": "tool", "content": "7", "tool_call_id": "call_2", "function": "time"}, _result("-3", "call_1")],
    ),
    "LLaMA-Factory: type and value": (
        [{"role": "assistant", "content": [{"type": "reasoning", "value": "North."}, {"type": "tool_call", "value": _SHARED}], "loss_weight": 1.0}],
        [{"loss_weight": 1.0, "role": "assistant", "content": [{"type": "reasoning", "value": "North.", "reasoning": "North."}], "tool_calls": [_FIRST]}],
    ),
    # Inspect's reader keeps this text, but not that it is a refusal.
    "OpenAI: a refusal in place of content": (
        [{"role": "assistant", "content": None, "refusal": "No."}],
        [{"role": "assistant", "refusal": "No.", "content": [{"type": "text", "text": "No.", "refusal": True}]}],
    ),
    "OpenAI: JSON in a JSON string": ([{"role": "assistant", "tool_calls": [_openai_call('"{\\"city\\": \\"Oslo\\"}"')]}], [{**_ASSISTANT, "tool_calls": [_call()]}]),
    "OpenAI before tools": (
        [{"role": "assistant", "content": None, "function_call": {"name": "weather", "arguments": '{"city": "Oslo"}'}}, {"role": "function", "name": "weather", "content": "-3"}],
        [{**_ASSISTANT, "tool_calls": [_FIRST]}, _result("-3", "call_1")],
    ),
    "OpenAI: a custom tool, a file and a text of its Responses": (
        [{"role": "assistant", "tool_calls": [{"id": "call_a", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}]}, {"role": "user", "content": [{"type": "file", "file": {"file_data": "data:application/pdf;base64,AA==", "filename": "a.pdf"}}, {"type": "input_text", "text": "?"}, {"type": "input_image", "image_url": _URI}]}],
        [{**_ASSISTANT, "tool_calls": [{"id": "call_a", "function": "sql", "arguments": {"input": "select 1"}, "type": "custom"}]}, {"role": "user", "content": [{"type": "document", "document": "data:application/pdf;base64,AA==", "filename": "a.pdf"}, {"type": "text", "text": "?"}, {"type": "image", "image": _URI}]}],
    ),
    "Parquet: all keys, most of them null": (
        [{"role": "user", "content": [{"type": "text", "text": "?", "image_url": None}], "tool_calls": None, "tool_call_id": None}],
        [{"tool_calls": None, "tool_call_id": None, "role": "user", "content": [{"type": "text", "text": "?"}]}],
    ),
    "Anthropic: a text before a failure, and a thought that nobody signed": (
        [{"role": "user", "content": ["See:", {"type": "tool_result", "tool_use_id": "call_z", "content": "7", "is_error": True}]}, {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}]}],
        [{"role": "user", "content": [{"type": "text", "text": "See:"}]}, {"role": "tool", "content": "7", "tool_call_id": "call_z", "error": {"type": "unknown", "message": "7"}}, {"role": "assistant", "content": [{"type": "reasoning", "reasoning": "Hm."}]}],
    ),
    "JSON in a column": ([{"role": "assistant", "content": None, "tool_calls": f"[{_SHARED}]"}], [{**_ASSISTANT, "tool_calls": [_FIRST]}]),
    "Inspect's own": (
        [{"role": "assistant", "content": [{"type": "tool_use", "tool_type": "web_search", "id": "s", "name": "search", "arguments": "{}", "result": "r"}], "tool_calls": [{**_call(), "type": "function", "parse_error": "odd"}], "source": "generate"}, {**_result("-3"), "error": {"type": "timeout", "message": "late"}}, {"role": "user", "content": [{"type": "image", "image": "a.png"}]}],
        [{"source": "generate", "role": "assistant", "content": [{"type": "tool_use", "tool_type": "web_search", "id": "s", "name": "search", "arguments": "{}", "result": "r"}], "tool_calls": [{**_call(), "parse_error": "odd"}]}, {**_result("-3"), "error": {"type": "timeout", "message": "late"}}, {"role": "user", "content": [{"type": "image", "image": "a.png"}]}],
    ),
}  # fmt: skip
"""What neither client takes."""
